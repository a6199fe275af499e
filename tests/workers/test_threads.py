"""Real threads: results that do not depend on their speed, ends of every kind, and no thread left
behind.
"""

import _thread
import signal
import threading
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pytest

from gradlab._base.arrays import Array
from gradlab.errors import DeadlockError
from gradlab.workers import JOIN, LEAVE, Bowl, Crash, Experiment, Speeds, Trace, run
from tests.workers.experiments import POLICIES

PATIENCE = 30.0


@pytest.fixture(autouse=True)
def no_thread_left() -> Iterator[None]:
    before = set(threading.enumerate())
    yield
    assert set(threading.enumerate()) == before


class Own(Bowl):
    """Calls a function of (worker thread's name, call number) in every gradient."""

    def __init__(self, then: Any) -> None:
        super().__init__(noise=0.1)
        object.__setattr__(self, "then", then)
        object.__setattr__(self, "lock", threading.Lock())
        object.__setattr__(self, "calls", [])

    def gradient(self, weights: Mapping[str, Array], rng: np.random.Generator) -> dict[str, Array]:
        with self.lock:  # type: ignore[attr-defined]
            self.calls.append(threading.current_thread())  # type: ignore[attr-defined]
            number = len(self.calls)  # type: ignore[attr-defined]
        self.then(number)  # type: ignore[attr-defined]
        return super().gradient(weights, rng)


def nothing(number: int) -> None:
    pass


@pytest.mark.parametrize("policy", POLICIES.values(), ids=POLICIES)
@pytest.mark.parametrize("tick", [0, 1e-6, 1e-5])
@pytest.mark.parametrize("races", [False, True], ids=["", "races"])
def test_the_books_balance(policy: dict[str, Any], tick: float, races: bool) -> None:
    speeds = Speeds(slow={0: 3}, crashes=(Crash(1, 2, after=40), Crash(3, 0, after=0)))
    e = Experiment(
        Bowl(), gradients=120, speeds=speeds, atomic=not races, step_first=not races, **policy
    )
    trace = run(e, "threads", tick=tick)
    r, accepted = trace.rounds, trace.accepted
    assert len(trace) == 120 and trace.unit == "microseconds"
    steps = np.cumsum(r["moved"]) - r["moved"]
    np.testing.assert_array_equal(r["applied_to"][accepted], steps[accepted])
    assert len({*zip(r["worker"].tolist(), r["number"].tolist(), strict=True)}) == 120
    assert (np.diff(trace.times) >= 0).all() and (trace.true_staleness >= trace.staleness).all()
    if e.policy == "drop":
        np.testing.assert_array_equal(accepted, trace.staleness <= e.staleness)
    elif e.policy == "backup":
        taken = np.bincount(r["applied_to"][accepted], minlength=trace.updates)
        assert (taken[: trace.updates] == e.aggregate).all()
    else:
        assert accepted.all()


def test_waiting_is_real() -> None:
    e = Experiment(
        Bowl(), workers=3, gradients=90, policy="wait", staleness=1, speeds=Speeds(slow={2: 10})
    )
    trace = run(e, "threads")
    clocks = np.cumsum(trace.rounds["worker"][:, None] == np.arange(3), axis=0)
    assert np.ptp(clocks, axis=1).max() <= 2
    free = run(e.with_(policy="apply"), "threads")
    assert np.ptp(np.bincount(free.rounds["worker"], minlength=3)) > 2, (
        "without waiting the fast run away"
    )


def test_every_worker_is_a_thread_of_its_own() -> None:
    ready = threading.Barrier(4, timeout=PATIENCE)  # passes only if four compute at once
    problem = Own(lambda number: ready.wait() if number <= 4 else None)
    run(Experiment(problem, workers=4, gradients=12), "threads", tick=0)
    assert len(set(problem.calls)) == 4  # type: ignore[attr-defined]


def test_two_check_before_either_updates() -> None:
    """With atomic=False others come between a check and its update: seen as soon as a trace shows
    it.
    """
    e = Experiment(
        Bowl(),
        workers=4,
        gradients=200,
        staleness=0,
        atomic=False,
        speeds=Speeds(median=20, gap=20),
    )
    trace = run(e, "threads")
    assert (trace.true_staleness > trace.staleness)[trace.accepted].any()
    atomic = run(e.with_(atomic=True), "threads")
    assert (atomic.true_staleness == atomic.staleness).all()


