"""A wait that nobody can end raises; one that somebody might still end goes on."""

import queue
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

import gradlab as gl
from gradlab.train.accumulators import deadlock
from tests.differences import differs
from tests.train.accumulators.test_kernel import PATIENCE, run_python, until

HEAD = """
import threading, time
from concurrent.futures import ThreadPoolExecutor
import gradlab as gl

acc, other = gl.ConditionalAccumulator("float32", name="acc"), gl.ConditionalAccumulator("float32", name="other")

def hopeless(acc, needs=1):
    try:
        acc.take_grad(needs)
    except gl.errors.DeadlockError as error:
        print(error)
"""


@differs(
    "`take_grad` that no thread can serve",
    tensorflow="waits forever",
    gradlab="a `DeadlockError`",
    strict="as by default",
)
@pytest.mark.parametrize(
    "source",
    [
        "hopeless(acc)",
        # Both threads wait for gradients, and whoever started them waits for their end.
        """
        threads = [threading.Thread(target=hopeless, args=(acc,)), threading.Thread(target=hopeless, args=(other,))]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
        """,
        # The main thread is past its last line.
        "threading.Thread(target=hopeless, args=(acc,)).start()",
        # A pool whose threads have nothing to do, a future that never comes, and an event that
        # nobody sets.
        """
        pool = ThreadPoolExecutor(2)
        list(pool.map(time.sleep, [0.1, 0.1]))
        threading.Thread(target=threading.Event().wait, daemon=True).start()
        pool.submit(hopeless, acc).result()
        """,
    ],
    ids=["alone", "two and a join", "at the end", "idle pool"],
)
def test_nothing_alive_can_end_it(source: str) -> None:
    import textwrap

    lines = run_python(HEAD + textwrap.dedent(source)).splitlines()
    assert lines
    assert all(
        "nothing alive can end this wait for" in line and "needs 1, has 0" in line for line in lines
    )
    assert len(lines) == 1 + ("join()" in source)


@pytest.mark.exhaustive
def test_in_a_notebook_the_threads_that_serve_it_are_no_help() -> None:
    """A real kernel, in which JAX and widgets are at work too."""
    book = nbformat.v4.new_notebook()
    book.cells = [
        nbformat.v4.new_code_cell(source)
        for source in (
            f"import ipywidgets, jax\n{HEAD}\njax.numpy.ones(3).sum(), ipywidgets.IntSlider()",
            "hopeless(acc)",
            "threading.Timer(3, acc.apply_grad, (7.0,)).start()\nprint(acc.take_grad(1))",
        )
    ]
    NotebookClient(book, timeout=2 * PATIENCE, kernel_name="python3").execute()
    first, second = (cell.outputs[0].text for cell in book.cells[1:])
    assert "nothing alive can end this wait for acc: needs 1, has 0" in first
    assert second == "7.0\n"


@pytest.mark.exhaustive
def test_no_false_alarm() -> None:
    out = run_python(
        HEAD
        + """
def late():
    time.sleep(3)
    acc.apply_grad(7.0)

threading.Thread(target=late).start()
print(acc.take_grad(1))

def relay():  # waits itself, with a time limit, and acts after it
    try:
        other.take_grad(1, timeout=3)
    except TimeoutError:
        acc.apply_grad(8.0, local_step=1)

threading.Thread(target=relay).start()
print(acc.take_grad(1))
"""
    )
    assert out.split() == ["7.0", "8.0"]


def test_all_producers_are_gone() -> None:
    acc = gl.ConditionalAccumulator("float32")
    errors: list[Exception] = []

    def take() -> None:
        try:
            acc.take_grad(2)
        except gl.errors.DeadlockError as error:
            errors.append(error)

    promise = acc.producing()  # for a thread that has not started
    taker = threading.Thread(target=take)
    taker.start()
    until(acc.why_waiting)

    def produce() -> None:
        with promise:
            acc.apply_grad(1.0)

    producer = threading.Thread(target=produce)
    producer.start()
    producer.join(PATIENCE)
    taker.join(PATIENCE)
    assert not taker.is_alive()
    assert [str(e) for e in errors] == [
        "all producers of conditional_accumulator are gone: needs 2, has 1, position 1"
    ]
    assert acc.take_grad(1) == 1  # what is there can be had
    with pytest.raises(gl.errors.DeadlockError):
        acc.take_grad(1)
    # This very thread is alive.
    with acc.producing(), pytest.raises(gl.errors.DeadlineExceededError):
        acc.take_grad(1, timeout=0.01)


