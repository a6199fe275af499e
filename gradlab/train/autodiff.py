"""Gradients of a loss with respect to variables: `gl.gradients`, and what all optimizers use.

A loss is a function, or a tensor that is called as one. `differentiate` calls it while a `LossTape`
is active: the tape gives the loss traced values in place of its variables, and notes which ones it
reads, and how. JAX's or autograd's derivative of that is then put into TensorFlow's form: an array,
IndexedSlices where the loss only gathered rows, or None.

A `gl.GradientTape` (`gradient_tape.py`) records tensors while a program runs, as `recorder` in
`_base/tensors.py`. Its `gradient` gives these tensors to `differentiate`, as losses.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any, Literal, TypeAlias

import numpy as np

from .._base.arrays import (
    Array,
    as_array,
    is_complex,
    is_double,
    is_inexact,
    is_jax,
    is_traced,
    namespace,
    precision,
    take_rows,
)
from .._base.derivatives import differentiator
from .._base.gradient_types import Gradient
from .._base.options import is_strict
from .._base.slices import IndexedSlices
from .._base.tensors import Tensor, deferrable, describe, new_run
from ..errors import DTypeError, InvalidArgumentError, NotAVariableError
from .variable import Variable, _tape, current_collection, register

Loss: TypeAlias = Callable[[], Any]
GradsAndVars: TypeAlias = list[tuple[Gradient | None, Variable]]


class LossTape:
    """Stands traced values in for variables while a loss runs, and notes which ones it read and how.

    It lives in a context variable, so each thread differentiates by itself.
    """

    def __init__(self, variables: Sequence[Variable], values: Sequence[Array]) -> None:
        # All by the id of the variable.
        self.values = {id(v): x for v, x in zip(variables, values, strict=True)}
        self.read_whole: set[int] = set()
        self.read_rows: set[int] = set()
        self.dense_rows: set[int] = set()  # gathers whose derivative had to be dense
        # Number of the gather, indices, rows.
        self.slices: dict[int, list[tuple[int, Array, Array]]] = {}
        self.num_gathers = 0

    def __enter__(self) -> LossTape:
        # Tensors that the loss computes with are traced too, so those of the run outside don't fit.
        # The run begins first, because what it leaves to the run outside isn't traced.
        self._run = new_run(is_replay=True, is_part=True)
        self._run.__enter__()
        self._token = _tape.set(self)
        return self

    def __exit__(self, *error: object) -> None:
        _tape.reset(self._token)
        self._run.__exit__(None, None, None)

    def read(self, variable: Variable) -> Array:
        self.read_whole.add(id(variable))
        value = variable._buffer.share()  # a gradient, or the loss, may be the array itself
        return self.values.get(id(variable), value)

    def gather(self, variable: Variable, indices: Array) -> Array:
        """Rows of a variable whose derivative is kept as slices; inside `jit` or `scan` it becomes dense."""
        self.read_rows.add(id(variable))
        # TensorFlow joins the slices in the order of the gathers. The backward pass meets them in
        # another order, so each gather is numbered.
        site = self.num_gathers
        self.num_gathers += 1

        def keep(indices: Array | None, rows: Array | None) -> None:
            if indices is None or rows is None:
                self.dense_rows.add(id(variable))
            else:
                self.slices.setdefault(id(variable), []).append((site, indices, rows))

        return differentiator().take(self.values[id(variable)], indices, keep)


@contextmanager
def without_tape() -> Iterator[None]:
    """Inside, variables and tensors have their values, which aren't followed."""
    token = _tape.set(None)
    try:
        with new_run(is_part=True):
            yield
    finally:
        _tape.reset(token)


@deferrable
def gather(params: Any, indices: Any) -> Array:
    """Rows `params[indices]`; the gradient with respect to a variable is IndexedSlices, duplicates kept.

        result[k, ...] = params[indices[k], ...]

    Args:
        params: Variable or array of rank >= 1.
        indices: integers of any shape, in [0, rows).

    Raises:
        DTypeError: indices are not integers.
        InvalidArgumentError: an index outside the rows.

    Differs from TensorFlow: where the indices are computed inside `jax.jit` or `lax.scan` the
    gradient is dense.

    Source: `tf.gather`, TensorFlow 2.21 (2026).

    >>> e = Variable([[1.0, 2.0], [3.0, 4.0]], name="e")
    >>> (g,) = gradients(lambda: gather(e, [1, 1]).sum(), [e])
    >>> g.indices.tolist(), g.values.tolist()
    ([1, 1], [[1.0, 1.0], [1.0, 1.0]])
    """
    ids = as_array(indices, "indices")
    shape = params.shape if isinstance(params, Variable) else as_array(params, "params").shape
    IndexedSlices(np.empty((ids.size, 0)), ids.reshape(-1)).check_rows(shape[0], "gather")
    tape = _tape.get()
    if tape is not None and isinstance(params, Variable) and id(params) in tape.values:
        rows: Array = tape.gather(params, ids)
        return rows
    table = as_array(params)
    return take_rows(table, namespace(table).asarray(ids))


