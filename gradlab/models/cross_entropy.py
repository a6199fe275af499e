"""Pieces of losses, for whichever library holds the scores and differentiates them."""

from __future__ import annotations

from typing import Any

from .._base.arrays import Array, namespace, without_derivative


def log_softmax(scores: Any) -> Array:
    """The logarithm of the chance of each entry along the last axis.

        result = s - log(sum(exp(s))),   s = scores - max(scores)

    Not in TensorFlow. Source: `tf.nn.log_softmax`, for the formula.

    >>> import numpy as np
    >>> log_softmax(np.float32([[0.0, 0.0]])).round(3).tolist()
    [[-0.6930000185966492, -0.6930000185966492]]
    """
    xp = namespace(scores)
    shifted = scores - without_derivative(scores.max(axis=-1, keepdims=True))
    found: Array = shifted - xp.log(xp.sum(xp.exp(shifted), axis=-1, keepdims=True))
    return found


def softplus(x: Any) -> Array:
    """log(1 + exp(x)), without overflow.

    >>> import numpy as np
    >>> softplus(np.float32([-1000.0, 1000.0])).tolist()
    [0.0, 1000.0]
    """
    return namespace(x).logaddexp(x, 0.0)
