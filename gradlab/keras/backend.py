"""Keras's one global number."""

from __future__ import annotations

_epsilon = 1e-7


def epsilon() -> float:
    """What epsilon None (and, in "tf2.3" and "legacy", 0) stands for. Source: `tf.keras.backend.epsilon`.

    >>> epsilon()
    1e-07
    """
    return _epsilon


def set_epsilon(value: float) -> None:
    """Set that number for optimizers made from now on. Source: `tf.keras.backend.set_epsilon`.

    >>> set_epsilon(1e-5)
    >>> epsilon()
    1e-05
    >>> set_epsilon(1e-7)
    """
    global _epsilon
    _epsilon = float(value)
