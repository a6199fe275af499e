"""What an optimizer remembers of each worker: its local step and its last verdict.

The local step of a gradient is the value of the global step when its weights were read.
`DropStaleGradientOptimizer` writes it down in `compute_gradients` and compares it in
`apply_gradients`, which another call may separate by a long time, so it is kept for each worker: by
the worker's key, or for the calling thread where no key is given.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Any

from ..errors import MissingStepError
from .copies import get_copy
from .staleness_check import LocalStep, Verdict
from .variable import Collection, Variable


def read_global_step(collection: Collection) -> LocalStep:
    """Return the global step of a collection as it is now (MissingStepError if there is none)."""
    step = collection.global_step
    if step is None:
        raise MissingStepError(
            "there is no global step to note: call gl.get_or_create_global_step() first"
        )
    return LocalStep(int(step), step)


def missing_local_step(worker: Any) -> MissingStepError:
    """Return the error for a worker that has computed no gradient."""
    owner = "this thread" if worker is None else f"worker {worker!r}"
    return MissingStepError(
        f"no step was noted for {owner}: call compute_gradients with the same worker first"
    )


@dataclass
class WorkerNote:
    """What is remembered of one worker."""

    local_step: LocalStep | None = None
    verdict: Verdict | None = None


class WorkerNotes:
    """Notes by worker: under its key, or under None for the calling thread, as long as the thread lives.

    >>> notes = WorkerNotes()
    >>> notes.get("a").local_step = LocalStep(3, Variable(3))
    >>> notes.get("a").local_step.value, notes.get(None)
    (3, WorkerNote(local_step=None, verdict=None))
    """

    def __init__(self) -> None:
        self._by_key: dict[Any, WorkerNote] = {}
        self._by_thread = threading.local()

    def get(self, worker: Any) -> WorkerNote:
        """Return the note of a worker as a live view; an empty one is made if there is none."""
        # `setdefault` is one step, so two threads of one key get the same note.
        if worker is None:
            of_thread: dict[str, WorkerNote] = vars(self._by_thread)
            return of_thread.setdefault("note", WorkerNote())
        return self._by_key.setdefault(worker, WorkerNote())

    def __deepcopy__(self, memo: dict[int, Any]) -> WorkerNotes:
        """Copy the notes under a key.

        Those of threads stay with the original, as their gradients do.
        """
        new = WorkerNotes()
        for worker, note in list(self._by_key.items()):
            step = note.local_step
            if step is not None:
                step = LocalStep(step.value, get_copy(step.variable, memo))
            new._by_key[worker] = WorkerNote(step, note.verdict)
        return new

    def _follow(self, old: Variable, new: Variable) -> None:
        for note in list(self._by_key.values()):
            step = note.local_step
            if step is not None and step.variable is old:
                note.local_step = LocalStep(step.value, new)
