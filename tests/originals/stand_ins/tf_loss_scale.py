"""Loss scales of TensorFlow 1, and what their tests compute with: strategies of one replica, data
sets, conditions, gradients of a function's own.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import jax
import numpy as np

import gradlab as gl
from tests.originals.stand_ins import graph
from tests.originals.stand_ins.graph import Tensor, as_tensor, call, deferred, fetched, raw


class FixedLossScale(gl.train.FixedLossScale):
    """gradlab's, as a tensor."""

    def __call__(self) -> Any:
        return deferred(super().__call__)


class DynamicLossScale(gl.train.DynamicLossScale):
    """gradlab's, as a tensor; in a Graph its update is a node."""

    def __call__(self) -> Any:
        return deferred(lambda: raw(super(DynamicLossScale, self).__call__()))

    def update(self, grads: Any) -> Any:
        def update() -> Any:
            return super(DynamicLossScale, self).update(raw(grads))

        if graph.executing_eagerly():
            return update()
        whole = Tensor(update)
        return Tensor(lambda: fetched(raw(whole)[0])), Tensor(lambda: raw(raw(whole)[1]))


class Strategy:
    """`tf.distribute.Strategy` of one replica."""

    num_replicas_in_sync = 1

    @contextlib.contextmanager
    def scope(self) -> Iterator[Strategy]:
        yield self

    def experimental_run(self, function: Callable[[], Any]) -> Any:
        return function()


class MirroredStrategy(Strategy):
    def __init__(self, devices: Any) -> None: ...


class Dataset:
    """A list whose items are taken in turn."""

    def __init__(self, items: Any) -> None:
        self._items = iter(items)

    from_tensor_slices = classmethod(lambda cls, items: cls(items))

    def get_next(self) -> Any:
        return deferred(lambda: np.asarray(next(self._items)))


def cond(condition: Any, when_true: Callable[[], Any], when_false: Callable[[], Any]) -> Any:
    return call(lambda x: raw(as_tensor(when_true() if x else when_false())), as_tensor(condition))


def assert_equal(a: Any, b: Any) -> Any:
    """Compare, also what JAX is tracing, when it computes it."""
    return call(
        lambda *values: jax.debug.callback(np.testing.assert_array_equal, *values),
        as_tensor(a),
        as_tensor(b),
    )


def custom_gradient(function: Callable[..., Any]) -> Callable[..., Any]:
    """gradlab's, for a function of tensors."""

    @gl.custom_gradient
    def of_arrays(x: Any) -> Any:
        value, gradient = function(Tensor.of(x))
        return raw(value), lambda upstream: raw(gradient(Tensor.of(upstream)))

    return lambda x: call(of_arrays, as_tensor(x))


def identity_with_grad_check(expected: Any, _dtype: Any = None) -> Callable[..., Any]:
    """The identity, which looks whether its gradient is the one that is expected."""

    def identity(x: Any) -> Any:
        def gradient(upstream: Any) -> Any:
            assert_equal(upstream, expected)
            return upstream

        return x, gradient

    return custom_gradient(identity)


LOSS_SCALES: dict[str, Any] = {
    "Dataset": Dataset,
    "DynamicLossScale": DynamicLossScale,
    "FixedLossScale": FixedLossScale,
    "MirroredStrategy": MirroredStrategy,
    "assert_equal": assert_equal,
    "cond": cond,
    "create_identity_with_grad_check_fn": identity_with_grad_check,
    "custom_gradient": custom_gradient,
    "get_strategy": Strategy,
    "has_strategy": lambda: False,
    "make_one_shot_iterator": lambda dataset: dataset,
    "num_gpus": lambda: 0,
}
