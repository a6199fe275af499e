"""Record what the gradients of a training run looked like, and ask what a clip would have done to them."""

from typing import TYPE_CHECKING

from .._base.suggest import only_public as _only_public
from .agreement import Agreement as Agreement
from .held_back import HeldBack as HeldBack
from .noise import NoiseScale as NoiseScale
from .recorder import Recorder as Recorder
from .stream.json_lines import read_json_lines as read_json_lines
from .summary import Summary as Summary
from .updates import Updates as Updates
from .what_if import WhatIf as WhatIf

__all__ = [
    "Agreement", "HeldBack", "NoiseScale", "Recorder", "Summary", "Updates", "WhatIf", "read_json_lines",
]  # fmt: skip

if not TYPE_CHECKING:
    __getattr__, __dir__ = _only_public(__name__)
