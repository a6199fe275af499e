"""Collections: which variables exist, under which names, and what an update does there."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .variable import Variable


class Collection:
    """The variables made while it is current, by weak reference, and their global step.

    `with gl.variable_collection():` gives an empty one of its own; leaving it brings the outer one back.
    """

    graph = False  # a Graph defers updates and makes names unique

    def __init__(self) -> None:
        self._variables: list[weakref.ref[Variable]] = []
        self._names: set[str] = set()
        self._lock = threading.RLock()
        self.global_step: Variable | None = None

    def unique_name(self, name: str) -> str:
        """`name`, or `name_1`, `name_2`, ... if it is taken."""
        with self._lock:
            candidate, n = name, 0
            while candidate in self._names:
                n += 1
                candidate = f"{name}_{n}"
            self._names.add(candidate)
            return candidate

    def add(self, variable: Variable) -> None:
        with self._lock:
            self._variables = [r for r in self._variables if r() is not None]
            self._variables.append(weakref.ref(variable))

    def __iter__(self) -> Iterator[Variable]:
        with self._lock:
            alive = [r() for r in self._variables]
        return iter([v for v in alive if v is not None])

    def finish(self, run: Callable[[], Any], name: str) -> Any:
        """What an update does once it is described: here it happens at once and returns None."""
        run()

    def fetch(self, run: Callable[[], Any], name: str) -> Any:
        """The same for an update that has something to return: here that."""
        return run()


_current: ContextVar[Collection] = ContextVar("gradlab_collection")
_outermost = Collection()


def current_collection(otherwise: Collection | None = None) -> Collection:
    """The collection of this thread; where it has none, which is how threads start, `otherwise` or the outermost."""
    return _current.get(_outermost if otherwise is None else otherwise)


@contextmanager
def entered(collection: Collection) -> Iterator[Collection]:
    """Make `collection` the current one of this thread."""
    token = _current.set(collection)
    try:
        yield collection
    finally:
        _current.reset(token)


def variable_collection() -> AbstractContextManager[Collection]:
    """Context manager: variables made inside are not seen outside, nor the other way round.

    Not in TensorFlow, where every `tf.Graph` has collections; a `gl.Graph` is one of these too.

    >>> import gradlab as gl
    >>> with variable_collection():
    ...     v = gl.Variable(1.0, name="inside")
    ...     len(gl.trainable_variables())
    1
    """
    return entered(Collection())


def is_strict(strict: Any) -> bool:
    """Whether an argument `strict`, None or "tf", asks for TensorFlow's ways where they are traps (ValueError)."""
    if strict not in (None, "tf"):
        raise ValueError(f'strict must be None or "tf", got {strict!r}')
    return strict == "tf"
