"""Learning-rate schedules: functions of the step with a config, as in TensorFlow.

A schedule takes a number, a NumPy array or a JAX array, traced or not, of any shape, so optax takes
it as a schedule, too.
"""

from typing import TYPE_CHECKING

from .._base.suggest import only_public as _only_public
from ._schedule import LearningRateSchedule
from .cosine import CosineDecay, CosineDecayRestarts, LinearCosineDecay, PeriodicCosineDecay
from .decay import ExponentialDecay, InverseTimeDecay, PiecewiseConstantDecay, PolynomialDecay
from .noisy import NoisyLinearCosineDecay
from .serialization import deserialize, serialize

__all__ = [
    "CosineDecay",
    "CosineDecayRestarts",
    "ExponentialDecay",
    "InverseTimeDecay",
    "LearningRateSchedule",
    "LinearCosineDecay",
    "NoisyLinearCosineDecay",
    "PeriodicCosineDecay",
    "PiecewiseConstantDecay",
    "PolynomialDecay",
    "deserialize",
    "serialize",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = _only_public(__name__)
