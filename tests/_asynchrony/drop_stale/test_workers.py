"""What is kept for each worker, and turns."""

import threading
import weakref

import numpy as np

import gradlab as gl
from gradlab._asynchrony.drop_stale.workers import Workers, turn


class Thing:
    pass


def test_workers_are_told_apart_by_key_and_by_thread() -> None:
    workers = Workers()
    workers.keep("a", step=1)
    workers.keep(None, step=2)
    workers.keep("a", verdict=True)
    seen = []
    thread = threading.Thread(target=lambda: seen.append(dict(workers.of(None))))
    thread.start()
    thread.join(30)
    assert (workers.of("a"), workers.of(None), workers.of("b"), seen) == (
        {"step": 1, "verdict": True},
        {"step": 2},
        {},
        [{}],
    )


def test_what_a_thread_knew_goes_with_it() -> None:
    workers, known = Workers(), []

    def work() -> None:
        thing = Thing()
        known.append(weakref.ref(thing))
        workers.keep(None, thing=thing)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join(30)
    assert known[0]() is None


def test_one_turn_for_each_step() -> None:
    one, other = (gl.Variable(np.int64(0), trainable=False) for _ in range(2))
    assert turn(one) is turn(one)
    assert turn(one) is not turn(other)
    with turn(one), turn(one):  # a wrapper in a wrapper takes it twice
        pass
