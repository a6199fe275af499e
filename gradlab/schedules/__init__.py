"""Learning-rate schedules: functions of the step count with a config, TensorFlow's names and numbers.

A schedule takes a number, a NumPy array or a JAX array, traced or not, of any shape, and is an optax schedule as it is.
"""

from ._schedule import LearningRateSchedule as LearningRateSchedule
from .cosine import CosineDecay as CosineDecay
from .cosine import CosineDecayRestarts as CosineDecayRestarts
from .decay import ExponentialDecay as ExponentialDecay
from .decay import InverseTimeDecay as InverseTimeDecay
from .decay import PiecewiseConstantDecay as PiecewiseConstantDecay
from .decay import PolynomialDecay as PolynomialDecay
from .serialization import deserialize as deserialize
from .serialization import serialize as serialize
