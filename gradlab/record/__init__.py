"""Record what the gradients of a training run looked like, and ask what a clip would have done to them."""

from typing import TYPE_CHECKING

from .._base.suggest import only_public as _only_public
from .coherence import Coherence as Coherence
from .frozen import Frozen as Frozen
from .recorder import Recorder as Recorder
from .stream.json_lines import read_json_lines as read_json_lines
from .summary import Summary as Summary
from .what_if import WhatIf as WhatIf

__all__ = ["Coherence", "Frozen", "Recorder", "Summary", "WhatIf", "read_json_lines"]

if not TYPE_CHECKING:
    __getattr__, __dir__ = _only_public(__name__)
