"""Policies for stale gradients: accept one, damp it, or correct it for the weights' changes since.

The staleness of a gradient is the number of updates since its weights were read: global step now -
step then.
"""

from __future__ import annotations

from typing import Any

from .._base.arrays import Array, namespace, quiet
from .._base.sums import decaying_mean


def is_accepted(staleness: Any, limit: Any) -> Any:
    """Tell whether a gradient of this staleness is used: staleness <= limit.

    Integers or integer arrays, traced ones too; bool of the same kind out. A negative staleness,
    after the step was moved back, is accepted for any limit from 0.

    Source: `tf.contrib.opt.DropStaleGradientOptimizer`, TensorFlow 1.

    >>> is_accepted(2, 2), is_accepted(3, 2), is_accepted(-1, 0)
    (True, False, True)
    """
    return staleness <= limit


def damping(staleness: Any) -> Any:
    """Return 1 / (1 + staleness), a factor of the learning rate or of the gradient.

    Integers from 0 or integer arrays; a float or a float array out. Not in TensorFlow.

    Source: Zhang, Gupta, Lian & Liu, "Staleness-Aware Async-SGD for Distributed Deep Learning"
    (2016). They divide by the staleness itself if it is above 0, so that 0 and 1 count alike.

    >>> [damping(s) for s in (0, 1, 3)]
    [1.0, 0.5, 0.25]
    """
    return 1 / (1 + staleness)


@quiet
def compensate(g: Array, w_now: Array, w_read: Array, strength: Any) -> Array:
    """Estimate the gradient at the current weights from the gradient at the weights that were read.

        g + strength * g * g * (w_now - w_read)

    This is the first-order Taylor expansion, with strength * g * g on the diagonal in place of the
    Hessian.

    Shapes: g, w_now, w_read (...), of one dtype, which is the result's; strength is a number or
    such an array. Not in TensorFlow. Source: Zheng et al., "Asynchronous Stochastic Gradient
    Descent with Delay Compensation" (2017).

    >>> import numpy as np
    >>> compensate(np.float32([2.0]), np.float32([1.5]), np.float32([1.0]), 0.5).tolist()
    [3.0]
    """
    estimate: Array = g + strength * g * g * (w_now - w_read)
    return estimate


@quiet
def compensate_adaptively(
    g: Array,
    w_now: Array,
    w_read: Array,
    mean_square: Array,
    strength: Any,
    decay: Any = 0.95,
    epsilon: Any = 1e-7,
) -> tuple[Array, Array]:
    """Return the compensated gradient, weaker where gradients were large, and the new mean square.

        mean_square = mean_square * decay + g * g * (1 - decay)        starts at 0
        compensate(g, w_now, w_read, strength / sqrt(mean_square + epsilon))

    Shapes and dtypes as for `compensate`. Not in TensorFlow. Source: the adaptive form in Zheng et
    al. (2017).

    >>> import numpy as np
    >>> g, now, read, zero = (np.float32([x]) for x in (2.0, 1.5, 1.0, 0.0))
    >>> [x.tolist() for x in compensate_adaptively(g, now, read, zero, 0.5, decay=0.0, epsilon=0.0)]
    [[2.5], [4.0]]
    """
    mean_square = decaying_mean(mean_square, g * g, decay, "sparse")
    strength = strength / namespace(g).sqrt(mean_square + epsilon)
    return compensate(g, w_now, w_read, strength), mean_square
