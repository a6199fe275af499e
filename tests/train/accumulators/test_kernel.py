"""Waiting: order, time limits, cancelling, closing, Ctrl-C, threads that end in every way; which
ones are one.
"""

from __future__ import annotations

import contextlib
import ctypes
import random
import subprocess
import sys
import textwrap
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import gradlab as gl
from gradlab.errors import InvalidArgumentError, NotFoundError, StalenessWarning
from tests.differences import differs

PATIENCE = 30.0


class Killed(BaseException):
    """Thrown into a thread from outside."""


@pytest.fixture
def threads(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., threading.Thread]]:
    """Starts threads, and sees to it that none is left."""
    started: list[threading.Thread] = []
    hook = threading.excepthook
    # One that is killed may be so after its last line.
    monkeypatch.setattr(threading, "excepthook", lambda args: args.exc_type is Killed or hook(args))

    def start(act: Callable[..., Any], *given: Any) -> threading.Thread:
        thread = threading.Thread(target=act, args=given, daemon=True)
        started.append(thread)
        thread.start()
        return thread

    yield start
    for thread in started:
        thread.join(PATIENCE)
    assert not [t for t in started if t.is_alive()]


def until(over: Callable[[], Any]) -> None:
    """Let the other threads go on until something is so."""
    ends = threading.Event()
    for _ in range(int(PATIENCE / 0.002)):
        if over():
            return
        ends.wait(0.002)
    raise AssertionError("it never happened")


def scalar(**more: Any) -> gl.ConditionalAccumulator:
    return gl.ConditionalAccumulator("float64", (), **more)


def test_a_take_waits_until_enough_are_there(threads: Any) -> None:
    acc, got = scalar(), []
    threads(lambda: got.append(acc.take_grad(3)))
    until(acc.why_waiting)
    for grad in (10.0, 20.0):
        acc.apply_grad(grad)
    assert not got
    receipt = acc.apply_grad(30.0)
    assert receipt.served.done
    until(lambda: got)
    assert got == [20]


def test_takers_are_served_in_order_one_per_round(threads: Any) -> None:
    acc, got = scalar(), []
    for k in range(3):
        threads(lambda k=k: got.append((k, float(acc.take_grad(1)))))
        until(lambda k=k: len(acc.why_waiting()) == k + 1)
    for k in range(3):
        acc.apply_grad(float(k), local_step=k)
        until(lambda k=k: len(got) == k + 1)
    assert got == [(0, 0.0), (1, 1.0), (2, 2.0)]


def test_one_that_needs_less_waits_behind_one_that_needs_more_until_that_gives_up(
    threads: Any,
) -> None:
    acc, got = scalar(), []
    first = acc.request(3)
    threads(lambda: got.append(acc.take_grad(1)))
    until(lambda: len(acc.why_waiting()) == 2)
    acc.apply_grad(5.0)
    assert (got, acc.try_take(1)) == ([], None)
    assert first.cancel()
    until(lambda: got)
    assert got == [5]
    with pytest.raises(
        gl.errors.CancelledError, match="take from conditional_accumulator was cancelled"
    ):
        first.result()
    assert not first.cancel()


def test_the_taker_of_another_accumulator() -> None:
    taker = scalar().request(1)
    with pytest.raises(ValueError, match="waits for another accumulator"):
        scalar().cancel(taker)
    assert not taker.done
    with pytest.raises(TypeError, match="what request returned, got None"):
        scalar().cancel(None)


def test_who_gives_up_consumes_nothing() -> None:
    acc = scalar()
    acc.apply_grad(1.0)
    with pytest.raises(
        gl.errors.DeadlineExceededError, match=r"after 0.01 s: needs 2, has 1, position 1"
    ):
        acc.take_grad(2, timeout=0.01)
    with pytest.raises(TimeoutError):
        acc.take_grad(2, timeout=0)
    assert acc.why_waiting() == []
    assert acc.take_grad(1, timeout=0) == 1


def test_a_request_outlives_a_result_that_came_too_late() -> None:
    acc = scalar()
    taker = acc.request(1)
    with pytest.raises(gl.errors.DeadlineExceededError):
        taker.result(timeout=0.01)
    assert (taker.position, taker.done) == (1, False)
    acc.apply_grad(4.0)
    assert taker.result() == taker.result(0) == 4


