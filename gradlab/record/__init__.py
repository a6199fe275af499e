"""Record what the gradients of a training run looked like, and ask what a clip would have done to them."""

from typing import TYPE_CHECKING

from .._base.suggest import only_public as _only_public
from .analysis.agreement import Agreement as Agreement
from .analysis.held_back import HeldBack as HeldBack
from .analysis.noise import NoiseScale as NoiseScale
from .analysis.summary import Summary as Summary
from .analysis.what_if import WhatIf as WhatIf
from .recorder import Recorder as Recorder
from .streams.json_lines import read_json_lines as read_json_lines
from .updates import Updates as Updates

__all__ = [
    "Agreement", "HeldBack", "NoiseScale", "Recorder", "Summary", "Updates", "WhatIf", "read_json_lines",
]  # fmt: skip

if not TYPE_CHECKING:
    __getattr__, __dir__ = _only_public(__name__)
