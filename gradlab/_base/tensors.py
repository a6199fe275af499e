"""Tensors: values that are described once and computed at every run, as in TensorFlow 1's graphs.

A `Tensor` holds a function that computes its value, and the value that it had when it was made,
which gives its shape and dtype. Calling it computes the value, for one run once: `new_run` opens a
run, and everything that is computed inside sees the same numbers.

Operators, NumPy's functions and those of gradlab that are `deferrable` make a new tensor of tensors
while no run is open, and compute at once inside of one. So a loss that a tensor describes is, like
every loss, a function without arguments.

What is here knows no variables: a `Described` object says whether it belongs to a graph, or to a
tape, that is being described.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import Context, ContextVar, copy_context
from typing import Any, NoReturn, ParamSpec, TypeVar

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from .arrays import Array, as_array, is_jax, is_traced, namespace
from .slices import IndexedSlices

P = ParamSpec("P")
R = TypeVar("R")


class _Run:
    """What one run has computed.

    Args:
        is_replay: whether recorded tensors are computed again, not taken at their recorded value.
        is_description: whether only shapes and dtypes are of use, so that updates aren't done.
        outer: the context in which a run that is part of another one does its updates.
    """

    def __init__(self, is_replay: bool, is_description: bool, outer: Context | None) -> None:
        self.values: dict[Any, Any] = {}
        self.is_replay = is_replay
        self.is_description = is_description
        self.outer = outer

    def has(self, tensor: Tensor) -> bool:
        """Tell whether a tensor needs no more computing."""
        return tensor in self.values or (tensor._is_recorded and not self.is_replay)


_run: ContextVar[_Run | None] = ContextVar("gradlab_run", default=None)
recorder: ContextVar[Any] = ContextVar("gradlab_recorder", default=None)  # a GradientTape


_PYTHON_NUMBERS = frozenset({bool, int, float, complex})

# NumPy's functions of a shape, which is known without a run, and while a loss is traced.
SHAPE_FUNCTIONS: dict[Any, Callable[[tuple[int, ...]], Any]] = {
    np.shape: tuple,
    np.ndim: len,
    np.size: math.prod,
}


class Described:
    """A tensor or a variable."""

    @property
    def is_described(self) -> bool:
        """Whether what is done with it now makes a tensor, rather than a value."""
        raise NotImplementedError(f"{type(self).__name__} must define is_described")

    def _compute_in_runs(self, function: Callable[..., Any], *args: Any) -> Any:
        """Return `function(*args)` as each run computes it, for slices, which don't know tensors."""
        return describe(function, *args)