def test_closing_ends_all_waits_and_leaves_what_is_inside_to_be_seen(threads: Any) -> None:
    errors: list[Exception] = []
    with scalar() as acc:
        acc.apply_grad(1.0)
        waiting = acc.request(9)
        for _ in range(2):

            def take() -> None:
                try:
                    acc.take_grad(5, timeout=PATIENCE)
                except gl.errors.CancelledError as error:
                    errors.append(error)

            threads(take)
        until(lambda: len(acc.why_waiting()) == 3)
    until(lambda: len(errors) == 2)
    assert "a take was cancelled: conditional_accumulator was closed while it waited" in str(
        errors[0]
    )
    assert errors[0] is not errors[1]
    assert waiting.done
    for use in (
        lambda: acc.apply_grad(1.0),
        lambda: acc.take_grad(1),
        lambda: acc.request(1),
        lambda: acc.try_take(1),
    ):
        with pytest.raises(RuntimeError, match="is closed; make a new accumulator"):
            use()
    with pytest.raises(RuntimeError, match="is closed"):
        acc.set_global_step(1)
    assert (acc.num_accumulated(), acc.peek().value, acc.why_waiting()) == (1, 1, [])
    acc.close()


def test_set_global_step_wakes_nobody_and_keeps_what_is_counted() -> None:
    acc = scalar()
    taker = acc.request(2)
    acc.apply_grad(2.0)
    acc.set_global_step(5)
    assert not acc.apply_grad(100.0, 0)
    assert not taker.done
    acc.apply_grad(4.0, 5)
    assert (taker.result(0), acc.global_step) == (3, 6)


@differs(
    "`set_global_step` to an earlier step",
    tensorflow="a line in the log",
    gradlab="a `StalenessWarning`",
    strict="TensorFlow's behavior",
)
def test_a_step_that_goes_back_is_told() -> None:
    acc = scalar()
    for step in (5, 5, 7):
        acc.set_global_step(step)
    with pytest.warns(
        StalenessWarning, match="from 7 to 3: gradients of old steps pass again"
    ) as told:
        acc.set_global_step(3)
    assert (told[0].filename, acc.global_step) == (__file__, 3)
    assert acc.apply_grad(1.0, 4).accepted
    strict = gl.ConditionalAccumulator("float32", strict="tf")
    strict.set_global_step(7)
    strict.set_global_step(3)
    assert strict.global_step == 3


def test_a_failing_gradient_leaves_the_taker_waiting() -> None:
    acc = gl.ConditionalAccumulator("float32")
    acc.apply_grad([1.0])
    taker = acc.request(2)
    with pytest.raises(gl.errors.InvalidArgumentError):
        acc.apply_grad([1.0, 2.0])
    assert not taker.done
    acc.apply_grad([3.0])
    assert taker.result(0).tolist() == [2]


def test_ten_threads_lose_nothing() -> None:
    acc = scalar(reduction_type="SUM")
    with ThreadPoolExecutor(10) as pool:
        kept = list(pool.map(lambda k: acc.apply_grad(float(k)).accepted, range(2000)))
    assert all(kept)
    assert acc.take_grad(2000) == sum(range(2000))


def kill(thread: threading.Thread) -> None:
    ctypes.pythonapi.PyThreadState_SetAsyncExc(
        ctypes.c_ulong(thread.ident), ctypes.py_object(Killed)
    )


def test_one_that_is_killed_leaves_the_queue(threads: Any) -> None:
    acc = scalar()

    def take() -> None:
        with contextlib.suppress(Killed):
            acc.take_grad(5)

    victim = threads(take)
    until(acc.why_waiting)
    behind = acc.request(1)
    kill(victim)
    until(lambda: behind.position == 1)
    acc.apply_grad(6.0)
    assert behind.result(0) == 6


