"""Model averaging: workers step alone, and every few steps all go on from their mean."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from ...errors import InvalidArgumentError
from ..accumulators import ConditionalAccumulator
from ..gradient_checks import check_step
from ..variable import Variable
from .centers import CenterGetter, CenterWrapper


class Meeting:
    """Where the workers of one center meet: sums of their variables, and the count of means taken.

    A worker that has brought its variables waits for the next mean. TensorFlow has a queue with a
    token for each worker, from which a fast worker can take the token of a slow one.
    """

    def __init__(self) -> None:
        self.sums: dict[Variable, ConditionalAccumulator] = {}
        self.means = 0
        self._changed = threading.Condition()

    def finish(self) -> None:
        """Tell all workers that the next mean is there."""
        with self._changed:
            self.means += 1
            self._changed.notify_all()

    def wait(self, means: int) -> None:
        """Wait until there are more means than so many."""
        with self._changed:
            self._changed.wait_for(lambda: self.means > means)


class ModelAverageCustomGetter(CenterGetter):
    """Makes a worker's variables for `ModelAverageOptimizer`: each with one at the center.

    Call it with a function that makes variables, where TensorFlow gives it to a variable scope.

    Args:
        worker_device: no effect.
        center_of: the getter of another worker, whose center variables this one shares.

    Source: `tf.contrib.opt.ModelAverageCustomGetter`, TensorFlow 1.15 (2019).

    >>> import gradlab as gl
    >>> getter = gl.contrib.opt.ModelAverageCustomGetter("worker:0")
    >>> v = getter(gl.Variable, "bias", initial_value=[1.0])
    >>> getter.centers[v].name
    'global_center_variable/bias:0'
    """

    def __init__(self, worker_device: Any, *, center_of: CenterGetter | None = None) -> None:
        super().__init__(worker_device, center_of=center_of)
        self.meeting = Meeting()
        if isinstance(center_of, ModelAverageCustomGetter):
            self.meeting = center_of.meeting


class ModelAverageOptimizer(CenterWrapper):
    """Step a worker's variables, and every few steps set them to the mean of all workers.

        each step:  step of `opt` on w;  local_step = local_step + 1
        if local_step is a multiple of interval_steps:
            center = mean of w over num_worker workers;  global_step = global_step + 1
            w = center

    The chief waits until all workers have brought their variables, the others wait for the chief;
    each worker runs in a thread of its own, with its own getter and optimizer.

    Args:
        opt: the optimizer that computes and updates.
        num_worker: how many workers the chief waits for, itself among them.
        is_chief: whether this worker is the chief.
        ma_custom_getter: the `ModelAverageCustomGetter` that made the variables.
        interval_steps: steps of the worker between two means.
        use_locking: no effect.
        name: not empty (ValueError).

    Raises:
        NoGetterError: `ma_custom_getter` isn't a `ModelAverageCustomGetter`; it is a TypeError, and
            the AttributeError of TensorFlow.
        ValueError: no pairs, or no `global_step`; raised by the first update.

    Differs from TensorFlow: a worker waits for the next mean, not for a token that a faster worker
    may take; there is no session, and so no hook, because variables start from the center when they
    are made. Source: `tf.contrib.opt.ModelAverageOptimizer`, TensorFlow 1.15
    (2019).

    >>> import gradlab as gl, threading
    >>> first = gl.contrib.opt.ModelAverageCustomGetter("worker:0")
    >>> getters = [first, gl.contrib.opt.ModelAverageCustomGetter("worker:1", center_of=first)]
    >>> step = gl.Variable(0, trainable=False)
    >>> def work(worker, getter):
    ...     v = getter(gl.Variable, "mean", initial_value=[8.0])
    ...     sgd = gl.train.GradientDescentOptimizer(1.0)
    ...     opt = gl.contrib.opt.ModelAverageOptimizer(sgd, 2, worker == 0, getter, interval_steps=1)
    ...     opt.apply_gradients([([2.0 * worker], v)], step)
    ...     results[worker] = v.numpy().tolist()
    >>> results = {}
    >>> threads = [threading.Thread(target=work, args=pair) for pair in enumerate(getters)]
    >>> for thread in threads:
    ...     thread.start()
    >>> for thread in threads:
    ...     thread.join()
    >>> results[0], results[1], int(step)
    ([7.0], [7.0], 1)
    """

    _getter_class = ModelAverageCustomGetter
    _getter: ModelAverageCustomGetter

    def __init__(
        self,
        opt: Any,
        num_worker: int,
        is_chief: bool,
        ma_custom_getter: Any,
        interval_steps: int = 100,
        use_locking: bool = True,
        name: str = "ModelAverageOptimizer",
    ) -> None:
        super().__init__(opt, ma_custom_getter, interval_steps, name)
        self._num_worker = num_worker
        self._is_chief = is_chief

    def _describe(self, pairs: list[Any], global_step: Variable | None) -> Callable[[], Any]:
        if not pairs:
            raise ValueError("there is nothing to update: grads_and_vars is empty")
        if global_step is None:
            raise InvalidArgumentError(
                "global_step is needed: it counts the means, and a late worker is known by it"
            )
        check_step(global_step)
        step = global_step
        variables = self._list_variables(pairs)
        self._check_centers(variables)
        update = self._describe_inner(pairs)

        def run() -> None:
            update()
            if not self._count_step():
                return
            meeting = self._getter.meeting
            means = meeting.means
            self._bring(variables, step)
            if self._is_chief:
                self._take_means(variables, step)
            else:
                meeting.wait(means)
            self._join(variables)

        return run

    def _bring(self, variables: list[Variable], global_step: Variable) -> None:
        sums = self._getter.meeting.sums
        for v in variables:
            center = self._getter.centers[v]
            total = sums.get(center)
            if total is None:
                name = center.name.removesuffix(":0")
                made = ConditionalAccumulator(v.dtype, v.shape, name=f"{name}/var_accum")
                made.set_global_step(int(global_step))
                # Of two workers that come first at once, one makes it.
                total = sums.setdefault(center, made)
            total.apply_grad(v.value, local_step=int(global_step))

    def _take_means(self, variables: list[Variable], global_step: Variable) -> None:
        """The chief's part: the center becomes the mean, and the others may go on."""
        meeting = self._getter.meeting
        for v in variables:
            center = self._getter.centers[v]
            center.load(meeting.sums[center].take_grad(self._num_worker))
        global_step.assign_add(1)
        meeting.finish()
