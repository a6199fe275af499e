"""Accumulated gradient normalization: a worker brings the center its mean gradient."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..._base.arrays import namespace
from ..._base.slices import IndexedSlices
from ..._base.tensors import compute_now
from ...rules.dense_and_sparse import whole
from ..gradient_checks import check_step, checked_pairs
from ..variable import Variable
from .centers import CenterGetter, CenterWrapper
from .update_wrapper import describe_update


class AGNCustomGetter(CenterGetter):
    """Makes the variables for `AGNOptimizer`: each with a center and a sum of gradients.

    Call it with a function that makes variables, where TensorFlow gives it to a variable scope.

    Args:
        worker_device: no effect.
        center_of: the getter of another worker, whose center variables this one shares.

    Source: `tf.contrib.opt.AGNCustomGetter`, TensorFlow 1.15 (2019).

    >>> import gradlab as gl
    >>> getter = gl.contrib.opt.AGNCustomGetter("worker:0")
    >>> v = getter(gl.Variable, "layer", initial_value=[1.0])
    >>> getter.centers[v].name, getter.seconds[v].name
    ('global_center_variable/layer:0', 'grad_variable/layer:0')
    """

    second = "grad_variable"

    def _start_of_second(self, center: Variable) -> Any:
        return namespace(center._value).zeros_like(center._value)


class AGNOptimizer(CenterWrapper):
    """Step a worker's variables, and every few steps the center by the mean of its gradients.

        each step:  step of `optimizer` on w;  sum = sum + g;  local_step = local_step + 1
        if local_step is a multiple of communication_period:
            step of `optimizer` on center by sum / communication_period
            w = center;  sum = 0;  global_step = global_step + 1

    The one wrapped optimizer does both steps: it has slots of w and of the center, and what all
    variables share, such as Adam's powers, moves at both.

    Args:
        optimizer: the optimizer that computes and updates.
        num_worker: no effect.
        custom_getter: the `AGNCustomGetter` that made the variables.
        communication_period: steps of the worker between two of the center.
        use_locking: no effect.
        name: not empty (ValueError).

    Raises:
        NoGetterError: `custom_getter` isn't an `AGNCustomGetter`; it is a TypeError, and the
            AttributeError of TensorFlow.

    Differs from TensorFlow: the global step may be any integer variable; there is no session, and
    so no hook, because variables start from the center when they are made. Source:
    `tf.contrib.opt.AGNOptimizer`, TensorFlow 1.15 (2019); Hermans, Spanakis & Moeckel, "Accumulated
    Gradient Normalization" (2017).

    >>> import gradlab as gl
    >>> getter = gl.contrib.opt.AGNCustomGetter("worker:0")
    >>> v = getter(gl.Variable, "weights", initial_value=[8.0])
    >>> sgd = gl.train.GradientDescentOptimizer(1.0)
    >>> opt = gl.contrib.opt.AGNOptimizer(sgd, 1, getter, communication_period=2)
    >>> for g in (1.0, 3.0):
    ...     opt.apply_gradients([([g], v)])
    ...     v.numpy().tolist(), getter.centers[v].numpy().tolist()
    ([7.0], [8.0])
    ([6.0], [6.0])
    """

    _getter_class = AGNCustomGetter

    def __init__(
        self,
        optimizer: Any,
        num_worker: int,
        custom_getter: Any,
        communication_period: int = 10,
        use_locking: bool = True,
        name: str = "AGNOptimizer",
    ) -> None:
        super().__init__(optimizer, custom_getter, communication_period, name)

    def _describe(self, pairs: list[Any], global_step: Variable | None) -> Callable[[], Any]:
        variables = self._list_variables(pairs)
        self._check_centers(variables)
        if global_step is not None:
            check_step(global_step)
        update = self._describe_inner(pairs)
        sums = [self._getter.seconds[v] for v in variables]
        centers = [self._getter.centers[v] for v in variables]
        update_center = describe_update(lambda: self._apply_means(sums, centers))

        def run() -> None:
            update()
            for (g, v), total in zip(checked_pairs(compute_now(pairs)), sums, strict=True):
                total.assign_add(whole(v._value, g) if isinstance(g, IndexedSlices) else g)
            if not self._count_step():
                return
            update_center()
            if global_step is not None:
                global_step.assign_add(1)
            self._join(variables)

        return run

    def _apply_means(self, sums: list[Variable], centers: list[Variable]) -> Any:
        """Step the center by the means of the sums; in a Graph they're tensors."""
        means = [total / total.dtype.type(self._period) for total in sums]
        return self._opt.apply_gradients(list(zip(means, centers, strict=True)))