class Round:
    """Producers of ones, and takers that leave in every way: the ones that were taken and those
    left are all.
    """

    def __init__(self, seed: int, start: Callable[..., threading.Thread]) -> None:
        self.random, self.start = random.Random(seed), start
        kind = self.random.choice([gl.ConditionalAccumulator, gl.SparseConditionalAccumulator])
        self.acc = kind("float64", (1,), reduction_type="SUM")
        self.sparse = kind is gl.SparseConditionalAccumulator
        # All there were, also those that nobody waits for any more.
        self.takers: dict[threading.Thread, Any] = {}
        self.accepted = self.taken = 0
        self.lock, self.over = threading.Lock(), threading.Event()

    def produce(self, times: int) -> None:
        one = np.ones(1)
        for _ in range(times):
            try:
                kept = self.acc.apply_grad(
                    *([[0], one] if self.sparse else [one]), local_step=1 << 40
                ).accepted
            except RuntimeError:
                return  # closed
            with self.lock:
                self.accepted += kept

    def count(self, taken: Any) -> None:
        with self.lock:
            self.taken += int(taken.values[0] if self.sparse else taken[0])

    def hold(self, needs: int) -> None:
        """Wait forever, to be killed, canceled, served, or ended by closing."""
        with contextlib.suppress(RuntimeError, Killed):
            taker = self.takers[threading.current_thread()] = self.acc.request(needs)
            try:
                taker.result()
            finally:
                # While this one is there, nobody else is given its number to be killed by.
                self.over.wait(PATIENCE)

    def time_out(self, needs: int, timeout: float) -> None:
        with contextlib.suppress(RuntimeError, gl.errors.DeadlineExceededError):
            self.count(self.acc.take_grad(needs, timeout=timeout))

    def look(self, needs: int) -> None:
        with contextlib.suppress(RuntimeError):
            taken = self.acc.try_take(needs)
            if taken is not None:
                self.count(taken)

    def run(self) -> None:
        chance, needs = self.random, lambda: self.random.randint(1, 12)
        with self.acc.producing():  # this thread closes it at last: nobody waits in vain
            producers = [self.start(self.produce, chance.randint(5, 40)) for _ in range(3)]
            holders = [self.start(self.hold, needs()) for _ in range(3)]
            for _ in range(3):
                self.start(self.time_out, needs(), chance.choice([0.0, 0.001, 0.01]))
                self.start(self.look, needs())
            for victim in chance.sample(holders, 2):
                until(lambda victim=victim: victim in self.takers)
                kill(victim) if chance.random() < 0.5 else self.takers[victim].cancel()
            if chance.random() < 0.5:
                for producer in producers:
                    producer.join(PATIENCE)
            self.over.set()
            self.acc.close()


def test_nothing_is_lost_and_nothing_double_however_takers_end(threads: Any) -> None:
    for seed in range(40):
        mine: list[threading.Thread] = []

        def start(
            act: Callable[..., Any], *given: Any, mine: list[threading.Thread] = mine
        ) -> threading.Thread:
            mine.append(threads(act, *given))
            return mine[-1]

        round_ = Round(seed, start)
        round_.run()
        for thread in mine:
            thread.join(PATIENCE)
        for taker in round_.takers.values():
            if taker.value is not None:
                round_.count(taker.value)
        assert round_.taken + round_.acc.num_accumulated() == round_.accepted, f"round {seed}"
        assert round_.acc.why_waiting() == []


