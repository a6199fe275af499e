"""Gradient descent and Adagrad with L1 and L2 penalties in closed form."""

from __future__ import annotations

from .. import rules
from .hyperparameters import LearningRate, Rate, check_positive
from .kernel_order import with_order
from .rule_optimizer import RuleOptimizer


class ProximalGradientDescentOptimizer(RuleOptimizer):
    """Gradient descent with L1 and L2 penalties in closed form.

        p = w - g * lr;  w = sign(p) * max(|p| - lr * l1, 0) / (1 + lr * l2)

    IndexedSlices: slices of one row are summed first; rows not named keep w.

    Args:
        learning_rate, l1_regularization_strength, l2_regularization_strength: lr, l1 and l2;
            number, scalar array or variable, or function without arguments; the learning rate also
            a schedule.
        use_locking: no effect on values.
        name: not empty (ValueError).

    Differs from TensorFlow, which refuses a Python number as a rate for dense gradients that are
    not float32. Source: `tf.compat.v1.train.ProximalGradientDescentOptimizer`, TensorFlow 2.21
    (2026).

    >>> import gradlab as gl
    >>> v = gl.Variable([4.0, 0.25])
    >>> ProximalGradientDescentOptimizer(0.5, 1.0, 2.0).apply_gradients([([1.0, 0.0], v)])
    >>> v.numpy().tolist()
    [1.5, 0.0]
    """

    _sparse = staticmethod(with_order("dense", scalar_row_order="scalar"))

    def __init__(
        self,
        learning_rate: LearningRate,
        l1_regularization_strength: Rate = 0.0,
        l2_regularization_strength: Rate = 0.0,
        use_locking: bool = False,
        name: str = "ProximalGradientDescent",
    ) -> None:
        super().__init__(
            rules.ProximalGradientDescent(),
            learning_rate,
            use_locking,
            name,
            l1_regularization_strength=l1_regularization_strength,
            l2_regularization_strength=l2_regularization_strength,
        )


class ProximalAdagradOptimizer(RuleOptimizer):
    """Adagrad with L1 and L2 penalties in closed form, with slot "accumulator".

        accumulator = accumulator + g * g;  e = lr * (1 / sqrt(accumulator))
        p = w - g * e;  w = sign(p) * max(|p| - e * l1, 0) / (1 + e * l2)

    IndexedSlices: slices of one row are summed first; rows not named keep w and accumulator.

    Args:
        learning_rate, l1_regularization_strength, l2_regularization_strength: lr, l1 and l2;
            number, scalar array or variable, or function without arguments; the learning rate also
            a schedule.
        initial_accumulator_value: above 0 (ValueError).
        use_locking: no effect on values.
        name: not empty (ValueError).

    Differs from TensorFlow, which refuses a Python number as a rate for dense gradients that are
    not float32. Source: `tf.compat.v1.train.ProximalAdagradOptimizer`, TensorFlow 2.21 (2026).

    >>> import gradlab as gl
    >>> v = gl.Variable([4.0])
    >>> ProximalAdagradOptimizer(0.5, 9.0, l1_regularization_strength=1.0).apply_gradients([([4.0], v)])
    >>> v.numpy().tolist()
    [3.5]
    """

    _sparse = staticmethod(with_order("dense", scalar_row_order="scalar"))

    def __init__(
        self,
        learning_rate: LearningRate,
        initial_accumulator_value: float = 0.1,
        l1_regularization_strength: Rate = 0.0,
        l2_regularization_strength: Rate = 0.0,
        use_locking: bool = False,
        name: str = "ProximalAdagrad",
    ) -> None:
        check_positive("initial_accumulator_value", initial_accumulator_value)
        super().__init__(
            rules.ProximalAdagrad(initial_accumulator_value),
            learning_rate,
            use_locking,
            name,
            l1_regularization_strength=l1_regularization_strength,
            l2_regularization_strength=l2_regularization_strength,
        )
