"""A reader of Python's documentation with two hidden layers, and its recording: `gradlab.models.reader_run`."""

from typing import TYPE_CHECKING

from ._base.suggest import only_public as _only_public
from .models.reader_run import (
    BATCH,
    ENTRIES,
    HIDDEN,
    LAYERS,
    LEARNING_RATE,
    OTHER_SEEDS,
    PROBE_EVERY,
    RULE,
    STEPS,
    WIDTH,
    Weights,
    agreements,
    batch,
    initial_weights,
    loss_and_gradient,
    ordered,
    record,
    shipped,
)

__all__ = [
    "BATCH",
    "ENTRIES",
    "HIDDEN",
    "LAYERS",
    "LEARNING_RATE",
    "OTHER_SEEDS",
    "PROBE_EVERY",
    "RULE",
    "STEPS",
    "WIDTH",
    "Weights",
    "agreements",
    "batch",
    "initial_weights",
    "loss_and_gradient",
    "ordered",
    "record",
    "shipped",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = _only_public(__name__)