def gradients(
    ys: Loss | Sequence[Loss],
    xs: Variable | Sequence[Variable],
    grad_ys: Any = None,
    name: str = "gradients",
    colocate_gradients_with_ops: bool = False,
    gate_gradients: bool = False,
    aggregation_method: int | None = None,
    stop_gradients: Any = None,
    unconnected_gradients: str = "none",
    *,
    strict: Literal["tf"] | None = None,
) -> list[Gradient | None]:
    """Derivatives of the sum of ys with respect to each x.

        result_i = sum_k  grad_ys_k . d ys_k / d x_i

    With complex numbers TensorFlow's conjugate of that, the direction of steepest ascent, where
    JAX's is none.

    Args:
        ys: function without arguments that computes with jax.numpy on variables, or a tensor of a
            `gl.Graph`, or a list of such. Where JAX is not installed autograd differentiates:
            compute with operators and autograd.numpy.
        xs: variable or list of variables.
        grad_ys: upstream gradient for each y, of y's shape; 1 by default, so a vector is summed. A
            complex y needs it.
        stop_gradients: variables to take as constants beyond their own derivative. Variables do not
            depend on one another, so nothing changes; inside a loss use `gl.stop_gradient`.
        unconnected_gradients: "none" gives None for an x that no y depends on, "zero" gives zeros.
        name, colocate_gradients_with_ops, gate_gradients, aggregation_method: accepted and without
            effect, because values are computed at once and in one place. An unknown
            aggregation_method is refused.
        strict: "tf" refuses to work outside a `Graph` (RuntimeError), as TensorFlow does.

    Returns:
        a list parallel to xs: arrays (NumPy for NumPy variables), IndexedSlices for rows read by
        `gather`, None. In a `gl.Graph` they're tensors, which each run computes.

    Raises:
        TypeError: a y is not callable, not floating point or complex, or complex without its
            grad_ys; an x is not a variable; a loss uses numpy on a variable.
        ValueError: grad_ys does not fit, or is of another dtype (a TypeError as well).

    Threads may call it on the same variables at once.

    Differs from TensorFlow: the loss is computed again for its derivatives, so in a `gl.Graph` each
    call computes it once more in a run. One that draws random numbers draws others than the loss
    that is fetched beside them. What is assigned is assigned once in a run.

    Source: `tf.gradients`, TensorFlow 2.21 (2026).

    >>> v, w = Variable([1.0, -2.0], name="v"), Variable(1.0, name="w")
    >>> gradients(lambda: (v * v).sum(), [v, w])
    [array([ 2., -4.], dtype=float32), None]
    """
    if unconnected_gradients not in ("none", "zero"):
        raise ValueError(
            f'unconnected_gradients must be "none" or "zero", got {unconnected_gradients!r}'
        )
    if is_strict(strict) and not current_collection().graph:
        raise RuntimeError('gradients works inside a Graph only with strict="tf"; leave strict out')
    check_aggregation(aggregation_method, strict=True)
    losses = listed(ys)
    variables = check_variables(listed(xs), "xs")
    check_variables(listed(stop_gradients or []), "stop_gradients")
    upstream = [None] * len(losses) if grad_ys is None else listed(grad_ys)
    if len(upstream) != len(losses):
        raise ValueError(
            f"grad_ys must have one entry for each y: {len(losses)} ys, {len(upstream)} grad_ys"
        )

    def compute() -> list[Gradient | None]:
        grads = differentiate(losses, variables, upstream)[0]
        if unconnected_gradients == "none":
            return grads
        return [zeros_like(v) if g is None else g for v, g in zip(variables, grads, strict=True)]

    return describe_in_graph(compute)