def test_a_crash_ends_a_thread_and_a_return_begins_one() -> None:
    problem = Own(nothing)
    e = Experiment(problem, workers=1, gradients=4, speeds=Speeds(crashes=(Crash(0, 2, after=10),)))
    trace = run(e, "threads")
    assert trace.moves[:, 0].tolist().count(LEAVE) == trace.moves[:, 0].tolist().count(JOIN) == 1
    threads = list(dict.fromkeys(problem.calls))  # type: ignore[attr-defined]
    assert len(threads) == 2 and not any(t.is_alive() for t in threads)
    assert trace.rounds["number"].tolist() == [0, 1, 3, 4]


@pytest.mark.parametrize(
    ("settings", "crashes", "message"),
    [
        ({"policy": "backup", "aggregate": 3}, (Crash(0, 1),), r"2 of 3 gradients of step 1"),
        (
            {"policy": "apply"},
            (Crash(0, 0), Crash(1, 0), Crash(2, 0)),
            r"waiting are nobody, alive are \[\]",
        ),
    ],
)
def test_a_deadlock_is_an_error(
    settings: dict[str, Any], crashes: tuple[Crash, ...], message: str
) -> None:
    e = Experiment(Bowl(), workers=3, speeds=Speeds(crashes=crashes), **settings)
    with pytest.raises(DeadlockError, match=message):
        run(e, "threads")


def test_workers_do_not_wait_for_a_dead_one() -> None:
    e = Experiment(
        Bowl(), workers=3, gradients=50, policy="wait", speeds=Speeds(crashes=(Crash(0, 1),))
    )
    assert np.bincount(run(e, "threads").rounds["worker"]).tolist()[0] == 1


@pytest.mark.parametrize("policy", ["apply", "wait", "backup"])
@pytest.mark.parametrize("at", [1, 5, 23])
def test_what_a_gradient_raises_is_raised_by_run(policy: str, at: int) -> None:
    def then(number: int) -> None:
        if number == at:
            raise ZeroDivisionError(f"in gradient {number}")

    e = Experiment(Own(then), gradients=10_000, policy=policy, aggregate=2)
    with pytest.raises(ZeroDivisionError, match=f"in gradient {at}"):
        run(e, "threads")


def test_a_gradient_that_does_not_fit_is_raised_by_run() -> None:
    class Wrong(Bowl):
        def gradient(
            self, weights: Mapping[str, Array], rng: np.random.Generator
        ) -> dict[str, Array]:
            return {"w": np.ones(3)}

    with pytest.raises(
        ValueError, match=r"the gradient of w has shape \(3,\), the weight has \(2,\)"
    ):
        run(Experiment(Wrong()), "threads")


def test_ctrl_c_ends_all() -> None:
    """The signal comes to the main thread, which waits, while workers compute and others wait for
    them.
    """
    problem = Own(lambda number: _thread.interrupt_main(signal.SIGINT) if number == 10 else None)
    e = Experiment(problem, gradients=5000, policy="wait", speeds=Speeds(median=1000, slow={0: 5}))
    with pytest.raises(KeyboardInterrupt):
        run(e, "threads", tick=1e-5)
    assert len(problem.calls) < 1000  # type: ignore[attr-defined]


def test_no_gradients_at_all() -> None:
    trace = run(Experiment(Bowl(), gradients=0), "threads")
    assert len(trace) == 0 and trace.weights["w"].tolist() == [1, 1]


@pytest.mark.parametrize("tick", [-1, float("nan"), float("inf")])
def test_a_tick_lasts_some_time(tick: float) -> None:
    with pytest.raises(ValueError, match="tick must be finite and at least 0"):
        run(Experiment(Bowl()), "threads", tick=tick)


@pytest.mark.exhaustive
def test_many_threads() -> None:
    trace: Trace = run(
        Experiment(Bowl(), workers=64, gradients=2000, policy="apply"), "threads", tick=1e-6
    )
    assert trace.updates == len(trace) == 2000
    assert trace.rounds["applied_to"].tolist() == list(range(2000))
