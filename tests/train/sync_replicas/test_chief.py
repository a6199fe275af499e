"""Real threads: a chief, workers and backups, and every way in which their waits can end."""

from __future__ import annotations

import ctypes
import signal
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import gradlab as gl
from gradlab.train.sync_replicas import Push, SyncReplicasOptimizer
from tests.differences import differs

PATIENCE = 30.0  # seconds, for what happens at once


class Training:
    """One weight under gradient descent with learning rate 1; worker k's gradient is 2**k."""

    def __init__(self, needs: int, workers: int | None = None, inner: Any = None) -> None:
        self.v, self.step = gl.Variable([0.0], name="v"), gl.get_or_create_global_step()
        self.opt = SyncReplicasOptimizer(
            inner or gl.train.GradientDescentOptimizer(1.0), needs, workers
        )
        self.pushed: list[Push] = []

    def train(self, worker: str, steps: int = 1, timeout: float | None = None) -> None:
        pairs = [(np.float32([2.0 ** int(worker[1:])]), self.v)]
        for _ in range(steps):
            self.pushed.append(
                self.opt.apply_gradients(pairs, self.step, worker=worker, timeout=timeout)
            )

    def worker(self, name: str, steps: int = 1) -> None:
        with self.opt.worker(name):
            self.train(name, steps)

    def replayed(self) -> float:
        """The weight by the book of updates."""
        means = [
            np.mean([2.0 ** int(name[1:]) for name in update.contributors])
            for update in self.opt.updates
        ]
        return -float(np.sum(np.float32(means)))

    def waits(self, *workers: str) -> None:
        """Until exactly these wait for a token."""
        self.until(lambda: {taker.worker for taker in self.opt._tokens.takers} == {*workers})

    def until(self, seen: Callable[[], bool]) -> None:
        with self.opt._changed:
            assert self.opt._changed.wait_for(seen, PATIENCE)


class Crew:
    """Threads, and what they raised; leaving the block joins them."""

    def __init__(self) -> None:
        self.threads: list[threading.Thread] = []
        self.errors: dict[str, BaseException] = {}

    def __enter__(self) -> Crew:
        return self

    def __exit__(self, *error: object) -> None:
        self.join()

    def start(self, name: str, act: Callable[..., None], *arguments: Any) -> None:
        def run() -> None:
            try:
                act(*arguments)
            except BaseException as error:
                self.errors[name] = error

        self.threads.append(threading.Thread(target=run, name=name))
        self.threads[-1].start()

    def join(self) -> None:
        for thread in self.threads:
            thread.join(PATIENCE)
            assert not thread.is_alive(), f"{thread.name} still waits"


@pytest.fixture(autouse=True)
def no_thread_is_left() -> Iterator[None]:
    before = set(threading.enumerate())
    yield
    assert set(threading.enumerate()) <= before


@pytest.fixture
def restless() -> Iterator[None]:
    """Threads take turns a thousand times as often, so that few steps are done in one go."""
    usual = sys.getswitchinterval()
    sys.setswitchinterval(usual / 1000)
    yield
    sys.setswitchinterval(usual)


@pytest.mark.exhaustive
@pytest.mark.usefixtures("restless")
@pytest.mark.parametrize(("needs", "workers"), [(1, 1), (3, 3), (3, 2), (4, 2)])
def test_every_round_is_synchronous_with_the_fewest_start_tokens(needs: int, workers: int) -> None:
    t = Training(needs, workers)
    with Crew() as crew, t.opt.chief(num_tokens=max(0, needs - workers)):
        for k in range(workers):
            crew.start(f"w{k}", t.worker, f"w{k}", 1_000_000)
        t.until(lambda: len(t.opt.updates) >= 300)
    assert crew.errors == {}
    assert all(push.accepted for push in t.pushed)
    assert all(
        len(u.contributors) == needs and len(set(u.contributors)) == workers for u in t.opt.updates
    )
    assert t.v.numpy().item() == pytest.approx(t.replayed(), rel=1e-5)


def test_backup_workers_are_dropped_or_averaged_and_the_book_says_which() -> None:
    t = Training(2, 5)
    with Crew() as crew, t.opt.chief(num_tokens=0):
        for k in range(5):
            crew.start(f"w{k}", t.worker, f"w{k}", 1_000_000)
        t.until(lambda: len(t.opt.updates) >= 30)
    assert crew.errors == {}
    assert all(len(u.contributors) >= 2 for u in t.opt.updates)
    in_updates = Counter(name for u in t.opt.updates for name in u.contributors)
    kept = Counter(push.worker for push in t.pushed if push.accepted)
    left = Counter(t.opt._rounds.contributors)
    for name in in_updates | kept:  # the last push of each may have been cut off behind it
        assert in_updates[name] + left[name] - kept[name] in (0, 1), name
    assert t.v.numpy().item() == pytest.approx(t.replayed(), rel=1e-5)


