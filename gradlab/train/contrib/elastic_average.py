"""Elastic averaging SGD: workers and center pull at each other every few steps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...errors import DTypeError, NoRateError
from ..adam import AdamOptimizer
from ..autodiff import GradsAndVars, Loss, listed
from ..gate import GATE_OP
from ..gradient_checks import check_step
from ..hyperparameters import is_plain
from ..rms_prop import AdadeltaOptimizer
from ..variable import Variable, trainable_variables
from .adam_variants import AdaMaxOptimizer, AdamGSOptimizer, LazyAdamOptimizer, NadamOptimizer
from .centers import CenterGetter, CenterWrapper
from .signs import AddSignOptimizer, PowerSignOptimizer

# Their steps are no multiple of the rate, so that moving_rate / learning_rate says nothing. In
# TensorFlow they keep the rate under another name.
RATE_IS_NO_MEASURE = (
    AdamOptimizer,
    AdaMaxOptimizer,
    AdamGSOptimizer,
    LazyAdamOptimizer,
    NadamOptimizer,
    AdadeltaOptimizer,
    AddSignOptimizer,
    PowerSignOptimizer,
)


class ElasticAverageCustomGetter(CenterGetter):
    """Makes the variables for `ElasticAverageOptimizer`: each with a center and a copy of it.

    Call it with a function that makes variables, where TensorFlow gives it to a variable scope.

    Args:
        worker_device: no effect.
        center_of: the getter of another worker, whose center variables this one shares.

    Source: `tf.contrib.opt.ElasticAverageCustomGetter`, TensorFlow 1.15 (2019).

    >>> import gradlab as gl
    >>> getter = gl.contrib.opt.ElasticAverageCustomGetter("worker:0")
    >>> v = getter(gl.Variable, "dense", initial_value=[1.0])
    >>> getter.centers[v].name, getter.seconds[v].name
    ('global_center_variable/dense:0', 'local_center_variable/dense:0')
    """

    second = "local_center_variable"


class ElasticAverageOptimizer(CenterWrapper):
    """Step a worker's variables, and every few steps pull them and the center toward each other.

        each step:  step of `opt` on w, on the loss + rho * sum((w - copy) ** 2) / 2
                    local_step = local_step + 1
        if local_step is a multiple of communication_period:
            copy = center;  d = w - copy
            w = w - moving_rate * d;  center = center + moving_rate * d
            global_step = global_step + 1

    `compute_gradients` adds the distance to the worker's copy of the center to the loss;
    `apply_gradients` of other gradients goes without it.

    Args:
        opt: the optimizer that computes and updates.
        num_worker: for the default of `moving_rate`.
        ea_custom_getter: the `ElasticAverageCustomGetter` that made the variables.
        communication_period: steps of the worker between two meetings.
        moving_rate: a number; 0.9 / communication_period / num_worker by default.
        rho: a number; by default moving_rate over the learning rate of `opt`.
        use_locking: no effect.
        synchronous: no effect here, where no worker starts before its variables are there.
        name: not empty (ValueError).

    Raises:
        NoGetterError: `ea_custom_getter` isn't an `ElasticAverageCustomGetter`; it is a TypeError,
            and the AttributeError of TensorFlow.
        NoRateError: no `rho` beside an optimizer of Adam's kind; it is a ValueError, and the
            AttributeError of TensorFlow.
        TypeError: no `rho`, and a function as learning rate.
        DTypeError: a variable that isn't of float32, which TensorFlow refuses, too.

    Differs from TensorFlow: the global step may be any integer variable; of `var_list` each
    variable is held near its own copy, where TensorFlow pairs the first ones of all; there is no
    session, and so no hook, because variables start from the center when they are made. Source:
    `tf.contrib.opt.ElasticAverageOptimizer`, TensorFlow 1.15 (2019); Zhang, Choromanska & LeCun,
    "Deep learning with Elastic Averaging SGD" (2015).

    >>> import gradlab as gl
    >>> getter = gl.contrib.opt.ElasticAverageCustomGetter("worker:0")
    >>> v = getter(gl.Variable, "kernel", initial_value=[8.0])
    >>> sgd = gl.train.GradientDescentOptimizer(1.0)
    >>> opt = gl.contrib.opt.ElasticAverageOptimizer(sgd, 1, getter, 1, moving_rate=0.25)
    >>> opt.apply_gradients([([4.0], v)])
    >>> v.numpy().tolist(), getter.centers[v].numpy().tolist()
    ([5.0], [7.0])
    """

    BETA = 0.9
    _getter_class = ElasticAverageCustomGetter

    def __init__(
        self,
        opt: Any,
        num_worker: int,
        ea_custom_getter: Any,
        communication_period: int = 10,
        moving_rate: float | None = None,
        rho: float | None = None,
        use_locking: bool = True,
        synchronous: bool = False,
        name: str = "ElasticAverageOptimizer",
    ) -> None:
        super().__init__(opt, ea_custom_getter, communication_period, name)
        if moving_rate is None:
            moving_rate = self.BETA / communication_period / num_worker
        self._moving_rate = moving_rate
        self._rho = _rho_of(opt, moving_rate) if rho is None else rho

    def compute_gradients(
        self,
        loss: Loss,
        var_list: Any = None,
        gate_gradients: int = GATE_OP,
        aggregation_method: int | None = None,
        colocate_gradients_with_ops: bool = False,
        grad_loss: Any = None,
    ) -> GradsAndVars:
        """First step: the gradients of the loss and of the distance to the copy of the center.

        Args:
            loss, gate_gradients, aggregation_method, colocate_gradients_with_ops, grad_loss: as of
                the wrapped optimizer.
            var_list: variables that the getter made; by default all trainable ones.
        """
        variables = listed(var_list) if var_list else trainable_variables()
        self._check_centers(variables)

        def loss_and_distance() -> Any:
            apart = [v.value - self._getter.seconds[v]._value for v in variables]
            halves = sum((d * d).sum() * np.float32(0.5) for d in apart)
            return loss() + np.float32(self._rho) * halves

        given = (gate_gradients, aggregation_method, colocate_gradients_with_ops, grad_loss)
        return super().compute_gradients(loss_and_distance, variables, *given)

    def swapping_saver(self, var_list: Any = None, name: str = "swapping_saver") -> Any:
        """Return variables by name, with its center variable in the place of each of the worker's.

        So `{name: v.numpy() for name, v in opt.swapping_saver().items()}` is what TensorFlow's Saver
        writes: an evaluation that reads the worker's variables gets the center.

        Args:
            var_list: the variables; all trainable ones by default.
            name: no effect.
        """
        listed_variables = trainable_variables() if var_list is None else list(var_list)
        return {v.name.removesuffix(":0"): self._getter.centers.get(v, v) for v in listed_variables}

    def _describe(self, pairs: list[Any], global_step: Variable | None) -> Callable[[], Any]:
        variables = self._list_variables(pairs)
        self._check_centers(variables)
        for v in variables:
            if v.dtype != np.float32:
                raise DTypeError(f"moving_rate is float32 but {v.name} is {v.dtype}")
        if global_step is not None:
            check_step(global_step)
        update = self._describe_inner(pairs)

        def run() -> None:
            update()
            if not self._count_step():
                return
            for v in variables:
                self._meet(v)
            if global_step is not None:
                global_step.assign_add(1)

        return run

    def _meet(self, v: Variable) -> None:
        """Pull a worker's variable and the center toward each other."""
        center = self._getter.centers[v]
        copy = self._getter.seconds[v]
        copy.load(center.value)
        pull = np.float32(self._moving_rate) * (v.value - copy.value)
        v.assign_sub(pull)
        center.assign_add(pull)


def _rho_of(opt: Any, moving_rate: float) -> float:
    rate = getattr(opt, "_learning_rate", None)
    if rate is None or isinstance(opt, RATE_IS_NO_MEASURE):
        raise NoRateError(
            f"pass rho: {opt!r} makes no steps in proportion to a learning rate, and by default rho "
            "is moving_rate / learning_rate"
        )
    if callable(rate):
        raise TypeError("pass rho: the learning rate is a function, and has no one value")
    return moving_rate / (rate if is_plain(rate) else float(rate))
