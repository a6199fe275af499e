"""A plain recurrent network whose gradients explode now and then, and its recording: `gradlab.models.char_rnn`."""

from typing import TYPE_CHECKING

from ._base.suggest import only_public as _only_public
from .models.char_rnn import (
    BATCH,
    HIDDEN,
    LIMITS,
    UNROLLED,
    Weights,
    initial_weights,
    loss,
    record,
    shipped,
)

__all__ = ["BATCH", "HIDDEN", "LIMITS", "UNROLLED", "Weights", "initial_weights", "loss", "record", "shipped"]

if not TYPE_CHECKING:
    __getattr__, __dir__ = _only_public(__name__)
