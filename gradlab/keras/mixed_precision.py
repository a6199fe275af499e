"""`gl.keras.mixed_precision`: TensorFlow's path to `gl.keras.LossScaleOptimizer`.

>>> import gradlab as gl
>>> gl.keras.mixed_precision.LossScaleOptimizer is gl.keras.LossScaleOptimizer
True
"""

from typing import TYPE_CHECKING

from .._base.suggest import only_public as _only_public
from .loss_scale_optimizer import LossScaleOptimizer as LossScaleOptimizer

__all__ = ["LossScaleOptimizer"]

if not TYPE_CHECKING:
    __getattr__, __dir__ = _only_public(__name__)