class Tensor(Described, NDArrayOperatorsMixin):
    """A value of a `gl.Graph`, or of a `gl.GradientTape`: described once, computed when it's run.

    In a Graph operators on variables, `gl.gradients`, the clips and an optimizer's
    `compute_gradients` give tensors, and so does every NumPy function of a tensor. A tensor is a
    loss for `gl.gradients` and `minimize`. Its value is what `gl.Session.run`, `eval` or a call
    computes from the variables at that moment; under a GradientTape it is what it was on the tape.

    Args:
        compute: function without arguments that computes the value.
        first: the value now, which gives shape and dtype.
        is_recorded: whether this stays the value, as under a GradientTape.
        inputs: tensors that it's computed from.

    Differs from TensorFlow: NumPy's functions work on it (`np.mean(loss)`), TensorFlow's own math
    isn't there. Shapes are known, because each value is computed once when it's described.

    Source: `tf.Tensor`, TensorFlow 2.21 (2026).

    >>> import gradlab as gl
    >>> with gl.Graph().as_default():
    ...     v = gl.Variable([1.0, 2.0])
    ...     double = v * 2
    ...     update = gl.assign(v, double + 1)
    ...     with gl.Session() as sess:
    ...         sess.run(double), sess.run(update), sess.run(double)
    (array([2., 4.], dtype=float32), array([3., 5.], dtype=float32), array([ 6., 10.], dtype=float32))
    """

    __array_priority__ = 100

    def __init__(
        self,
        compute: Callable[[], Any],
        first: Any,
        is_recorded: bool = False,
        inputs: Sequence[Tensor] = (),
    ) -> None:
        self._compute = compute
        self._initial_value = first
        self._is_recorded = is_recorded
        self._inputs = tuple(inputs)

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the value."""
        return tuple(np.shape(self._initial_value))

    @property
    def dtype(self) -> Any:
        """The dtype of the value."""
        return as_array(self._initial_value).dtype

    @property
    def is_described(self) -> bool:
        if is_running():
            return False
        # What a tape has recorded is a value, as soon as the tape ends.
        return not self._is_recorded or recorder.get() is not None

    def __call__(self) -> Any:
        """Compute the value; in one run once."""
        run = _run.get()
        if run is None:
            with new_run():
                return self()
        if self._is_recorded and not run.is_replay:
            return self._initial_value
        # Inputs first, or a long program would be deeper than Python's stack.
        waiting = [self]
        while waiting:
            missing = [x for x in waiting[-1]._inputs if not run.has(x)]
            if missing:
                waiting.extend(missing)
            else:
                tensor = waiting.pop()
                if tensor not in run.values:
                    run.values[tensor] = tensor._compute_in(run)
        return run.values[self]

    def _compute_in(self, run: _Run) -> Any:
        """Compute the value in a run that has the inputs."""
        return self._compute()

    def eval(self, session: Any = None) -> Any:
        """Compute the value, as `Session.run` does; sessions have no variables of their own."""
        return to_numpy(self())

    def numpy(self) -> Any:
        """Compute the value as NumPy's."""
        return to_numpy(self())

    def __repr__(self) -> str:
        return f"<gradlab.Tensor shape={self.shape} dtype={self.dtype}>"

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.array(self(), dtype=dtype, copy=copy)

    def __jax_array__(self) -> Array:
        if self.is_described:
            refuse_jax("a tensor")
        return as_array(self())

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        return _defer(functools.partial(apply_ufunc, ufunc, method), *inputs, **kwargs)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if function in SHAPE_FUNCTIONS and args == (self,):
            return SHAPE_FUNCTIONS[function](self.shape)
        return _defer(functools.partial(apply_function, function), *args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        message = f"'Tensor' object has no attribute {name!r}"
        if hasattr(np.ndarray, name) and not name.startswith("_"):
            message += "; use NumPy's functions, such as np.sum(x) or np.reshape(x, shape)"
        raise AttributeError(message)

    def __getitem__(self, index: Any) -> Any:
        return _defer(lambda x, i: x[i], self, index)

    def __format__(self, spec: str) -> str:
        return format(self.numpy(), spec)

    def __len__(self) -> int:
        return self.shape[0]

    def __iter__(self) -> Iterator[Any]:
        return (self[k] for k in range(len(self)))

    def __float__(self) -> float:
        self._check_has_value("float")
        return float(self())

    def __int__(self) -> int:
        self._check_has_value("int")
        return int(self())

    def __bool__(self) -> bool:
        self._check_has_value("bool")
        return bool(self())

    def _check_has_value(self, kind: str) -> None:
        """TypeError for a tensor of a Graph: `if loss > 0:` would decide once, for all runs."""
        if not self._is_recorded and not is_running():
            refuse_python_value("a tensor", kind)

    # Keys of dictionaries, as in TensorFlow 1.
    __eq__ = object.__eq__
    __ne__ = object.__ne__
    __hash__ = object.__hash__


def refuse_jax(what: str) -> NoReturn:
    """Raise TypeError for what would be taken for a constant, so that its derivative was lost."""
    raise TypeError(
        f"{what} of a Graph or a GradientTape has no value while it's described. Compute with "
        "operators and NumPy's functions, np.mean(x); describe the loss as a function, lambda: "
        "jnp.mean(x); or take its value now, x.eval()"
    )


def refuse_python_value(what: str, kind: str) -> NoReturn:
    """Raise TypeError, as TensorFlow does, where Python wants a number of what a graph describes."""
    raise TypeError(
        f"{what} of a Graph can't be a Python `{kind}`, because each run computes it again. Use its "
        "value in a run, sess.run(x), or its value now, x.eval()"
    )


class Update(Tensor):
    """A tensor that changes a variable when it's computed: in one run once.

    A derivative computes its loss again, in a run of its own (`is_part`). The update is done in the
    run around that one, where it may have been done before, and its value is a constant to the
    derivative, as that of `tf.compat.v1.assign`.
    """

    def _compute_in(self, run: _Run) -> Any:
        if run.is_description:
            return self._initial_value
        if run.outer is not None:
            return run.outer.run(self)
        return self._compute()


def is_running() -> bool:
    """Tell whether a run is open."""
    return _run.get() is not None


@contextmanager
def new_run(
    is_replay: bool = False, is_description: bool = False, is_part: bool = False
) -> Iterator[None]:
    """Open a run: what is computed inside computes each tensor once.

    Args:
        is_replay: whether recorded tensors are computed again, not taken at their recorded value.
        is_description: whether only shapes and dtypes are of use, so that updates aren't done.
        is_part: whether updates are done in the run around this one.
    """
    outer = copy_context() if is_part else None
    token = _run.set(_Run(is_replay, is_description, outer))
    try:
        yield
    finally:
        _run.reset(token)


def compute_once(key: Any, compute: Callable[[], Any]) -> Any:
    """Return what `compute` gives, for one key once in the run that is open, or in one of its own."""
    run = _run.get()
    if run is None:
        with new_run():
            return compute()
    if key not in run.values:
        run.values[key] = compute()
    return run.values[key]


def compute_now(x: Any) -> Any:
    """Return `x` with the value of each tensor in its lists, tuples, dicts and slices, all of one run."""
    if not is_running():
        with new_run():
            return compute_now(x)
    return map_leaves(lambda leaf: leaf() if isinstance(leaf, Tensor) else leaf, x)


def take_first(x: Any) -> Any:
    """Return `x` with the value that each tensor in it had when it was described."""
    return map_leaves(lambda leaf: leaf._initial_value if isinstance(leaf, Tensor) else leaf, x)


def describe(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Return `function(*args, **kwargs)`, computed at every run: a tensor, or a tree of tensors.

    Inside a run it's computed at once. Outside, it's computed once too: so errors come where the
    mistake is, and the result has a structure, shapes and dtypes.
    """

    def compute() -> Any:
        return function(*compute_now(args), **compute_now(kwargs))

    if is_running():
        return compute()
    with new_run(is_description=True):
        # Not the values now: that would compute all that comes before at each description.
        first = function(*take_first(args), **take_first(kwargs))
    inputs = [x for x in _list_leaves((args, kwargs)) if isinstance(x, Tensor)]
    return _split(first, Tensor(compute, first, recorder.get() is not None, inputs), ())


def _split(first: Any, whole: Tensor, path: tuple[Any, ...]) -> Any:
    """Return a tensor for each array in the value of `whole`."""
    if isinstance(first, list | tuple):
        return rebuild_like(first, [_split(x, whole, (*path, k)) for k, x in enumerate(first)])
    if isinstance(first, IndexedSlices):
        values, indices = (
            _split(getattr(first, name), whole, (*path, name)) for name in ("values", "indices")
        )
        return first.with_parts(values, indices)
    if first is None:
        return None
    if not path:
        return whole
    return Tensor(lambda: _pick(whole(), path), first, whole._is_recorded, [whole])


def _pick(value: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        value = getattr(value, key) if isinstance(key, str) else value[key]
    return value


def map_leaves(change: Callable[[Any], Any], x: Any) -> Any:
    """Return `x` with `change(leaf)` for everything in its lists, tuples, dicts and slices."""
    if isinstance(x, list | tuple):
        return rebuild_like(x, [map_leaves(change, item) for item in x])
    if isinstance(x, dict):
        return {key: map_leaves(change, item) for key, item in x.items()}
    if isinstance(x, IndexedSlices):
        values = change(x.values)
        indices = change(x.indices)
        if values is x.values and indices is x.indices:
            return x
        return x.with_parts(values, indices)
    return change(x)


def rebuild_like(sequence: Any, items: Sequence[Any]) -> Any:
    """Return a list, tuple or named tuple, of the type of `sequence`, of these items."""
    kind = type(sequence)
    if hasattr(sequence, "_fields"):  # a named tuple
        return kind(*items)
    return kind(items)


def deferrable(function: Callable[P, R]) -> Callable[P, R]:
    """Decorate a function of arrays: of tensors, and of variables of a Graph, it makes tensors.

    The types say arrays, because that is what most callers have.
    """

    @functools.wraps(function)
    def wrapper(*args: P.args, **kwargs: P.kwargs) -> R:
        if _is_any_described(args) or _is_any_described(kwargs.values()):
            described: R = describe(function, *args, **kwargs)
            return described
        return function(*args, **kwargs)

    return wrapper


def _defer(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    if _is_any_described(args) or _is_any_described(kwargs.values()):
        return describe(function, *args, **kwargs)
    return function(*compute_now(args), **compute_now(kwargs))


def _is_any_described(items: Any) -> bool:
    for x in items:
        if type(x) is np.ndarray:  # the usual case
            continue
        if isinstance(x, Described):
            if x.is_described:
                return True
        elif isinstance(x, list | tuple):
            # Numbers alone are data, and may be many.
            if not _PYTHON_NUMBERS.issuperset(map(type, x)) and _is_any_described(x):
                return True
        elif isinstance(x, dict):
            if _is_any_described(x.values()):
                return True
        elif isinstance(x, IndexedSlices):
            parts = (x.values, x.indices)
            if not is_running() and any(isinstance(part, Tensor) for part in parts):
                return True
    return False


def apply_ufunc(ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
    """Return what a NumPy ufunc computes, for JAX's and traced values what JAX's or autograd's does."""
    values = [as_array(x) if isinstance(x, Described) else x for x in inputs]
    if method == "__call__" and any(is_jax(x) or is_traced(x) for x in values):
        return getattr(namespace(*values), ufunc.__name__)(*values, **kwargs)
    return getattr(ufunc, method)(*values, **kwargs)


def apply_function(function: Any, *args: Any, **kwargs: Any) -> Any:
    """Return what a function of NumPy's computes, or JAX's or autograd's function of its name."""
    args, kwargs = map_leaves(_read_described, (args, kwargs))
    xp: Any = namespace(*_list_leaves((args, kwargs)))
    if xp is np:
        return function(*args, **kwargs)
    for part in function.__module__.split(".")[1:]:  # numpy.linalg
        xp = getattr(xp, part)
    return getattr(xp, function.__name__)(*args, **kwargs)


def _read_described(x: Any) -> Any:
    return as_array(x) if isinstance(x, Described) else x


def _list_leaves(x: Any) -> list[Any]:
    leaves: list[Any] = []
    map_leaves(leaves.append, x)
    return leaves


def to_numpy(x: Any) -> Any:
    """Return an array as NumPy's own, a scalar as one of NumPy's scalars, as `Session.run` does."""
    return unwrap_scalar(np.array(x))


def unwrap_scalar(array: np.ndarray) -> Any:
    """Return an array without axes as one of NumPy's scalars, others as they are."""
    return array[()] if array.shape == () else array
