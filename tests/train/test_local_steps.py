"""Workers are told apart, and what a thread knew goes with it."""

import threading
import weakref
from typing import Any

import gradlab as gl
from gradlab.train.local_steps import WorkerNote, WorkerNotes
from gradlab.train.staleness_check import LocalStep, Verdict

VERDICT = Verdict(accepted=True, local_step=1, step=1, limit=0)


def test_workers_are_told_apart_by_key_and_by_thread() -> None:
    workers = WorkerNotes()
    global_step = gl.Variable(0)
    workers.get("a").local_step = LocalStep(1, global_step)
    workers.get(None).local_step = LocalStep(2, global_step)
    workers.get("a").verdict = VERDICT
    seen: list[WorkerNote] = []
    thread = threading.Thread(target=lambda: seen.append(workers.get(None)))
    thread.start()
    thread.join(30)
    assert workers.get("a") == WorkerNote(LocalStep(1, global_step), VERDICT)
    assert workers.get(None) == WorkerNote(LocalStep(2, global_step))
    assert workers.get("b") == seen[0] == WorkerNote()


def test_what_a_thread_knew_goes_with_it() -> None:
    workers = WorkerNotes()
    known: list[Any] = []

    def work() -> None:
        note = workers.get(None)
        known.append(weakref.ref(note))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join(30)
    assert known[0]() is None
