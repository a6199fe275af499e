"""Variables and the collections they are in."""

from __future__ import annotations

import re
import sys
import threading
import weakref
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from .._base.arrays import (
    Array,
    as_array,
    is_boxed,
    is_jax,
    is_traced,
    namespace,
    native_dtype,
    precision,
)
from .._base.forks import renew_in_child
from .._base.tensors import (
    SHAPE_FUNCTIONS,
    Described,
    Tensor,
    Update,
    apply_function,
    apply_ufunc,
    compute_now,
    describe,
    is_running,
    map_leaves,
    recorder,
    refuse_jax,
    refuse_python_value,
    take_first,
    unwrap_scalar,
)
from ..errors import InvalidArgumentError
from .buffers import Buffer

_tape: ContextVar[Any] = ContextVar("gradlab_tape", default=None)
# The memo of `copy.deepcopy` has ids of objects for keys. Under the id of this one `copies.follow`
# keeps its list.
FOLLOWERS = object()


if TYPE_CHECKING:

    class _Operators:
        """The operators of the mixin, which NumPy leaves untyped."""

        def _unary(self) -> Array: ...
        def _binary(self, other: Any) -> Array: ...

        __neg__ = __pos__ = __abs__ = __invert__ = _unary
        __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = (
            __rtruediv__
        ) = _binary
        __matmul__ = __rmatmul__ = __pow__ = __rpow__ = __floordiv__ = __rfloordiv__ = __mod__ = (
            __rmod__
        ) = _binary
        __lt__ = __le__ = __gt__ = __ge__ = __and__ = __or__ = __xor__ = __rand__ = __ror__ = (
            __rxor__
        ) = _binary

else:
    _Operators = NDArrayOperatorsMixin


