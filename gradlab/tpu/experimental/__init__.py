"""TensorFlow's `tf.tpu.experimental`: its classes of embedding tables."""

from . import embedding as embedding

__all__ = ["embedding"]
