"""A reader of Python's documentation with two hidden layers, and its recording: `gradlab.models.reader_run`."""

from .models.reader_run import (
    BATCH,
    ENTRIES,
    HIDDEN,
    LAYERS,
    LEARNING_RATE,
    RULE,
    STEPS,
    WIDTH,
    Weights,
    batch,
    initial_weights,
    loss_and_gradient,
    record,
    shipped,
)

__all__ = [
    "BATCH",
    "ENTRIES",
    "HIDDEN",
    "LAYERS",
    "LEARNING_RATE",
    "RULE",
    "STEPS",
    "WIDTH",
    "Weights",
    "batch",
    "initial_weights",
    "loss_and_gradient",
    "record",
    "shipped",
]


def __dir__() -> list[str]:
    return __all__
