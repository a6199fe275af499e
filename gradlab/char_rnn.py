"""A plain recurrent network whose gradients explode now and then, and its recordings: `gradlab.models.char_rnn`."""

from typing import TYPE_CHECKING

from ._base.suggest import only_public as _only_public
from .models.char_rnn import (
    AT_END,
    BATCH,
    FRESH_SEEDS,
    HIDDEN,
    LIMITS,
    MOMENTUM,
    ONE_RATE,
    SWEPT,
    TUNED,
    TUNING_SEEDS,
    TYPICAL_SEED,
    UNROLLED,
    Weights,
    best_rate,
    final_losses,
    initial_weights,
    loss,
    lost_runs,
    record,
    seed_losses,
    shipped,
    sweep_losses,
    tuned,
)

__all__ = [
    "AT_END",
    "BATCH",
    "FRESH_SEEDS",
    "HIDDEN",
    "LIMITS",
    "MOMENTUM",
    "ONE_RATE",
    "SWEPT",
    "TUNED",
    "TUNING_SEEDS",
    "TYPICAL_SEED",
    "UNROLLED",
    "Weights",
    "best_rate",
    "final_losses",
    "initial_weights",
    "loss",
    "lost_runs",
    "record",
    "seed_losses",
    "shipped",
    "sweep_losses",
    "tuned",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = _only_public(__name__)
