"""Adadelta."""

from __future__ import annotations

from .. import rules
from .._variables.hyperparameters import Rate
from .._variables.optimizer import Optimizer


class AdadeltaOptimizer(Optimizer):
    """Adadelta, with slots "accum" and "accum_update".

        accum = accum * rho + g * g * (1 - rho)
        u = sqrt(accum_update + epsilon) * (1 / sqrt(accum + epsilon)) * g
        w = w - u * lr;  accum_update = accum_update * rho + u * u * (1 - rho)

    IndexedSlices: slices of one row are summed first; rows not named keep w and both slots.

    Args:
        learning_rate, rho, epsilon: number, scalar array or variable, or function without arguments. The paper has a
            learning rate of 1.
        use_locking: no effect on values. name: not empty (ValueError).

    Source: `tf.compat.v1.train.AdadeltaOptimizer`, TensorFlow 2.21 (2026).

    >>> import gradlab as gl
    >>> v = gl.Variable([1.0], name="v")
    >>> AdadeltaOptimizer(0.5, rho=0.25, epsilon=1.0).apply_gradients([([2.0], v)])
    >>> v.numpy().tolist()
    [0.5]
    """

    def __init__(
        self,
        learning_rate: Rate = 0.001,
        rho: Rate = 0.95,
        epsilon: Rate = 1e-8,
        use_locking: bool = False,
        name: str = "Adadelta",
    ) -> None:
        super().__init__(rules.Adadelta(), learning_rate, use_locking, name, rho=rho, epsilon=epsilon)
