"""`gl.train.experimental`: TensorFlow's path to the loss scales, which `gl.train` has under a shorter one.

>>> import gradlab as gl
>>> gl.train.experimental.DynamicLossScale is gl.train.DynamicLossScale
True
"""

from typing import TYPE_CHECKING

from .._base.suggest import only_public as _only_public
from . import DynamicLossScale as DynamicLossScale
from . import FixedLossScale as FixedLossScale
from . import LossScale as LossScale
from . import MixedPrecisionLossScaleOptimizer as MixedPrecisionLossScaleOptimizer

__all__ = [
    "DynamicLossScale",
    "FixedLossScale",
    "LossScale",
    "MixedPrecisionLossScaleOptimizer",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = _only_public(__name__)
