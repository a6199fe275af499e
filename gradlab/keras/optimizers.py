"""`gl.keras.optimizers`: TensorFlow's path to what `gl.keras` has under a shorter one.

>>> import gradlab as gl
>>> gl.keras.optimizers.Adagrad is gl.keras.Adagrad
True
>>> gl.keras.optimizers.schedules.ExponentialDecay is gl.schedules.ExponentialDecay
True
"""

from typing import TYPE_CHECKING

from .. import schedules as schedules
from .._base.suggest import only_public as _only_public
from . import SGD as SGD
from . import Adadelta as Adadelta
from . import Adafactor as Adafactor
from . import Adagrad as Adagrad
from . import Adam as Adam
from . import Adamax as Adamax
from . import AdamW as AdamW
from . import Ftrl as Ftrl
from . import Lamb as Lamb
from . import Lion as Lion
from . import LossScaleOptimizer as LossScaleOptimizer
from . import MultiOptimizer as MultiOptimizer
from . import Muon as Muon
from . import Nadam as Nadam
from . import Optimizer as Optimizer
from . import OptimizerMap as OptimizerMap
from . import RMSprop as RMSprop
from . import ScheduleFreeAdamW as ScheduleFreeAdamW
from . import deserialize as deserialize
from . import get as get
from . import serialize as serialize

__all__ = [
    "SGD",
    "Adadelta",
    "Adafactor",
    "Adagrad",
    "Adam",
    "AdamW",
    "Adamax",
    "Ftrl",
    "Lamb",
    "Lion",
    "LossScaleOptimizer",
    "MultiOptimizer",
    "Muon",
    "Nadam",
    "Optimizer",
    "OptimizerMap",
    "RMSprop",
    "ScheduleFreeAdamW",
    "deserialize",
    "get",
    "schedules",
    "serialize",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = _only_public(__name__)
