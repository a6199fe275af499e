"""What TensorFlow 1 had under `tf.contrib`, by the same paths.

>>> import gradlab as gl
>>> gl.contrib.opt.NadamOptimizer.__mro__[1] is gl.train.RuleOptimizer
True
"""

from typing import TYPE_CHECKING

from .._base.suggest import only_public as _only_public
from . import layers, opt

__all__ = ["layers", "opt"]

if not TYPE_CHECKING:
    __getattr__, __dir__ = _only_public(__name__)
