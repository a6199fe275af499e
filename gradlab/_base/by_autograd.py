"""Reverse mode by HIPS autograd, where JAX cannot be installed: in a browser tab, for example.

autograd differentiates a function of one argument. So that one pass gives the gradients by many
arrays, a run is traced as a function of a dummy number. Each input enters it through
`_enter(dummy, value, deliver)`, which returns `value`. On the way back, once the gradient by that
value is complete, autograd asks for the derivative by the dummy, and this passes the gradient to
`deliver`. Outputs leave through `_leave`, whose derivatives are the gradients upstream. If no
output depends on an input, its `deliver` is never called.

`take` lets gathered rows enter in the same way, so their gradient stays sparse.
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

_box_ufunc = ArrayBox.__array_ufunc__


def _read_variables_first(self: Any, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
    """Apply a ufunc to boxes and Variables.

    autograd alone would take a Variable beside a box for a constant and lose its gradient.
    """
    arrays = (as_array(x) if hasattr(x, "__jax_array__") else x for x in inputs)
    return _box_ufunc(self, ufunc, method, *arrays, **kwargs)


ArrayBox.__array_ufunc__ = _read_variables_first


@primitive  # type: ignore[untyped-decorator]
def _enter(dummy: float, value: Array, deliver: Deliver) -> Array:
    return value


def _make_vjp_of_enter(
    ans: Array, dummy: float, value: Array, deliver: Deliver
) -> Callable[[Array], float]:
    def vjp(g: Array) -> float:
        deliver(g)
        return 0.0

    return vjp


defvjp(_enter, _make_vjp_of_enter)


@primitive  # type: ignore[untyped-decorator]
def _leave(upstream: list[Array], *outputs: Array) -> float:
    return 0.0


# The derivative by argument k, which is output k - 1.
defvjp_argnum(_leave, lambda k, ans, args, kwargs: lambda g: args[0][k - 1])


class _Pullback:
    """The way back; `upstream` and `gradients` are the lists that the traced run closes over."""

    def __init__(
        self, back: Callable[[float], Any], upstream: list[Array], gradients: list[Array | None]
    ) -> None:
        self._back = back
        self._upstream = upstream
        self._gradients = gradients

    def __call__(self, upstream: list[Array]) -> list[Array | None]:
        self._upstream[:] = upstream
        self._upstream.append(np.zeros(()))  # for the dummy
        self._gradients[:] = [None] * len(self._gradients)
        self._back(1.0)
        return list(self._gradients)

    def depends(self, upstream: list[Array], index: int) -> bool:
        """Return True: a gradient that doesn't depend on `upstream` is None here, never zeros."""
        return True


def vjp(run: Run, inputs: Sequence[Array]) -> tuple[list[Array], _Pullback]:
    """Return the outputs of `run` and the way back."""
    upstream: list[Array] = []
    gradients: list[Array | None] = [None] * len(inputs)
    outputs: list[Array] = []

    def keep(k: int, g: Array) -> None:
        gradients[k] = _cast(g, inputs[k])

    def run_of_dummy(dummy: Any) -> Any:
        results: list[Any] = run([_enter(dummy, x, partial(keep, k)) for k, x in enumerate(inputs)])
        for y in results:
            is_of_this_trace = isbox(y) and y._trace == dummy._trace
            outputs.append(y._value if is_of_this_trace else y)
        # The dummy is an output, too: `_leave` must be traced even if no result depends on it.
        return _leave(upstream, *results, dummy)

    with _one_at_a_time:
        back, _ = make_vjp(run_of_dummy, 0.0)
    pullback = _Pullback(back, upstream, gradients)
    return [y if isbox(y) else np.asarray(y) for y in outputs], pullback


def take(table: Any, indices: Array, keep: Keep) -> Array:
    """Return rows of a table; the gradient is dense while it is itself differentiated."""
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
    """Return a gradient in the dtype of its input; autograd sometimes widens it on the way."""
    return g if isbox(g) else np.asarray(g, like.dtype)


class _Source(Node):  # type: ignore[misc]  # autograd has no types
    """A node of the trace that knows the inputs from which its value was computed."""

    __slots__ = ["sources"]

    def __init__(
        self, value: Any, fun: Any, args: Any, kwargs: Any, argnums: Any, parents: Sequence[_Source]
    ) -> None:
        self.sources: set[int] = set().union(*(p.sources for p in parents))

    def initialize_root(self, number: int) -> None:
        self.sources = {number}


def reads(run: Run, inputs: Sequence[Array]) -> list[set[int]]:
    """Return for each gradient the inputs it reads: the way back is traced, too."""
    with _one_at_a_time, trace_stack.new_trace() as trace:
        boxes = [new_box(np.asarray(x), trace, _Source.new_root(k)) for k, x in enumerate(inputs)]
        outputs, pullback = vjp(run, boxes)
        ones: list[Array] = [np.ones(np.shape(getval(y)), getval(y).dtype) for y in outputs]
        gradients: list[Any] = pullback(ones)
    return [g._node.sources if isbox(g) else set() for g in gradients]


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
    """Add a note about how to write a loss to an error that tracing may have caused."""
    if isinstance(error, TypeError | NotImplementedError):
        error.add_note(
            "A loss is traced while it is differentiated; without JAX, autograd does it: write the "
            "loss with operators and autograd.numpy, without float() and "
            "without writing into arrays."
        )


def value_and_gradient(
    loss: Callable[..., Array], compiled: bool
) -> Callable[..., tuple[Array, Any]]:
    """Return a function that returns the loss and its gradients by its first argument.

    That argument is an array, or a mapping or tuple of arrays.
    """

    def value_and_gradients(tree: Any, *arguments: Any) -> tuple[Array, Any]:
        arrays = [np.asarray(x) for x in _leaves_of(tree)]
        (value,), pullback = vjp(lambda xs: [loss(_tree_like(tree, xs), *arguments)], arrays)
        gradients = pullback([namespace(value).ones_like(value)])
        filled = [
            np.zeros_like(x) if g is None else g for g, x in zip(gradients, arrays, strict=True)
        ]
        return value, _tree_like(tree, filled)

    return value_and_gradients


def _leaves_of(tree: Any) -> list[Any]:
    if isinstance(tree, Mapping):
        return list(tree.values())
    return list(tree) if isinstance(tree, tuple) else [tree]


def _tree_like(tree: Any, leaves: list[Any]) -> Any:
    if isinstance(tree, Mapping):
        return dict(zip(tree, leaves, strict=True))
    return tuple(leaves) if isinstance(tree, tuple) else leaves[0]


def compile(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function unchanged: NumPy compiles nothing."""
    return function