def describe_in_graph(compute: Callable[[], list[Gradient | None]]) -> list[Gradient | None]:
    """Return gradients; in a Graph, where each run computes them, tensors that stand for them."""
    if not current_collection().graph:
        return compute()
    described: list[Gradient | None] = describe(compute)
    return described


class AggregationMethod:
    """How TensorFlow adds the parts of a gradient that come from several places.

    `ADD_N`, the `DEFAULT`, adds them all at once, `EXPERIMENTAL_TREE` and
    `EXPERIMENTAL_ACCUMULATE_N` in pairs. The memory that TensorFlow needs differs, and the last
    bits may. gradlab takes each of them and adds in the order of JAX, or of autograd.

    Source: `tf.AggregationMethod`, TensorFlow 2.21 (2026).

    >>> v = Variable([3.0])
    >>> tree = AggregationMethod.EXPERIMENTAL_TREE
    >>> gradients(lambda: v * v + v, [v], aggregation_method=tree)
    [array([7.], dtype=float32)]
    """

    ADD_N = 0
    DEFAULT = ADD_N
    EXPERIMENTAL_TREE = 1
    EXPERIMENTAL_ACCUMULATE_N = 2


_METHODS = (
    AggregationMethod.ADD_N,
    AggregationMethod.EXPERIMENTAL_TREE,
    AggregationMethod.EXPERIMENTAL_ACCUMULATE_N,
)


def check_aggregation(method: int | None, strict: bool) -> None:
    """ValueError for an unknown `tf.AggregationMethod`, which eager TensorFlow ignores."""
    if strict and method not in (None, *_METHODS):
        raise ValueError(f"aggregation_method must be None, 0, 1 or 2, got {method!r}")


def zeros_like(v: Variable) -> Array:
    return namespace(v._value).zeros(v.shape, v.dtype)


def listed(x: Any) -> list[Any]:
    """Return a list of what may be one thing or several."""
    return list(x) if isinstance(x, list | tuple) else [x]


def check_variables(items: Sequence[Any], what: str) -> list[Variable]:
    """Return the items, if all of them are Variables (NotAVariableError)."""
    for v in items:
        if not isinstance(v, Variable):
            message = f"{what} must be gradlab Variables, got {type(v).__name__}"
            if isinstance(v, Tensor):
                message += "; derivatives by what is computed from variables aren't here"
            elif isinstance(v, np.ndarray | np.generic):
                message += "; a NumPy array is a constant to a loss, make it a gl.Variable"
            elif hasattr(v, "dtype"):
                message += "; an array is a constant to a loss, make it a gl.Variable"
            raise NotAVariableError(message)
    return list(items)


def differentiate_touched(loss: Loss, upstream: Any) -> GradsAndVars:
    """Gradients of a loss for the trainable variables of the current collection that it reads."""
    candidates = [v for v in current_collection() if v.trainable and is_inexact(v.dtype)]
    grads, read = differentiate([loss], candidates, [upstream])
    return [(g, v) for g, v in zip(grads, candidates, strict=True) if id(v) in read]


def differentiate(
    losses: Sequence[Loss],
    variables: Sequence[Variable],
    upstream: Sequence[Any],
    at: dict[Variable, Array] | None = None,
    complex_losses: bool = False,
) -> tuple[list[Gradient | None], set[int]]:
    """Return a gradient for each variable, and the ids of the variables that were read.

    Args:
        losses: what is differentiated, together.
        variables: with respect to what.
        upstream: a gradient for each loss, or None.
        at: other values of variables to compute with.
        complex_losses: whether a loss without a gradient upstream may be complex, as for
            TensorFlow's tape.
    """
    register()
    fixed = at or {}
    active = [v for v in dict.fromkeys(variables) if is_inexact(v.dtype)]
    wide = any(is_double(v.dtype) for v in (*active, *fixed))
    with ExitStack() as loans, precision(np.float64 if wide else np.float32):
        inputs = [fixed[v] if v in fixed else _borrow(v, loans) for v in active]
        others = [v for v in fixed if v not in active]
        tapes: list[LossTape] = []

        def run(values: list[Array]) -> list[Array]:
            with LossTape([*active, *others], [*values, *(fixed[v] for v in others)]) as tape:
                tapes.append(tape)
                return [compute_loss(loss) for loss in losses]

        outputs, pullback = differentiator().vjp(run, inputs)
        cotangents = [
            read_upstream(u, y, complex_losses) for u, y in zip(upstream, outputs, strict=True)
        ]
        dense = pullback(cotangents)
        read = tapes[0].read_whole | tapes[0].read_rows
        gradient_of = {
            v: _conjugate(_gradient(tapes[0], v, g, partial(pullback.depends, cotangents, i)))
            for i, (v, g) in enumerate(zip(active, dense, strict=True))
        }
    return [gradient_of.get(v) for v in variables], read


