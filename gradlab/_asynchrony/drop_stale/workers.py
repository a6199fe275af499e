"""Who is at work: what is known of each worker, and whose turn it is to update."""

from __future__ import annotations

import threading
import weakref
from typing import Any

from ..._variables.variable import Variable


class Workers:
    """What is known of each worker: by its key, or for None of the calling thread, as long as that lives.

    >>> workers = Workers()
    >>> workers.keep("a", step=3)
    >>> workers.of("a"), workers.of(None)
    ({'step': 3}, {})
    """

    def __init__(self) -> None:
        self._by_key: dict[Any, dict[str, Any]] = {}
        self._by_thread = threading.local()

    def of(self, worker: Any) -> dict[str, Any]:
        return vars(self._by_thread) if worker is None else self._by_key.get(worker, {})

    def keep(self, worker: Any, **known: Any) -> None:
        (vars(self._by_thread) if worker is None else self._by_key.setdefault(worker, {})).update(known)


_turns: weakref.WeakKeyDictionary[Variable, Any] = weakref.WeakKeyDictionary()
_making = threading.Lock()


def turn(global_step: Variable) -> Any:
    """The lock of all atomic updates of one global step, which a thread may take again.

    Not the variable's own lock: optimizers take that while they hold those of the weights.
    """
    with _making:
        return _turns.setdefault(global_step, threading.RLock())
