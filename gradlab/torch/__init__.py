"""Record the gradients of a PyTorch loop.

Needs PyTorch (extra `torch`). It is imported when one of these functions is called, not before.
"""

import typing

from .._base.suggest import suggesting as _suggesting
from .recording import Recording as Recording
from .recording import record as record

__all__ = ["Recording", "record"]


def __dir__() -> list[str]:
    return __all__


if not typing.TYPE_CHECKING:  # type checkers find unknown names themselves
    __getattr__ = _suggesting(__name__)
