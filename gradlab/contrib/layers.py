"""`gl.contrib.layers`: the training step of `tf.contrib.layers`, TensorFlow 1.15, and its clips.

>>> import gradlab as gl
>>> sorted(gl.contrib.layers.OPTIMIZER_CLS_NAMES)
['Adagrad', 'Adam', 'Ftrl', 'Momentum', 'RMSProp', 'SGD']
"""

from typing import TYPE_CHECKING

from .._base.suggest import only_public as _only_public
from ..train.contrib.optimize_loss import (
    OPTIMIZER_CLS_NAMES,
    OPTIMIZER_SUMMARIES,
    adaptive_clipping_fn,
    optimize_loss,
)

__all__ = [
    "OPTIMIZER_CLS_NAMES",
    "OPTIMIZER_SUMMARIES",
    "adaptive_clipping_fn",
    "optimize_loss",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = _only_public(__name__)