class Variable(Described, _Operators):
    """An array that keeps its name, dtype and shape while its value changes.

    Args:
        initial_value: array, number, list, or a function returning one. NumPy stays NumPy, JAX
            stays JAX.
        trainable: whether `trainable_variables()` lists it.
        name: shown as "name:0", TensorFlow's way; "Variable", "Variable_1", ... by default.
        dtype: what to convert to; by default the array's own, and float32 for Python floats.
        constraint: function from value to value that runs after each dense update.
        collections: names of the collections of a `gl.Graph` that it's in, by default
            `["variables"]`. Only those of "variables" are in `gl.global_variables()`.
        validate_shape: no effect, because each initial value has a shape.

    Raises: ValueError or TypeError as for arrays: None, ragged lists, strings. ValueError:
    `collections` isn't a list, tuple, or set.

    Usable in NumPy and jax.numpy expressions. `value` is a read-only array that never changes: an
    update makes a new one, or writes into memory that was never handed out. So several threads may
    read and differentiate one variable. A step by rows copies the table if `value` was read since
    the last step; `v[ids]`, `v.numpy()` and `v.eval()` don't cost that. Arrays of the other byte
    order become this machine's. After Ctrl-C in the middle of an update, and in a child forked
    while another thread was in the middle of one, make a new variable. Source: `tf.Variable`,
    TensorFlow 2.21 (2026).

    >>> v = Variable([1.0, 2.0], name="v")
    >>> (v * 2 + np.ones(2, np.float32)).tolist(), v.name
    ([3.0, 5.0], 'v:0')
    """

    # Other modules of gradlab use these two, `_graph_key`, `_value` and `_fitting`.
    _lock: threading.RLock  # held by a step from its first read to its last write
    _buffer: Buffer

    def __init__(
        self,
        initial_value: Any,
        trainable: bool = True,
        name: str | None = None,
        dtype: Any = None,
        constraint: Callable[[Array], Array] | None = None,
        *,
        collections: Iterable[str] | None = None,
        validate_shape: bool = True,
    ) -> None:
        if collections is None:
            collections = ("variables",)
        elif not isinstance(collections, list | tuple | set):
            raise ValueError(
                "collections argument to Variable constructor must be a list, tuple, or set. Got "
                f"{collections} of type {type(collections)}"
            )
        if callable(initial_value):
            initial_value = initial_value()
        value = as_array(initial_value, "initial_value")
        if dtype is not None:
            value = value.astype(native_dtype(dtype))
        collection = current_collection()
        if name is None or collection.graph:
            name = collection.unique_name(name or "Variable")
        self.name = f"{name}:0"
        self.trainable = trainable
        self.constraint = constraint
        self.collections = frozenset(collections)
        self._set_up(_freeze(value))
        self._graph_key = collection.graph_key
        collection.add(self)
        register()

    @property
    def path(self) -> str:
        """The name as Keras 3 has it, without ":0"."""
        return self.name.removesuffix(":0")

    def _set_up(self, value: Array) -> None:
        renew_in_child(self, "_lock")
        # A NumPy value was copied; a JAX value is still held by the caller.
        self._buffer = Buffer(value, is_shared=is_jax(value))

    @property
    def _value(self) -> Array:
        """The array now, for gradlab alone.

        A step may write into it. What is kept, or given to a user, comes from `_buffer.share`.
        """
        array: Array = self._buffer.array
        return array

    @_value.setter
    def _value(self, value: Array) -> None:
        self._buffer.replace(value)

    @property
    def value(self) -> Array:
        """The array now, which never changes; while a gradient is being computed, the value to differentiate."""
        tape = _tape.get()
        if tape is not None:
            read: Array = tape.read(self)
            return read
        value = self._buffer.share()
        recording = recorder.get()
        if recording is not None:
            recording.note_read(self, value)
        return value

    @property
    def is_described(self) -> bool:
        """Whether what is done with it now makes a `gl.Tensor`: in a Graph, or on a GradientTape."""
        if is_running():
            return False
        return current_collection().graph or recorder.get() is not None

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self._value.shape)

    @property
    def dtype(self) -> np.dtype[Any]:
        return np.dtype(self._value.dtype)

    def numpy(self) -> np.ndarray:
        """A copy of the value as a NumPy array."""
        return self._buffer.copy()

    def eval(self, session: Any = None) -> Any:
        """Return the value, as `gl.Session.run` does; sessions have no variables of their own."""
        # A copy, because after `share` the next step would need new memory.
        return unwrap_scalar(self.numpy())

    def assign(self, value: Any) -> Any:
        """Set the value, cast to this dtype.

        Returns:
            the variable; in a `gl.Graph`, where this is done when it's run, a `gl.Tensor` of the
            new value.

        Raises:
            InvalidArgumentError: another shape.
        """
        return self._update_by(lambda x: x, value)

    def assign_add(self, delta: Any) -> Any:
        """value = value + delta, in one piece for other threads; for the rest as `assign`."""
        return self._update_by(lambda x: self._value + self._fitting(x), delta)

    def assign_sub(self, delta: Any) -> Any:
        """value = value - delta, in one piece for other threads; for the rest as `assign`."""
        return self._update_by(lambda x: self._value - self._fitting(x), delta)

    def _update_by(self, new_value: Callable[[Any], Array], operand: Any) -> Any:
        """Set the value to `new_value(operand)`, now or, in a Graph, when it's run."""
        collection = current_collection()
        if collection.graph and not is_running():
            return collection.describe_update(
                lambda: self._update_now(new_value, compute_now(operand)).value,
                lambda: self._fitting(new_value(take_first(operand))),
            )
        return self._update_now(new_value, operand)

    def _update_now(self, new_value: Callable[[Any], Array], operand: Any) -> Variable:
        with self._lock, precision(self.dtype):
            new = self._fitting(new_value(operand))
            self._buffer.replace(_freeze(new), is_shared=is_jax(new))
        return self

    def load(self, value: Any, session: Any = None) -> None:
        """Set the value as `assign` does, in a Graph too at once."""
        self._update_now(lambda x: x, value)

    def _fitting(self, value: Any) -> Array:
        """Return `value` as an array of this variable's library and dtype.

        InvalidArgumentError for another shape.
        """
        new = as_array(value, f"the value for {self.name}")
        if tuple(new.shape) != self.shape:
            raise InvalidArgumentError(
                f"{self.name} has shape {self.shape}, got a value of shape {tuple(new.shape)}"
            )
        with precision(self.dtype):
            xp = namespace(self._value)
            if namespace(new) is xp:
                return new.astype(self.dtype, copy=False)
            return xp.asarray(_refuse_followed(new), self.dtype)

    def __getstate__(self) -> dict[str, Any]:
        """Return all but what belongs to this process, such as the lock."""
        return {
            "value": self._buffer.share(),
            "name": self.name,
            "trainable": self.trainable,
            "constraint": self.constraint,
            "collections": self.collections,
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Join the current collection under the same name; in a Graph, where names are unique, under one like it."""
        collection = current_collection()
        self._set_up(_freeze(state["value"]))
        self._graph_key = collection.graph_key
        self.name = state["name"]
        self.trainable = state["trainable"]
        self.constraint = state["constraint"]
        self.collections = state["collections"]
        if collection.graph:
            name = self.name.removesuffix(":0")
            self.name = f"{collection.unique_name(name)}:0"
        collection.add(self)
        register()

    def __copy__(self) -> Variable:
        """Return a variable of its own: an assignment to one must not change the other."""
        return self.__deepcopy__({})

    def __deepcopy__(self, memo: dict[int, Any]) -> Variable:
        """Return a variable of the same name and value, in the current collection; the constraint is shared."""
        new = memo[id(self)] = object.__new__(type(self))
        new.__setstate__(self.__getstate__())
        for follower in memo.get(id(FOLLOWERS), []):
            follower._follow(self, new)
        return new

    def __repr__(self) -> str:
        return f"<gradlab.Variable {self.name!r} shape={self.shape} dtype={self.dtype}>"

    def read_now(self) -> Array:
        """Return `value`, for gradlab's functions, which know what they do with it."""
        return self.value

    def __jax_array__(self) -> Array:
        if self.is_described:
            refuse_jax(self.name)
        return self.value

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        if is_traced(self.value):
            raise TypeError(
                f"{self.name} is being differentiated: write the loss with jax.numpy, not with "
                "numpy; where JAX is not installed, with operators, or "
                "with autograd.numpy on its value"
            )
        return np.array(self.value, dtype=dtype, copy=copy)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if any(isinstance(x, Variable) for x in kwargs.get("out", ())):
            raise RuntimeError(
                "a Variable cannot be changed in place: use "
                "v.assign_add(x), or v = v + x for an array"
            )
        if self.is_described:
            return describe(partial(apply_ufunc, ufunc, method), *inputs, **kwargs)
        return apply_ufunc(ufunc, method, *inputs, **kwargs)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if function in SHAPE_FUNCTIONS and args == (self,):
            return SHAPE_FUNCTIONS[function](self.shape)
        if self.is_described:
            return describe(partial(apply_function, function), *args, **kwargs)
        args, kwargs = map_leaves(_to_array, (args, kwargs))
        return function(*args, **kwargs)

    def __getitem__(self, index: Any) -> Array:
        if self.is_described:
            rows: Array = describe(lambda i: self.value[i], index)
            return rows
        return self._buffer.take(index) if _tape.get() is None else self.value[index]

    def __iter__(self) -> Iterator[Array]:
        if self.is_described:
            return (self[k] for k in range(len(self)))
        return iter(self.value)

    def __len__(self) -> int:
        return self.shape[0]

    def __float__(self) -> float:
        return float(self.value)

    def __int__(self) -> int:
        return int(self.value)

    def __bool__(self) -> bool:
        if current_collection().graph and not is_running():
            refuse_python_value(self.name, "bool")
        return bool(self.value)

    # Variables are dict keys, so == is identity; compare values with `.value ==`.
    __eq__ = object.__eq__
    __ne__ = object.__ne__
    __hash__ = object.__hash__


def register() -> None:
    """Make variables and tensors among the arguments of a JAX function stand for their values."""
    jax = sys.modules.get("jax")
    if jax is None or getattr(Variable, "_registered", False):
        return
    Variable._registered = True  # type: ignore[attr-defined]
    for kind in (Variable, Tensor, Update):
        jax.tree_util.register_pytree_node(
            kind, lambda x: ((x.__jax_array__(),), None), lambda _, values: values[0]
        )


def _to_array(x: Any) -> Any:
    return np.asarray(x) if isinstance(x, Variable) else x


def _freeze(value: Array) -> Array:
    """Return a read-only copy; JAX's arrays are immutable and stay."""
    if is_jax(value):
        return value
    value = np.array(_refuse_followed(value))
    value.flags.writeable = False
    return value


def _refuse_followed(value: Array) -> Array:
    """Return the value; TypeError for one that autograd follows, and that a variable would keep alive."""
    if is_boxed(value):
        raise TypeError(
            "a value that is being differentiated cannot be kept in a "
            "Variable; return it from the loss"
        )
    return value


class GraphKey:
    """Says which graph a variable is of, and keeps no graph alive."""


_EAGER = GraphKey()


class Collection:
    """The variables made while it is current, by weak reference, and their global step.

    `with gl.variable_collection():` gives an empty one of its own; leaving it brings the outer one
    back.
    """

    graph = False  # whether updates wait until they're run, and names are unique
    graph_key = _EAGER  # variables outside of a Graph count as those of one

    def __init__(self) -> None:
        self._variables: list[weakref.ref[Variable]] = []
        self._names: set[str] = set()
        self._lock: threading.RLock
        renew_in_child(self, "_lock")
        self.global_step: Variable | None = None

    def unique_name(self, name: str) -> str:
        """Take `name`, or `name_1`, `name_2`, ... if it is taken."""
        with self._lock:
            candidate = self.next_name(name)
            self._names.add(candidate)
            return candidate

    def next_name(self, name: str) -> str:
        """Return what `unique_name` would give, and leave the name free."""
        with self._lock:
            candidate = name
            n = 0
            while candidate in self._names:
                n += 1
                candidate = f"{name}_{n}"
            return candidate

    def add(self, variable: Variable) -> None:
        with self._lock:
            self._variables = [r for r in self._variables if r() is not None]
            self._variables.append(weakref.ref(variable))

    def __iter__(self) -> Iterator[Variable]:
        with self._lock:
            alive = [r() for r in self._variables]
        return iter([v for v in alive if v is not None])

    def check_scope(self, name: Any) -> None:
        """Refuse what can't name an operation; outside a Graph no operation is named."""

    def finish(self, run: Callable[[], Any], name: str) -> Any:
        """Do an update at once and return None. A Graph returns an Operation that does it."""
        run()

    def fetch(self, run: Callable[[], Any], name: str) -> Any:
        """Do an update at once and return its result. A Graph returns an Operation that does it."""
        return run()

    def describe_update(self, run: Callable[[], Any], first: Callable[[], Any]) -> Any:
        """Describe the assignment of a variable: in a Graph, where it waits."""
        raise NotImplementedError(f"{type(self).__name__} must define describe_update()")


_current: ContextVar[Collection] = ContextVar("gradlab_collection")
_outermost = Collection()


def current_collection(otherwise: Collection | None = None) -> Collection:
    """Return the collection of this thread; where it has none, as threads start, `otherwise` or the outermost."""
    return _current.get(_outermost if otherwise is None else otherwise)


@contextmanager
def enter_collection(collection: Collection) -> Iterator[Collection]:
    """Make `collection` the current one of this thread."""
    token = _current.set(collection)
    try:
        yield collection
    finally:
        _current.reset(token)


def is_outermost(collection: Collection) -> bool:
    """Tell whether this is the collection of threads that have entered none."""
    return collection is _outermost


def replace_outermost(collection: Collection) -> None:
    """Make `collection` the one of threads that have entered none."""
    global _outermost
    _outermost = collection


def variable_collection() -> AbstractContextManager[Collection]:
    """Context manager: variables made inside are not seen outside, nor the other way round.

    Not in TensorFlow, where every `tf.Graph` has collections; a `gl.Graph` is one of these too.

    >>> import gradlab as gl
    >>> with variable_collection():
    ...     v = gl.Variable(1.0, name="inside")
    ...     len(gl.trainable_variables())
    1
    """
    return enter_collection(Collection())


def trainable_variables(scope: str | None = None) -> list[Variable]:
    """Return the trainable variables of the current collection, in order of creation.

    Args:
        scope: regular expression, matched at the start of the name.

    Differs from TensorFlow: variables that nothing else refers to are gone.

    Source: `tf.compat.v1.trainable_variables`.

    >>> import gradlab as gl
    >>> with gl.variable_collection():
    ...     a, b = Variable(0.0, name="a1"), Variable(0.0, name="b1")
    ...     [v.name for v in trainable_variables(".*b")]
    ['b1:0']
    """
    pattern = re.compile(scope or "")
    return [v for v in current_collection() if v.trainable and pattern.match(v.name)]


def global_variables(scope: str | None = None) -> list[Variable]:
    """Return all variables of the current collection, slots and steps among them, in order of creation.

    Those that were made with `collections=` are left out, unless "variables" is one of them.

    Args:
        scope: regular expression, matched at the start of the name.

    Source: `tf.compat.v1.global_variables`.

    >>> import gradlab as gl
    >>> with gl.variable_collection():
    ...     v, step = Variable(0.0, name="v"), gl.train.create_global_step()
    ...     [v.name for v in global_variables()]
    ['v:0', 'global_step:0']
    """
    pattern = re.compile(scope or "")
    return [
        v for v in current_collection() if "variables" in v.collections and pattern.match(v.name)
    ]


def assign(
    ref: Variable,
    value: Any,
    validate_shape: bool | None = None,
    use_locking: bool | None = None,
    name: str | None = None,
) -> Any:
    """Set a variable: `ref.assign(value)`, in a `gl.Graph` when it's run.

    Args:
        ref: a Variable.
        value: what its `assign` takes.
        validate_shape, use_locking, name: no effect; another shape is always refused.

    Source: `tf.compat.v1.assign`.

    >>> v = Variable(1.0)
    >>> assign(v, 3.0).numpy().item()
    3.0
    """
    return ref.assign(value)


def assign_add(
    ref: Variable, value: Any, use_locking: bool | None = None, name: str | None = None
) -> Any:
    """Add to a variable: `ref.assign_add(value)`, in a `gl.Graph` when it's run.

    Source: `tf.compat.v1.assign_add`.

    >>> v = Variable(1.0)
    >>> assign_add(v, 3.0).numpy().item()
    4.0
    """
    return ref.assign_add(value)


def assign_sub(
    ref: Variable, value: Any, use_locking: bool | None = None, name: str | None = None
) -> Any:
    """Subtract from a variable: `ref.assign_sub(value)`, in a `gl.Graph` when it's run.

    Source: `tf.compat.v1.assign_sub`.

    >>> v = Variable(1.0)
    >>> assign_sub(v, 3.0).numpy().item()
    -2.0
    """
    return ref.assign_sub(value)