def run_python(source: str) -> str:
    """What a fresh interpreter prints; it must end well, and soon."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", textwrap.dedent(source)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@differs(
    "Ctrl-C while `take_grad` waits",
    tensorflow="does not end the wait",
    gradlab="ends the wait; a time limit does, too",
    strict="gradlab's behavior",
)
def test_ctrl_c_ends_a_blocked_take() -> None:
    out = run_python(
        """
        import os, signal, threading, time
        import gradlab as gl

        acc = gl.ConditionalAccumulator("float32")

        def press():
            while not acc.why_waiting():
                time.sleep(0.01)
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(60)  # alive: it could still bring a gradient

        threading.Thread(target=press, daemon=True).start()
        try:
            acc.take_grad(3)
        except KeyboardInterrupt:
            print("interrupted", acc.why_waiting(), acc.apply_grad(1.0).count)
        """
    )
    assert out == "interrupted [] 1\n"


ACC = gl.ConditionalAccumulator


def test_distinct_objects_are_distinct() -> None:
    a, b = ACC("float32", [1]), ACC("float32", [1])
    a.apply_grad([3.0])
    assert (a.num_accumulated(), b.num_accumulated()) == (1, 0)


@pytest.mark.parametrize("strict", [None, "tf"])
def test_one_shared_name_is_one_accumulator_in_its_collection(strict: str | None) -> None:
    a, b = ACC("float32", [1], "x", strict=strict), ACC("float32", [1], "x", strict=strict)
    a.apply_grad([3.0])
    assert b.take_grad(1).tolist() == [3]
    assert a.global_step == 1
    with gl.variable_collection():
        assert ACC("float32", [1], "x", strict=strict).global_step == 0
    with gl.Graph().as_default():
        assert ACC("float32", [1], "x", strict=strict).global_step == 0


@pytest.mark.parametrize(
    "other",
    [{"shape": [2]}, {"dtype": "float64"}, {"reduction_type": "SUM"}, {"sum_dtype": "float64"}],
)
def test_the_same_name_for_something_else(other: dict) -> None:
    a = ACC("float32", [1], "x")
    with pytest.raises(
        InvalidArgumentError,
        match=r"shared_name 'x' belongs to a MEAN of float32, shape .*, this is a",
    ):
        ACC(**{"dtype": "float32", "shape": [1], "shared_name": "x", **other})
    del a
    ACC(**{"dtype": "float32", "shape": [1], "shared_name": "x", **other})


@differs(
    "accumulators of one shared_name, made differently",
    tensorflow="the first decides",
    gradlab="refused",
    strict="TensorFlow's behavior",
)
def test_strict_looks_at_nothing_and_the_first_decides() -> None:
    with gl.Graph().as_default():
        a, b = (
            ACC("float32", [1], "x", strict="tf"),
            ACC("float32", [2], "x", None, "SUM", strict="tf"),
        )
        a.apply_grad([2.0])
        a.apply_grad([4.0])
        assert b.take_grad(2).tolist() == [3]
        with pytest.raises(InvalidArgumentError, match="has shape"):
            b.apply_grad([1.0, 2.0], 9)
        c = ACC("float64", [1], "x", strict="tf")
        with pytest.raises(
            InvalidArgumentError, match="has dtype float32, got a gradient of dtype float64"
        ):
            c.apply_grad([1.0], 9)
        assert a.num_accumulated() == 0


@differs(
    "each `ConditionalAccumulator` without a shared_name, outside a graph",
    tensorflow="all that are made alike are one, which goes with the first",
    gradlab="each is its own",
    strict="TensorFlow's behavior",
)
def test_strict_without_a_graph_accumulators_without_a_name_are_one_and_die_with_the_first() -> (
    None
):
    a, b = ACC("float32", [1], strict="tf"), ACC("float32", [1], name="other", strict="tf")
    c, d = ACC("float32", [2], strict="tf"), ACC("float32", [1], reduction_type="SUM", strict="tf")
    a.apply_grad([3.0])
    assert [x.num_accumulated() for x in (a, b, c, d)] == [1, 1, 0, 0]
    b.apply_grad([5.0])
    assert a.take_grad(1).tolist() == [4]
    assert (a.name, b.name) == ("", "")
    del a
    with pytest.raises(NotFoundError, match="was deleted"):
        b.num_accumulated()
    e = ACC("float32", [1], strict="tf")
    for use in (e.num_accumulated, lambda: e.apply_grad([1.0], 9), lambda: e.take_grad(1), e.peek):
        with pytest.raises(NotFoundError, match="give each a shared_name"):
            use()
    assert c.num_accumulated() == 0


def test_in_a_graph_each_is_its_own_and_has_a_name_of_its_own() -> None:
    with gl.Graph().as_default():
        a, b = ACC("float32", [1], strict="tf"), ACC("float32", [1], strict="tf")
        c = ACC("float32", name="scope/inner")
    a.apply_grad(np.ones(1))
    assert b.num_accumulated() == 0
    assert [x.name for x in (a, b, c)] == [
        "conditional_accumulator",
        "conditional_accumulator_1",
        "inner",
    ]
    del a
    assert b.apply_grad([1.0])
    assert (
        repr(b)
        == "<gradlab.ConditionalAccumulator 'conditional_accumulator_1' dtype=float32 shape=(1,)>"
    )
