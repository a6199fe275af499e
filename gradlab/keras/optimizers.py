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
from . import Adagrad as Adagrad
from . import Optimizer as Optimizer
from . import deserialize as deserialize
from . import serialize as serialize

__all__ = ["SGD", "Adagrad", "Optimizer", "deserialize", "schedules", "serialize"]

if not TYPE_CHECKING:
    __getattr__, __dir__ = _only_public(__name__)
