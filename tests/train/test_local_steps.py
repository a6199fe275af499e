"""Workers are told apart, and what a thread knew goes with it."""

import threading
import weakref

from gradlab.train.local_steps import WorkerNotes


class Thing:
    pass


def test_workers_are_told_apart_by_key_and_by_thread() -> None:
    workers = WorkerNotes()
    workers.keep("a", step=1)
    workers.keep(None, step=2)
    workers.keep("a", verdict=True)
    seen = []
    thread = threading.Thread(target=lambda: seen.append(dict(workers.get(None))))
    thread.start()
    thread.join(30)
    assert (workers.get("a"), workers.get(None), workers.get("b"), seen) == (
        {"step": 1, "verdict": True},
        {"step": 2},
        {},
        [{}],
    )


def test_what_a_thread_knew_goes_with_it() -> None:
    workers, known = WorkerNotes(), []

    def work() -> None:
        thing = Thing()
        known.append(weakref.ref(thing))
        workers.keep(None, thing=thing)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join(30)
    assert known[0]() is None
