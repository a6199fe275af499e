"""TensorFlow's `tf.tpu.experimental`: its classes of embedding tables."""

from typing import TYPE_CHECKING

from ..._base.suggest import only_public as _only_public
from . import embedding as embedding

__all__ = ["embedding"]

if not TYPE_CHECKING:
    __getattr__, __dir__ = _only_public(__name__)
