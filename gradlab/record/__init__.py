"""Record what the gradients of a training run looked like, and ask what a clip would have done to them."""

import typing

from .._base.suggest import suggesting as _suggesting
from .coherence import Coherence as Coherence
from .frozen import Frozen as Frozen
from .recorder import Recorder as Recorder
from .summary import Summary as Summary
from .what_if import WhatIf as WhatIf

__all__ = ["Coherence", "Frozen", "Recorder", "Summary", "WhatIf"]


def __dir__() -> list[str]:
    return __all__


if not typing.TYPE_CHECKING:  # type checkers find unknown names themselves
    __getattr__ = _suggesting(__name__)