def _borrow(v: Variable, loans: ExitStack) -> Array:
    """Return the value of v.

    A JAX table that is only gathered from can be stepped in place afterwards.
    """
    if is_jax(v._value):
        return loans.enter_context(v._buffer.lend())
    return v._buffer.share()  # JAX may read NumPy's memory later than it returns


def compute_loss(loss: Loss) -> Array:
    """Run a loss; TypeError or ValueError for one that can't be differentiated."""
    if not callable(loss):
        raise TypeError(
            "a loss must be a function without arguments, got "
            f"{type(loss).__name__}: write lambda: ..."
        )
    try:
        y = loss()
    except Exception as error:
        differentiator().explain(error)
        raise
    if y is None:
        raise ValueError("the loss returned None; return the value to differentiate")
    value = as_array(y, "the loss")
    if not is_inexact(value.dtype):
        raise DTypeError(f"a loss must be floating point, got {value.dtype}")
    return value


def read_upstream(u: Any, y: Array, complex_losses: bool) -> Array:
    """Return the gradient upstream of a loss, checked: ones where none is given."""
    if u is None and is_complex(y.dtype) and not complex_losses:
        raise DTypeError(
            f"a loss is {y.dtype}: give the gradient upstream of it, of its "
            "dtype, or return a real number"
        )
    if u is None:
        return namespace(y).ones_like(y)
    array = as_array(u, "grad_ys")
    if tuple(array.shape) != tuple(y.shape):
        raise InvalidArgumentError(
            f"an upstream gradient has shape {tuple(array.shape)}, its loss has shape "
            f"{tuple(y.shape)}"
        )
    if hasattr(u, "dtype") and array.dtype != y.dtype:
        raise DTypeError(
            f"an upstream gradient is {array.dtype}, its loss is {y.dtype}; cast one of them"
        )
    return namespace(y).asarray(array, y.dtype).conj()


def _gradient(
    tape: LossTape, v: Variable, dense: Array | None, depends: Callable[[], bool]
) -> Gradient | None:
    """Return one variable's gradient in the form that TensorFlow gives it.

    Args:
        tape: what the loss read.
        v: the variable.
        dense: what was differentiated through arrays; None, or zeros, where nothing was.
        depends: whether the loss depends on v; where it doesn't, the derivative is zeros, too.

    Returns:
        IndexedSlices if the loss gathered rows of v and nothing else, else an array, or None.
    """
    gathers = sorted(tape.slices.get(id(v), []), key=lambda gather: gather[0])
    slices = [(indices, rows) for _, indices, rows in gathers]
    has_dense_part = id(v) in tape.read_whole or id(v) in tape.dense_rows
    if slices:
        joined = _join_slices(v, slices)
        if not has_dense_part or dense is None:
            return joined
        return _match_library(v, dense + namespace(dense).asarray(joined.to_dense()))
    was_read = has_dense_part or id(v) in tape.read_rows
    if not was_read or dense is None:
        return None
    # Zeros are compared first, because `depends` traces the derivative again.
    if not is_traced(dense) and not dense.any() and not depends():
        return None
    return _match_library(v, dense)


def _join_slices(v: Variable, slices: list[tuple[Array, Array]]) -> IndexedSlices:
    """Return the slices of all gathers of v one after another, as TensorFlow does: not merged."""
    indices, values = (namespace(*parts).concatenate(parts) for parts in zip(*slices, strict=True))
    return IndexedSlices(_match_library(v, values), _match_library(v, indices), v.shape)


def _conjugate(g: Gradient | None) -> Gradient | None:
    """Return TensorFlow's derivative from JAX's: of complex numbers it's the conjugate."""
    if g is None or not is_complex(g.dtype):
        return g
    return g.with_values(g.values.conj()) if isinstance(g, IndexedSlices) else g.conj()


def _match_library(v: Variable, x: Array) -> Array:
    """Return an array of NumPy for a variable of NumPy's."""
    return x if is_jax(v._value) or is_traced(x) else np.asarray(x)
