"""Record the gradients of a PyTorch loop.

Needs PyTorch (extra `torch`). It is imported when one of these functions is called, not before.
"""

from typing import TYPE_CHECKING

from ...._base.suggest import only_public as _only_public
from ..trainers import lightning_callback as lightning_callback
from ..trainers import trainer_callback as trainer_callback
from .recording import Recording as Recording
from .recording import record as record

__all__ = ["Recording", "lightning_callback", "record", "trainer_callback"]

if not TYPE_CHECKING:
    __getattr__, __dir__ = _only_public(__name__)
