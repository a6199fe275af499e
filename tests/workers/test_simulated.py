"""Virtual time: runs by hand, and what holds for every experiment."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given

import gradlab as gl
from gradlab.errors import DeadlockError
from gradlab.workers import (
    CHECK,
    JOIN,
    LEAVE,
    MOVES,
    READ,
    RECORD,
    UPDATE,
    Bowl,
    Crash,
    Experiment,
    Speeds,
    replay,
    run,
)
from gradlab.workers.simulated import decide, uniform_delays
from tests.workers.experiments import experiments, same

EVEN = Speeds(median=10, spread=0.0, gap=2)


def rounds(e: Experiment, *names: str) -> list[tuple[int, ...]]:
    table = decide(e).rounds
    return list(zip(*(table[name].tolist() for name in names), strict=True))


def test_three_even_workers_by_hand() -> None:
    e = Experiment(Bowl(), workers=3, gradients=6, speeds=EVEN, staleness=0)
    assert rounds(e, "worker", "number", "began", "ended", "read", "applied_to") == [
        # Ties: the lower worker is first.
        (0, 0, 0, 10, 0, 0),
        (1, 0, 0, 10, 0, -1),
        (2, 0, 0, 10, 0, -1),
        (0, 1, 10, 20, 1, 1),
        (1, 1, 10, 20, 1, -1),
        (2, 1, 10, 20, 1, -1),
    ]


def test_workers_in_lock_step_lose_nothing_from_a_limit_of_one_less_than_they_are() -> None:
    e = Experiment(Bowl(), workers=4, gradients=40, speeds=EVEN)
    assert [int(decide(e.with_(staleness=s)).accepted.sum()) for s in (0, 1, 2, 3)] == [
        10,
        20,
        30,
        40,
    ]


def test_a_worker_that_is_always_late_starves() -> None:
    e = Experiment(Bowl(), workers=3, gradients=300, speeds=Speeds(slow={2: 5.0}), staleness=2)
    assert decide(e).by_worker()["accepted"][2] == 0


def test_the_first_race_two_pass_at_step_0() -> None:
    e = Experiment(Bowl(), workers=2, gradients=2, speeds=EVEN, staleness=0, atomic=False)
    trace = decide(e)
    assert (
        trace.accepted.all()
        and trace.staleness.tolist() == [0, 0]
        and trace.true_staleness.tolist() == [0, 1]
    )
    assert decide(e.with_(atomic=True)).accepted.tolist() == [True, False]


def test_the_second_race_the_step_is_noted_after_the_forward_pass() -> None:
    late = Speeds(median=10, spread=0.0, slow={1: 1.5}, gap=12)
    e = Experiment(Bowl(), workers=2, gradients=2, speeds=late, staleness=0, step_first=False)
    trace = decide(e)
    assert trace.rounds["worker"].tolist() == [0, 1] and trace.accepted.all()
    assert (trace.staleness[1], trace.true_staleness[1]) == (0, 1)
    assert decide(e.with_(step_first=True)).accepted.tolist() == [True, False]


def test_waiting_keeps_the_fast_within_reach_of_the_slow() -> None:
    e = Experiment(
        Bowl(),
        workers=2,
        gradients=8,
        policy="wait",
        staleness=1,
        speeds=Speeds(10, 0.0, slow={1: 3}),
    )
    assert rounds(e, "worker", "began", "ended") == [
        (0, 0, 10),
        (0, 10, 20),
        (1, 0, 30),
        (0, 30, 40),
        (1, 30, 60),
        (0, 60, 70),
        (1, 60, 90),
        (0, 90, 100),
    ]


def test_the_mean_of_the_fastest_two_of_three() -> None:
    e = Experiment(
        Bowl(),
        workers=3,
        gradients=6,
        policy="backup",
        aggregate=2,
        speeds=Speeds(10, 0.0, slow={2: 1.5}),
    )
    assert rounds(e, "worker", "ended", "read", "applied_to", "moved") == [
        (0, 10, 0, 0, 0),
        (1, 10, 0, 0, 1),
        (2, 15, 0, -1, 0),
        (0, 20, 1, 1, 0),
        (1, 20, 1, 1, 1),
        (0, 30, 2, 2, 0),
    ]


def test_a_crash_and_a_return() -> None:
    e = Experiment(
        Bowl(), workers=2, gradients=3, speeds=Speeds(10, 0.0, crashes=(Crash(1, 0, after=3),))
    )
    trace = decide(e)
    moves = [
        (MOVES[m], k, t)
        for (m, k), t in zip(trace.moves.tolist(), trace.times.tolist(), strict=True)
    ]
    assert [x for x in moves if x[1] == 1] == [
        ("read", 1, 0),
        ("record", 1, 0),
        ("leave", 1, 5),
        ("join", 1, 8),
        ("read", 1, 8),
        ("record", 1, 8),
        ("check", 1, 18),
        ("update", 1, 18),
        ("read", 1, 18),
        ("record", 1, 18),
    ]


@pytest.mark.parametrize(
    ("settings", "crashes", "message"),
    [
        (
            {"policy": "backup", "aggregate": 2},
            (Crash(0, 1),),
            "waiting are 1, alive are [1]; 1 of 2 gradients of step 1",
        ),
        ({}, (Crash(0, 0), Crash(1, 0)), "after 0 gradients: waiting are nobody, alive are []"),
    ],
)
def test_a_deadlock_is_an_error(
    settings: dict[str, Any], crashes: tuple[Crash, ...], message: str
) -> None:
    e = Experiment(Bowl(), workers=2, speeds=Speeds(10, 0.0, crashes=crashes), **settings)
    with pytest.raises(DeadlockError) as caught:
        decide(e)
    assert message in str(caught.value)


@given(experiments())
def test_the_books_balance(e: Experiment) -> None:
    trace = decide(e)
    r, accepted = trace.rounds, trace.accepted
    by_worker = trace.by_worker()
    assert len(trace) == e.gradients == by_worker["handed_in"].sum()
    assert (
        by_worker["accepted"].sum() == accepted.sum() == len(trace) - (r["applied_to"] == -1).sum()
    )
    # No update is lost and none is made twice: the step goes up by 1 at each, and each gradient
    # comes once.
    steps = np.cumsum(r["moved"]) - r["moved"]
    np.testing.assert_array_equal(r["applied_to"][accepted], steps[accepted])
    assert len({*zip(r["worker"].tolist(), r["number"].tolist(), strict=True)}) == len(trace)
    assert (trace.true_staleness >= trace.staleness).all() and (trace.staleness >= 0).all()
    assert (np.diff(trace.times) >= 0).all() and (r["ended"] >= r["began"]).all()
    if e.atomic and e.step_first:
        np.testing.assert_array_equal(trace.true_staleness, trace.staleness)


@given(experiments("drop"))
def test_drop_accepts_what_is_fresh_and_nothing_else(e: Experiment) -> None:
    trace = decide(e)
    np.testing.assert_array_equal(trace.accepted, trace.staleness <= e.staleness)


@given(experiments("wait"))
def test_wait_drops_nothing_and_keeps_workers_together(e: Experiment) -> None:
    e = e.with_(speeds=Speeds(e.speeds.median, e.speeds.spread, e.speeds.slow))
    trace = decide(e)
    assert trace.accepted.all()
    clocks = np.cumsum(trace.rounds["worker"][:, None] == np.arange(e.workers), axis=0)
    assert len(trace) == 0 or np.ptp(clocks, axis=1).max() <= e.staleness + 1
    # Each of the others may catch up by the limit, get ahead by it, and be done with one more.
    assert trace.true_staleness.max(initial=0) <= (2 * e.staleness + 1) * (e.workers - 1)


def test_the_bound_of_staleness_under_wait_is_reached() -> None:
    erratic = Speeds(spread=1.0, stall=0.1)
    e = Experiment(Bowl(), workers=3, gradients=300, policy="wait", staleness=2, speeds=erratic)
    assert max(decide(e.with_(seed=seed)).staleness.max() for seed in range(40)) == (2 * 2 + 1) * (
        3 - 1
    )


@given(experiments("backup"))
def test_backup_takes_exactly_aggregate_gradients_for_each_update(e: Experiment) -> None:
    trace = decide(e)
    taken = np.bincount(trace.rounds["applied_to"][trace.accepted], minlength=trace.updates)
    assert (taken[: trace.updates] == e.aggregate).all() and (
        taken[trace.updates :] < e.aggregate
    ).all()
    assert (trace.staleness[~trace.accepted] > 0).all()
    if e.atomic:
        assert (trace.staleness[trace.accepted] == 0).all()


@given(experiments())
def test_every_worker_makes_its_moves_in_order(e: Experiment) -> None:
    moves = decide(e).moves
    after = {
        None: {READ},
        READ: {RECORD, LEAVE},
        RECORD: {CHECK, LEAVE},
        CHECK: {UPDATE},
        UPDATE: {READ},
        LEAVE: {JOIN},
    }
    after[JOIN] = {READ}
    for k in range(e.workers):
        last = None
        for move in moves[moves[:, 1] == k, 0].tolist():
            assert move in after[last]
            last = move


@pytest.mark.exhaustive
@given(experiments())
def test_a_run_does_not_vary(e: Experiment) -> None:
    a, b = gl.workers.run(e), gl.workers.run(e)
    same(a, b)
    np.testing.assert_array_equal(a.weights["w"], b.weights["w"])


def test_an_engine_is_a_name_or_a_function() -> None:
    e = Experiment(Bowl(), gradients=3)
    assert gl.workers.run(e, lambda experiment, word: (experiment, word), word="so") == (e, "so")
    with pytest.raises(
        ValueError, match=r"engine must be one of simulated, threads.* or a function, got 'steam'"
    ):
        gl.workers.run(e, "steam")


@pytest.mark.parametrize(
    ("engine", "option", "there"),
    [
        ("simulated", "timeout", "it has none"),
        ("threads", "foo", "it has tick"),
        (
            "ray",
            "foo",
            "it has address, log, sync, tick, timeout, worker_options, shards, shard_options",
        ),
    ],
)
def test_an_option_that_an_engine_does_not_have(engine: str, option: str, there: str) -> None:
    with pytest.raises(TypeError, match=f"^engine '{engine}' has no option '{option}'; {there}$"):
        gl.workers.run(Experiment(Bowl()), engine, **{option: 1})


def experiment(count: int = 400) -> Experiment:
    return Experiment(
        Bowl(noise=0.1), learning_rate=0.01, workers=count, gradients=count, policy="apply", seed=3
    )


def test_every_delay_up_to_the_largest_is_about_as_likely() -> None:
    stale = run(experiment(), uniform_delays(3)).true_staleness
    counts = np.bincount(stale[10:], minlength=4)
    assert len(counts) == 4
    assert counts.min() > 70


def test_without_delay_it_is_plain_descent() -> None:
    e = experiment(5)
    w = e.start()["w"]
    for worker in range(5):
        w = w - np.float32(0.01) * e.gradient({"w": w}, worker, 0)["w"]
    np.testing.assert_array_equal(run(e, uniform_delays(0)).weights["w"], w)


def test_the_trace_repeats_bit_for_bit() -> None:
    trace = run(experiment(), uniform_delays(9))
    assert trace.updates == 400
    np.testing.assert_array_equal(replay(trace.experiment, trace)["w"], trace.weights["w"])


def test_uniform_delays_need_a_worker_for_each_gradient() -> None:
    with pytest.raises(ValueError, match="workers=7"):
        run(Experiment(Bowl(), workers=2, gradients=7), uniform_delays(1))


@pytest.mark.parametrize("most", [-1, 1.5, None])
def test_uniform_delays_need_a_whole_number(most: int) -> None:
    with pytest.raises(ValueError, match="most must be a whole number of at least 0"):
        uniform_delays(most)
