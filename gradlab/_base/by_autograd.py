"""Reverse mode by HIPS autograd, for where JAX cannot be had: in a browser tab, for example.

What is to be differentiated enters a run through `_enter`, a function of one dummy number; when the
gradient of what entered is complete, autograd asks for the dummy's, and what entered has its own
delivered. So one pass gives gradients by arrays and by gathered rows, and what no output depends on
is never delivered.
"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from .arrays import Array, as_array, namespace
from .derivatives import Keep, Run
from .extras import need

need("autograd", "gradients without JAX")

import autograd  # noqa: E402
from autograd.core import make_vjp  # noqa: E402
from autograd.extend import defvjp, defvjp_argnum, defvjp_argnums, primitive  # noqa: E402
from autograd.numpy.numpy_boxes import ArrayBox  # noqa: E402
from autograd.tracer import Node, getval, isbox, new_box, trace_stack  # noqa: E402

Deliver = Callable[[Array], None]

_one_at_a_time = threading.RLock()  # autograd numbers its traces in one place for all threads


_ufunc = ArrayBox.__array_ufunc__


def _with_variables(self: Any, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
    """Variables beside a box are read first: autograd would take them for constants, and their
    gradients be lost.
    """
    read = (as_array(x) if hasattr(x, "__jax_array__") else x for x in inputs)
    return _ufunc(self, ufunc, method, *read, **kwargs)


ArrayBox.__array_ufunc__ = _with_variables


def _as_it_is(dummy: float, value: Array, deliver: Deliver) -> Array:
    return value


def _delivered(
    ans: Array, dummy: float, value: Array, deliver: Deliver
) -> Callable[[Array], float]:
    def vjp(g: Array) -> float:
        deliver(g)
        return 0.0

    return vjp


_enter: Any = primitive(_as_it_is)
defvjp(_enter, _delivered)


def _nothing(upstream: list[Array], *outputs: Array) -> float:
    return 0.0


_leave: Any = primitive(_nothing)
defvjp_argnum(_leave, lambda k, ans, args, kwargs: lambda g: args[0][k - 1])


class _Pullback:
    def __init__(
        self, back: Callable[[float], Any], upstream: list[Array], found: list[Array | None]
    ) -> None:
        self._back, self._upstream, self._found = back, upstream, found

    def __call__(self, upstream: list[Array]) -> list[Array | None]:
        self._upstream[:], self._found[:] = upstream, [None] * len(self._found)
        self._back(1.0)
        return list(self._found)

    def depends(self, upstream: list[Array], index: int) -> bool:
        """True: the gradient of what does not depend is not delivered at all."""
        return True


def vjp(run: Run, inputs: Sequence[Array]) -> tuple[list[Array], _Pullback]:
    """The outputs of `run` and the way back."""
    upstream: list[Array] = []
    found: list[Array | None] = [None] * len(inputs)
    outputs: list[Array] = []

    def keep(k: int, g: Array) -> None:
        found[k] = _cast(g, inputs[k])

    def traced(dummy: Any) -> Any:
        made = run([_enter(dummy, x, partial(keep, k)) for k, x in enumerate(inputs)])
        # An output that depends on nothing is a number; the dummy is there so that all of them are
        # one output.
        boxes: list[Any] = made
        outputs.extend(y._value if isbox(y) and y._trace == dummy._trace else y for y in boxes)
        return _leave(upstream, *made, dummy)

    with _one_at_a_time:
        back, _ = make_vjp(traced, 0.0)

    def whole(g: float) -> Any:
        upstream.append(np.zeros(()))  # for the dummy
        return back(g)

    return [y if isbox(y) else np.asarray(y) for y in outputs], _Pullback(whole, upstream, found)


def take(table: Any, indices: Array, keep: Keep) -> Array:
    """Rows of a table; while a gradient is itself followed, the gradient is dense."""
    if not isbox(table):  # a constant of this run
        return table[indices]  # type: ignore[no-any-return]
    inner = table._value
    if isbox(inner):
        keep(None, None)
        return table[indices]  # type: ignore[no-any-return]
    dummy = new_box(0.0, table._trace, table._node.parents[0])

    def deliver(g: Array) -> None:
        keep(indices.reshape(-1), _cast(g, inner).reshape(-1, *inner.shape[1:]))

    rows: Array = _enter(dummy, inner[indices], deliver)
    return rows


def _cast(g: Array, like: Array) -> Array:
    """A gradient in the dtype of what it is by, which autograd now and then widens on the way."""
    return g if isbox(g) else np.asarray(g, like.dtype)


class _Source(Node):  # type: ignore[misc]  # autograd has no types
    """A value that knows the inputs it was computed from, through whatever function."""

    __slots__ = ["sources"]

    def __init__(
        self, value: Any, fun: Any, args: Any, kwargs: Any, argnums: Any, parents: Sequence[_Source]
    ) -> None:
        self.sources: set[int] = set().union(*(p.sources for p in parents))

    def initialize_root(self, number: int) -> None:
        self.sources = {number}


def reads(run: Run, inputs: Sequence[Array]) -> list[set[int]]:
    """The inputs that each gradient is computed from: the way back is followed as it goes."""
    with _one_at_a_time, trace_stack.new_trace() as trace:
        followed = [
            new_box(np.asarray(x), trace, _Source.new_root(k)) for k, x in enumerate(inputs)
        ]
        outputs, pullback = vjp(run, followed)
        found: list[Any] = pullback(
            [np.ones(np.shape(getval(y)), getval(y).dtype) for y in outputs]
        )
    return [g._node.sources if isbox(g) else set() for g in found]


def hessian(function: Callable[[Array], Array], x: Array) -> Array:
    """The second derivatives; zeros, of which autograd warns, where there are none."""
    with _one_at_a_time, warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Output seems independent of input", UserWarning)
        return _cast(autograd.hessian(function)(x), x)


def custom_gradient(function: Callable[..., tuple[Array, Any]]) -> Callable[..., Array]:
    """A function with the derivative that `function` returns beside its value."""

    def value(*args: Any) -> Array:
        return function(*args)[0]

    def derivatives(numbers: Sequence[int], ans: Array, args: Any, kwargs: Any) -> Any:
        _, pullback = function(*args)

        def back(g: Array) -> tuple[Array, ...]:
            found = pullback(g)
            gradients = found if isinstance(found, list | tuple) else [found]
            return tuple(gradients[k] for k in numbers)

        return back

    customized: Any = primitive(value)
    defvjp_argnums(customized, derivatives)
    return customized  # type: ignore[no-any-return]


def explain(error: BaseException) -> None:
    """Say of an error of a traced loss how losses are written."""
    if isinstance(error, TypeError | NotImplementedError):
        error.add_note(
            "A loss is traced while it is differentiated; without JAX, autograd does it: write the "
            "loss with operators and autograd.numpy, without float() and "
            "without writing into arrays."
        )


def value_and_gradient(
    loss: Callable[..., Array], compiled: bool
) -> Callable[..., tuple[Array, Any]]:
    """The loss and its gradients by its first argument: an array, or a mapping or tuple of arrays."""

    def both(tree: Any, *arguments: Any) -> tuple[Array, Any]:
        leaves = (
            list(tree.values())
            if isinstance(tree, Mapping)
            else list(tree)
            if isinstance(tree, tuple)
            else [tree]
        )
        arrays = [np.asarray(x) for x in leaves]
        (value,), pullback = vjp(lambda now: [loss(_like(tree, now), *arguments)], arrays)
        found = pullback([namespace(value).ones_like(value)])
        gradients = [
            np.zeros_like(x) if g is None else g for g, x in zip(found, arrays, strict=True)
        ]
        return value, _like(tree, gradients)

    return both


def _like(tree: Any, leaves: list[Any]) -> Any:
    if isinstance(tree, Mapping):
        return dict(zip(tree, leaves, strict=True))
    return tuple(leaves) if isinstance(tree, tuple) else leaves[0]


def compile(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function as it is: NumPy compiles nothing."""
    return function
