"""Notes on each worker: the step that its gradient in flight was computed at, and the last verdict."""

from __future__ import annotations

import threading
from typing import Any

from ..errors import MissingStepError
from .copies import in_copy
from .variable import Collection, Variable

Noted = tuple[int, Variable]  # a step and the variable it was read from


def step_of(collection: Collection) -> Noted:
    """The global step of a collection: its value now, and the variable."""
    step = collection.global_step
    if step is None:
        raise MissingStepError("there is no global step to note: call gl.get_or_create_global_step() first")
    return int(step), step


def no_step_noted(worker: Any) -> MissingStepError:
    who = "this thread" if worker is None else f"worker {worker!r}"
    return MissingStepError(f"no step was noted for {who}: call compute_gradients with the same worker first")


class Workers:
    """Notes on each worker by its key, or for None on the calling thread, as long as that lives.

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

    def __deepcopy__(self, memo: dict[int, Any]) -> Workers:
        """Return what is known by key; threads keep what is theirs."""
        new = Workers()
        for worker, known in self._by_key.items():
            noted = {"noted": (known["noted"][0], in_copy(known["noted"][1], memo))} if known.get("noted") else {}
            new.keep(worker, **{**known, **noted})
        return new

    def _follow(self, old: Variable, new: Variable) -> None:
        for known in self._by_key.values():
            if known.get("noted") and known["noted"][1] is old:
                known["noted"] = (known["noted"][0], new)
