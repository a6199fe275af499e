"""A plain recurrent network whose gradients explode now and then, and its recording: `gradlab.models.char_rnn`."""

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


def __dir__() -> list[str]:
    return __all__