def test_the_end_of_the_block_wakes_all_who_wait_and_is_no_error_for_workers_that_said_so() -> None:
    t = Training(3)
    with Crew() as crew:
        with t.opt.chief(num_tokens=0):
            crew.start("w0", t.worker, "w0", 5)
            crew.start("w1", t.train, "w1", 5)
            t.waits("w0", "w1")
        crew.join()
        assert crew.errors.keys() == {"w1"}
        assert isinstance(crew.errors["w1"], gl.errors.CancelledError)
        assert "w1 waits for a token, but the chief has stopped at step 0: training is over" in str(
            crew.errors["w1"]
        )
        with pytest.raises(gl.errors.CancelledError, match="the chief has stopped"):
            t.train("w2")


def test_a_new_chief_begins_anew() -> None:
    t = Training(2)
    for _ in range(2):
        with t.opt.chief(num_tokens=0), Crew() as crew:
            for name in ("w0", "w1"):
                crew.start(name, t.worker, name, 3)
        assert crew.errors == {}
    assert int(t.step) == 6 and all(push.accepted for push in t.pushed)
    with t.opt.chief(num_tokens=0), Crew() as crew:
        crew.start("w0", t.worker, "w0", 1)
        t.waits("w0")
        t.opt.close()
    with t.opt.chief(num_tokens=2):
        t.train("w0", 2)
        assert len(t.opt.updates) in (6, 7) and all(push.accepted for push in t.pushed)


@differs(
    "a wait in `SyncReplicasOptimizer` that nothing can end",
    tensorflow="waits forever",
    gradlab="a `DeadlockError`",
)
def test_a_worker_whose_peers_are_gone_is_told_so() -> None:
    t = Training(2)
    with t.opt.chief(num_tokens=0), Crew() as crew:
        crew.start("w0", t.worker, "w0", 3)
        crew.start("w1", t.worker, "w1", 1)
        crew.join()
        error = crew.errors.pop("w0")
    assert isinstance(error, gl.errors.DeadlockError) and crew.errors == {}
    assert str(error) == (
        "worker w0 waits for a token, but no worker is left that could push: tokens come with the "
        "next update: an update needs 2, 1 have come (from w0); done for good: w1"
    )
    assert int(t.step) == 1


def test_a_worker_that_has_not_come_yet_is_waited_for() -> None:
    t = Training(2)
    with t.opt.chief(num_tokens=0), Crew() as crew:
        crew.start("w0", t.worker, "w0", 2)
        t.until(lambda: len(t.opt.why_waiting()) == 2)
        (chief, worker) = sorted(t.opt.why_waiting(), key=lambda waiting: str(waiting.who))
        assert (chief.who, chief.needs, chief.has, worker.who, worker.position) == (
            "chief",
            2,
            1,
            "w0",
            1,
        )
        assert "1 have come (from w0)" in worker.text
        crew.start("w1", t.worker, "w1", 2)
    assert crew.errors == {} and int(t.step) == 2


def test_a_second_crew_may_come_when_the_first_is_gone() -> None:
    t = Training(2)
    with t.opt.chief(num_tokens=0):
        for names in (("w0", "w1"), ("w0", "w1"), ("w2", "w3")):
            with Crew() as crew:
                crew.start(names[0], t.worker, names[0], 1)
                t.waits(names[0])
                crew.start(names[1], t.worker, names[1], 1)
            assert crew.errors == {}
    assert int(t.step) == 3


def test_a_wait_with_a_limit_ends_and_can_go_on() -> None:
    t = Training(2)
    with t.opt.chief(num_tokens=0):
        with pytest.raises(
            gl.errors.DeadlineExceededError, match=r"an update needs 2, 1 have come \(from w0\)"
        ):
            t.train("w0", timeout=0.01)
        with pytest.raises(gl.errors.DeadlineExceededError):
            t.opt.take_token("w0", timeout=0.0)
        with Crew() as crew:
            crew.start("w1", t.train, "w1", 1)
            assert t.opt.take_token("w0", timeout=PATIENCE) == 1
    assert crew.errors == {} and t.opt.updates[0].contributors == ("w0", "w1")


def test_without_a_chief_a_wait_says_so() -> None:
    t = Training(1)
    with pytest.raises(
        gl.errors.DeadlineExceededError,
        match=r"no chief is there, start one by `with opt.chief\(\):`",
    ):
        t.train("w0", timeout=0.01)


def test_a_chief_with_a_limit_ends_training_with_an_error() -> None:
    t, crew = Training(2), Crew()

    def train() -> None:
        with t.opt.chief(num_tokens=0, timeout=0.01), crew:
            crew.start("w0", t.train, "w0", 1)

    with pytest.raises(
        gl.errors.DeadlineExceededError,
        match=r"the chief waits for 2 gradients, for 0\.01 s in vain",
    ):
        train()
    assert isinstance(crew.errors["w0"], gl.errors.CancelledError)
    assert "the chief has failed with DeadlineExceededError" in str(crew.errors["w0"])


def test_a_failing_update_ends_training_with_its_error() -> None:
    t, crew = Training(1, inner=gl.train.GradientDescentOptimizer(lambda: 1 / 0)), Crew()

    def train() -> None:
        with t.opt.chief(num_tokens=0), crew:
            crew.start("w0", t.worker, "w0", 1)

    with pytest.raises(ZeroDivisionError):
        train()
    assert crew.errors == {} and int(t.step) == 0


