"""State as plain values: read at one instant, and checked before anything is written."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any, TypeAlias

import numpy as np

from .._base.arrays import Array, is_jax, namespace, precision
from ..errors import InvalidArgumentError, NotAVariableError, StateWarning, warn
from .variable import Variable

VariablesByName: TypeAlias = Mapping[str, Variable]
Commit: TypeAlias = Callable[[], Any]  # stores what has been checked
Variables: TypeAlias = VariablesByName | Sequence[Variable] | Variable | None


class Stateful:
    """An optimizer whose state can be read and restored.

    Subclasses define `_to_save`, `_loading` and `_stepped_variables`.
    """

    def state_dict(self, variables: Variables = None) -> dict[str, Any]:
        """All that changes from step to step, as nested dictionaries of read-only arrays and plain values.

        Args:
            variables: the variables that it has stepped, a list or a dictionary of them by names of
                your own; by default all of them, by their names. Their values are not in it:
                `gl.save` writes both.

        Slots, what all variables share, step counts, and hyperparameters that are Variables are in
        it. Hyperparameters given as numbers, schedules or functions are those of the constructor;
        numbers are noted, to be compared.

        Raises:
            ValueError: it has stepped a variable that is not given, or two are of one name.

        Not in TensorFlow; torch.optim has these two methods.

        >>> import gradlab as gl
        >>> v, w = gl.Variable([1.0], name="v"), gl.Variable([1.0], name="w")
        >>> opt, other = gl.train.MomentumOptimizer(0.5, 0.9), gl.train.MomentumOptimizer(0.5, 0.9)
        >>> opt.apply_gradients([([2.0], v)])
        >>> opt.state_dict()["slots"]
        {'v:0': {'momentum': array([2.], dtype=float32)}}
        >>> other.load_state_dict(opt.state_dict({"a": v}), {"a": w})
        >>> other.get_slot(w, "momentum").numpy().tolist()
        [2.0]
        """
        names = variables_by_name(self._stepped_variables() if variables is None else variables)
        with lock_variables(names.values()):
            return self._to_save(names)

    def load_state_dict(self, state: Mapping[str, Any], variables: Variables = None) -> None:
        """Restore what `state_dict` gave: everything, or nothing if anything does not fit.

        Args:
            state: of an optimizer of the same class.
            variables: the variables that take the place of those of `state_dict`, by the same
                names; by default those that this optimizer has stepped. A new one has stepped none,
                so give them.

        A hyperparameter that was another number is a `gl.errors.StateWarning`: the constructor's
        counts.

        Raises:
            ValueError: another class; a variable or slot is missing, or has another shape or dtype.
            TypeError: not such a dictionary.
        """
        names = variables_by_name(self._stepped_variables() if variables is None else variables)
        with lock_variables(names.values()):
            self._loading(state, names)()

    def _stepped_variables(self) -> list[Variable]:
        """The variables that it has slots of."""
        raise NotImplementedError(f"{type(self).__name__} must define _stepped_variables()")

    def _to_save(self, names: VariablesByName) -> dict[str, Any]:
        """The state; the caller holds the variables."""
        raise NotImplementedError(f"{type(self).__name__} must define _to_save(names)")

    def _loading(self, state: Any, names: VariablesByName) -> Commit:
        """Check a state, and return the function that loads it."""
        raise NotImplementedError(f"{type(self).__name__} must define _loading(state, names)")


def variables_by_name(variables: Variables | Iterable[Variable]) -> dict[str, Variable]:
    """Return variables by name: their own, or the keys of a dictionary.

    Raises:
        NotAVariableError: one of them isn't a Variable.
        ValueError: two have one name.

    >>> v = Variable(0.0, name="v")
    >>> list(variables_by_name([v])), list(variables_by_name({"mine": v}))
    (['v:0'], ['mine'])
    """
    if isinstance(variables, Mapping):
        found, given = dict(variables), list(variables.values())
    else:
        given = [variables] if isinstance(variables, Variable) else list(variables or [])
        found = {v.name: v for v in given if isinstance(v, Variable)}
    for v in given:
        if not isinstance(v, Variable):
            raise NotAVariableError(
                f"variables must be Variables, or a dictionary of them by name; got {v!r}"
            )
    if len(found) < len(set(given)):
        raise ValueError(
            f"two variables have one name in {[v.name for v in given]}: give a dictionary of them "
            "by names of your own"
        )
    return found


@contextmanager
def lock_variables(variables: Iterable[Variable]) -> Iterator[None]:
    """Hold the locks of variables, so that no other thread steps them or counts a step.

    There is no one order in which all threads take these locks, because optimizers take the lock of
    the global step while they hold those of the weights. So, to avoid a deadlock, a thread that
    finds a lock taken releases the others, waits for that one, and tries again.
    """
    locks = {id(v): v._lock for v in variables}
    if not locks:
        yield
        return
    waited = next(iter(locks))
    while True:
        with ExitStack() as stack:
            stack.enter_context(locks[waited])
            others = {key: lock for key, lock in locks.items() if key != waited}
            busy = next((k for k, lock in others.items() if not _try_lock(lock, stack)), None)
            if busy is None:
                yield
                return
        waited = busy


def _try_lock(lock: Any, stack: ExitStack) -> bool:
    taken: bool = lock.acquire(blocking=False)
    if taken:
        stack.callback(lock.release)
    return taken


def read_array(v: Variable) -> np.ndarray:
    """Return the value of a variable as a read-only NumPy array."""
    value = np.asarray(v._buffer.share())
    value.flags.writeable = False
    return value


def prepare_assign(v: Variable, value: Any, what: str) -> Commit:
    """Check that a saved array fits a variable, and return the function that stores it."""
    new = convert_saved(value, v._value, what, v.name)

    def commit() -> None:
        with v._lock:
            v._value = new

    return commit


def convert_saved(value: Any, like: Array, what: str, name: str) -> Array:
    """Return a copy of a saved array, on the devices of `like`, whose dtype and shape it must have."""
    if not isinstance(value, np.ndarray | np.generic) and not is_jax(value):
        raise InvalidArgumentError(f"{what} must be an array, got {type(value).__name__}")
    x = np.array(value)
    if (x.dtype, x.shape) != (like.dtype, tuple(like.shape)):
        raise InvalidArgumentError(
            f"{what} is {x.dtype} of shape {x.shape}, but {name} is {like.dtype} of shape "
            f"{tuple(like.shape)}; nothing was loaded"
        )
    if not is_jax(like):
        x.flags.writeable = False
        return x
    # For integers of 64 bits, too.
    with precision(np.float64 if x.dtype.itemsize >= 8 else x.dtype):
        if len(like.sharding.device_set) == 1:
            return namespace(like).asarray(x)
        from .._base.jax import jax

        placed: Array = jax.device_put(x, like.sharding)
        return placed


def get_part(state: Any, name: str, kind: type = dict) -> Any:
    """Return one entry of a state dictionary, checked to be there and of that type."""
    if not isinstance(state, Mapping):
        raise TypeError(
            f"a state is a dictionary, as state_dict gives it; got {type(state).__name__}"
        )
    if not isinstance(state.get(name), kind):
        raise InvalidArgumentError(
            f"this is not a state of an optimizer: it has no {name!r} that is a {kind.__name__}"
        )
    return state[name]


def check_class(state: Any, owner: Any) -> None:
    """Refuse the state of another class."""
    if (found := get_part(state, "optimizer", str)) != type(owner).__name__:
        raise InvalidArgumentError(
            f"this is the state of {found}, it does not fit {owner!r}; nothing was loaded"
        )


def warn_of_changes(saved: Mapping[str, Any], now: Mapping[str, Any], owner: str) -> None:
    """Warn of settings that differ from those the state was saved with."""
    changed = [
        f"{k} was {saved.get(k)!r}, is {now.get(k)!r}"
        for k in {**saved, **now}
        if not _same(saved, now, k)
    ]
    if changed:
        warn(
            f"{owner} goes on with other settings than its state was saved with: "
            f"{'; '.join(changed)}",
            StateWarning,
        )


def _same(saved: Mapping[str, Any], now: Mapping[str, Any], name: str) -> bool:
    a, b = saved.get(name), now.get(name)
    return bool(a == b or (a != a and b != b))  # NaN is the same setting


def plain_numbers(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return those settings that are numbers or words; NumPy's and JAX's as Python's."""
    found = {}
    for name, x in settings.items():
        if isinstance(x, np.ndarray | np.generic) or is_jax(x):
            x = np.asarray(x).item() if np.shape(x) == () else None
        if isinstance(x, bool | int | float | str):
            found[name] = x
    return found


def combine_commits(commits: Iterable[Commit]) -> Commit:
    """Return one function that calls all of them in order."""
    ready = list(commits)

    def commit() -> None:
        for c in ready:
            c()

    return commit