def test_a_dead_thread_produces_nothing() -> None:
    acc = gl.ConditionalAccumulator("float32")
    producer = threading.Thread(target=acc.producing)  # dies without a word
    producer.start()
    producer.join(PATIENCE)
    with pytest.raises(gl.errors.DeadlockError, match="all producers"):
        acc.take_grad(1)


def frame_of(act: Callable[[], Any], stop: Callable[[], Any]) -> tuple[bool, bool]:
    """Whether a thread in `act` counts as waiting forever, and as a servant."""
    thread = threading.Thread(target=act, daemon=True)
    thread.start()
    seen: list[tuple[bool, bool]] = []

    def is_settled() -> bool:
        frame = sys._current_frames().get(thread.ident or 0)
        if frame is not None:
            seen.append((deadlock._waits_for_ever(frame), deadlock._is_service(frame)))
        return len(seen) > 20

    until(is_settled)
    stop()
    thread.join(PATIENCE)
    return seen[-1]


def test_who_counts_as_waiting_for_ever() -> None:
    event, items = threading.Event(), queue.Queue[int]()
    assert frame_of(event.wait, event.set) == (True, False)
    assert frame_of(items.get, lambda: items.put(1)) == (True, False)
    assert frame_of(lambda: items.get(timeout=PATIENCE), lambda: items.put(1)) == (False, False)
    again = threading.Event()
    assert frame_of(lambda: again.wait(PATIENCE), again.set) == (False, False)
    third = threading.Event()
    joined = threading.Thread(target=third.wait, daemon=True)
    joined.start()
    assert frame_of(joined.join, third.set) == (True, False)
    with ThreadPoolExecutor(1) as pool:
        pool.submit(int).result()
        (idle,) = pool._threads
        until(lambda: deadlock._waits_for_ever(sys._current_frames()[idle.ident]))


@pytest.mark.parametrize(
    ("module", "servant"),
    [
        ("ipykernel.iostream", True),
        ("ipykernel.subshell", False),
        ("IPython.lib.backgroundjobs", False),
        ("tornado.ioloop", False),
        ("__main__", False),
    ],
)
def test_threads_of_the_notebook_are_servants_but_for_those_that_run_what_users_wrote(
    module: str, servant: bool
) -> None:
    space: dict[str, Any] = {"__name__": module, "bell": threading.Event()}
    exec("def run():\n    bell.wait(30)", space)
    assert frame_of(space["run"], space["bell"].set) == (False, servant)


def test_in_doubt_nothing_is_hopeless(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deadlock, "_FOREIGN", ("a library with threads",))
    monkeypatch.setattr(deadlock, "_jax_computes", lambda: False)
    monkeypatch.setattr(sys, "_current_frames", lambda: {threading.get_ident(): sys._getframe()})
    assert deadlock.no_thread_can_act()
    monkeypatch.setitem(sys.modules, "a library with threads", None)
    assert not deadlock.no_thread_can_act()


def test_at_the_prompt_somebody_may_type(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deadlock, "_FOREIGN", ())
    # As seen from another thread: the main one runs no Python.
    monkeypatch.setattr(sys, "_current_frames", dict)
    assert not deadlock.no_thread_can_act()


def test_a_computation_of_jax_may_call_back(monkeypatch: pytest.MonkeyPatch) -> None:
    import jax

    class Computed:
        def __init__(self, ready: bool) -> None:
            self.is_ready = lambda: ready

    monkeypatch.setattr(deadlock, "_FOREIGN", ())
    monkeypatch.setattr(sys, "_current_frames", lambda: {threading.get_ident(): sys._getframe()})
    for arrays in ([], [Computed(True)], [Computed(True), Computed(False)]):
        monkeypatch.setattr(jax, "live_arrays", lambda arrays=arrays: arrays)
        assert deadlock.no_thread_can_act() == (len(arrays) < 2)