def test_an_error_in_the_block_is_the_one_that_counts() -> None:
    with pytest.raises(KeyError, match="mine"), Training(1).opt.chief():
        raise KeyError("mine")


def test_ctrl_c_ends_a_wait_and_gives_the_place_in_the_queue_away() -> None:
    t = Training(2)

    def interrupt() -> None:
        t.waits("w0")
        signal.raise_signal(signal.SIGINT)

    with t.opt.chief(num_tokens=0), Crew() as crew:
        crew.start("interrupt", interrupt)
        with pytest.raises(KeyboardInterrupt):
            t.train("w0")
        assert t.opt._tokens.takers == ()
        crew.start("w1", t.train, "w1", 1)
    assert crew.errors == {} and t.opt.tokens == (1,)


def test_tensorflows_queue_runner_and_start_tokens() -> None:
    t = Training(2)
    t.opt.build([([1.0], t.v)], t.step)
    runner = t.opt.get_chief_queue_runner()
    (thread,) = runner.create_threads(start=True)
    t.opt.get_init_tokens_op().run()
    t.train("w0", 1)
    t.train("w1", 1)
    assert t.opt.take_token("w0", PATIENCE) == 1
    runner.stop()
    assert not thread.is_alive() and runner.error is None


def test_tensorflows_hook_on_every_worker() -> None:
    t = Training(2)
    t.opt.build([([1.0], t.v)], t.step)
    done = threading.Event()

    def other() -> None:
        with t.opt.make_session_run_hook(is_chief=False, worker="w1"):
            t.train("w1", 3)
        done.set()

    with Crew() as crew, t.opt.make_session_run_hook(is_chief=True, num_tokens=0, worker="w0"):
        crew.start("w1", other)
        t.train("w0", 3)
        assert done.wait(PATIENCE)
    assert crew.errors == {} and int(t.step) == 3


def test_nothing_is_lost_while_workers_give_up_at_random() -> None:
    t = Training(2, 4)

    def hasty(name: str, seed: int) -> None:
        draw = np.random.default_rng(seed)
        for _ in range(40):
            try:
                t.train(name, timeout=float(draw.choice([0.0, 1e-4, 1e-3])))
            except gl.errors.DeadlineExceededError:
                given_up.append(name)

    given_up: list[str] = []
    with t.opt.chief(num_tokens=0), Crew() as crew:
        for k in range(4):
            crew.start(f"w{k}", hasty, f"w{k}", k)
    assert crew.errors == {} and len(t.pushed) + len(given_up) == 160
    assert len(t.pushed) + len(t.opt.tokens) == 4 * len(t.opt.updates), (
        "a token is lost, or there twice"
    )
    assert t.v.numpy().item() == pytest.approx(t.replayed(), rel=1e-5)


class Killed(BaseException):
    """Raised in a thread by another one."""


def test_nothing_is_lost_when_threads_that_wait_are_killed() -> None:
    t = Training(2, 4)
    killed: list[str] = []

    def mortal(name: str) -> None:
        for _ in range(40):
            try:
                t.train(name, timeout=PATIENCE)
            except Killed:
                killed.append(name)

    with t.opt.chief(num_tokens=0), Crew() as crew:
        for k in range(4):
            crew.start(f"w{k}", mortal, f"w{k}")
        idents = {thread.name: thread.ident for thread in crew.threads}
        for _ in range(20):
            with t.opt._changed:
                while not t.opt._tokens.takers and any(
                    thread.is_alive() for thread in crew.threads
                ):
                    t.opt._changed.wait(0.1)
                for taker in t.opt._tokens.takers[:1]:
                    ident, error = ctypes.c_ulong(idents[taker.worker]), ctypes.py_object(Killed)
                    ctypes.pythonapi.PyThreadState_SetAsyncExc(ident, error)
        t.opt.put_tokens(160)  # whoever died pushed, but took none: let the others end
    assert crew.errors == {} and len(t.pushed) + len(killed) == 160 and killed
    assert len(t.pushed) + len(t.opt.tokens) == 160 + 4 * len(t.opt.updates)


ALONE = """
import threading
import gradlab as gl

v, step = gl.Variable([0.0], name="v"), gl.get_or_create_global_step()
opt = gl.train.SyncReplicasOptimizer(gl.train.GradientDescentOptimizer(1.0), 2)

def work():
    try:
        opt.apply_gradients([([1.0], v)], step, worker="w1")
    except gl.errors.DeadlockError as error:
        print(error)

with opt.chief(num_tokens=0):
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
"""


@pytest.mark.exhaustive
def test_a_worker_that_never_arrives_is_noticed_when_all_threads_wait() -> None:
    done = subprocess.run(
        [sys.executable, "-c", ALONE], capture_output=True, text=True, timeout=2 * PATIENCE
    )
    assert done.stderr == ""
    assert done.stdout.startswith(
        "worker w1 waits for a token, but every other thread waits, too: tokens come with"
    )
