"""A sweep is the simulated engine, tick by tick, and follows the closed forms where there are some."""

import dataclasses
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gradlab as gl
from gradlab.workers import (
    CHECK,
    READ,
    Bowl,
    Crash,
    Diagram,
    Experiment,
    Speeds,
    Trace,
    simulated,
    sweep,
)

pytestmark = pytest.mark.exhaustive

KINDS = ("apply", "damp", "compensate", "drop", "wait", "backup")


def at(experiment: Experiment, **settings: Any) -> Experiment:
    """One place of a grid as an experiment of its own."""
    speeds = {
        name: settings.pop(name) for name in list(settings) if hasattr(experiment.speeds, name)
    }
    return experiment.with_(**settings, speeds=dataclasses.replace(experiment.speeds, **speeds))


def places(diagram: Diagram) -> list[tuple[tuple[int, ...], dict[str, Any]]]:
    shape = tuple(len(values) for values in diagram.axes.values())
    return [
        (
            place,
            {
                name: values[i]
                for (name, values), i in zip(diagram.axes.items(), place, strict=True)
            },
        )
        for place in np.ndindex(shape)
    ]


def waited(trace: Trace) -> int:
    """Ticks between a worker's gradient and its next read, or the end; of all workers together."""
    total, idle_since = 0, dict[int, int]()
    for (move, worker), time in zip(trace.moves.tolist(), trace.times.tolist(), strict=True):
        if move == READ:
            total += time - idle_since.pop(worker, time)
        elif move == CHECK:
            idle_since[worker] = time
    return total + sum(int(trace.times[-1]) - time for time in idle_since.values())


def assert_is_simulated(experiment: Experiment, diagram: Diagram) -> None:
    most = max(diagram.axes.get("workers", [experiment.workers]))
    for place, settings in places(diagram):
        e = at(experiment, **settings)
        trace = simulated.decide(e)
        found = {
            f.name: getattr(diagram, f.name)[place]
            for f in dataclasses.fields(Diagram)
            if f.name != "axes"
        }
        absent, by_worker, time = [0] * (most - e.workers), trace.by_worker(), trace.times[-1]
        expected = {
            "acceptance": trace.accepted.mean(),
            "throughput": trace.updates / time,
            "updates": trace.updates,
            "staleness": trace.true_staleness.mean(),
            "most_staleness": trace.true_staleness.max(),
            "handed_in": [*by_worker["handed_in"], *absent],
            "accepted": [*by_worker["accepted"], *absent],
            "waiting": waited(trace) / (e.workers * time),
            "time": time,
        }
        for name, value in expected.items():
            np.testing.assert_array_equal(found[name], value, err_msg=f"{name} of {settings}")


# Few ticks make many ties, and five workers take the same program as eight.
@given(
    policy=st.sampled_from(KINDS),
    speeds=st.builds(
        Speeds, median=st.sampled_from([1, 2, 3, 100]), stall=st.sampled_from([0.0, 0.3])
    ),
    workers=st.integers(1, 4),
    staleness=st.tuples(st.integers(0, 5), st.sampled_from([0, 1, 100, 2**40])),
    factor=st.sampled_from([0.3, 2, 50]),
    spread=st.sampled_from([0.0, 0.3, 2.0]),
    aggregate=st.integers(1, 5),
    seed=st.integers(0, 9),
)
def test_equals_the_simulated_engine(
    policy: str,
    speeds: Speeds,
    workers: int,
    staleness: tuple[int, int],
    factor: float,
    spread: float,
    aggregate: int,
    seed: int,
) -> None:
    aggregate = min(aggregate, workers)
    e = Experiment(
        Bowl(), policy=policy, speeds=speeds, gradients=40, seed=seed, aggregate=aggregate
    )
    axes = {
        "staleness": list(staleness),
        "workers": [5, workers],
        "slow": [{}, {0: factor}],
        "spread": [spread],
    }
    assert_is_simulated(e, sweep(e, **axes))


@pytest.mark.parametrize("policy", ["apply", "drop", "wait", "backup"])
@pytest.mark.parametrize(("workers", "gradients"), [(1, 25), (2, 1), (9, 25)])
def test_any_number_of_workers_and_one_gradient_too(
    policy: str, workers: int, gradients: int
) -> None:
    e = Experiment(Bowl(), policy=policy, workers=workers, staleness=1, gradients=gradients)
    assert_is_simulated(e, sweep(e, spread=[0.0, 0.4]))


@pytest.mark.exhaustive
@pytest.mark.parametrize("policy", ["drop", "wait"])
def test_more_configurations_than_one_block_holds(policy: str) -> None:
    e = Experiment(
        Bowl(), policy=policy, workers=4, gradients=15, speeds=Speeds(median=3, spread=0.5)
    )
    assert_is_simulated(e, sweep(e, staleness=range(7), seed=range(47)))


def test_axes_come_in_the_order_in_which_they_are_given() -> None:
    e = Experiment(Bowl(), policy="backup", workers=4, gradients=30)
    axes: dict[str, Any] = {
        "stall_factor": [2.0, 5.0],
        "aggregate": np.arange(1, 4),
        "stall": [0.5],
        "staleness": [0, 3],
        "median": [10],
    }
    diagram = sweep(e, **axes)
    assert diagram.acceptance.shape == (2, 3, 1, 2, 1)
    assert diagram.accepted.shape == (2, 3, 1, 2, 1, 4)
    assert_is_simulated(e, diagram)
    turned = sweep(e, **dict(reversed(axes.items())))
    np.testing.assert_array_equal(turned.time, diagram.time.T)
    assert repr(turned) == (
        "<gradlab.workers.Diagram of 1 median x 2 staleness x 1 stall x 3 aggregate x 2 "
        "stall_factor>"
    )


def test_without_axes_it_is_the_phase_diagram() -> None:
    e = Experiment(Bowl(), gradients=50, workers=3)
    diagram = sweep(e)
    assert diagram.acceptance.shape == (16, 16)
    assert {name: list(x) for name, x in diagram.axes.items()} == {
        "staleness": list(range(16)), "workers": list(range(1, 17)),
    }  # fmt: skip
    assert (
        diagram.acceptance[2, 4]
        == simulated.decide(e.with_(staleness=2, workers=5)).accepted.mean()
    )


def test_workers_in_lock_step_follow_the_closed_form() -> None:
    """Of K equal workers those up to the limit are accepted, always the same: (limit + 1) / K, and
    K - 1 loses none.
    """
    e = Experiment(Bowl(), gradients=720, speeds=Speeds(spread=0.0))
    limits, workers = np.arange(8), [1, 2, 3, 4, 6, 8]
    diagram = sweep(e, staleness=limits, workers=workers)
    np.testing.assert_array_equal(
        diagram.acceptance, np.minimum(1, (limits[:, None] + 1) / np.array(workers))
    )
    np.testing.assert_array_equal(diagram.accepted[1, -1], [90, 90, 0, 0, 0, 0, 0, 0])
    np.testing.assert_array_equal(
        diagram.time, np.broadcast_to(100 * 720 // np.array(workers), (8, 6))
    )


def test_who_waits_for_a_straggler_is_as_slow_as_the_straggler() -> None:
    """In the long run each worker hands in one gradient in median * slow ticks, and the fast ones
    work 1 / slow.
    """
    e = Experiment(
        Bowl(),
        policy="wait",
        workers=4,
        gradients=8000,
        speeds=Speeds(median=10, spread=0.0, slow={2: 5.0}),
    )
    diagram = sweep(e, staleness=[0, 3, 10])
    np.testing.assert_allclose(diagram.throughput, 4 / 50, rtol=0.01)
    np.testing.assert_allclose(diagram.waiting, 3 / 4 * 4 / 5, rtol=0.02)


@pytest.mark.exhaustive
@pytest.mark.parametrize(("workers", "aggregate"), [(4, 4), (8, 6), (8, 1)])
def test_the_first_update_with_backup_workers_is_an_order_statistic(
    workers: int, aggregate: int
) -> None:
    """It takes as long as the k-th fastest of n: the quantile of a beta(k, n - k + 1) variable, on
    average.
    """
    spread, seeds = 0.5, 2000
    speeds = Speeds(median=10_000, spread=spread)
    e = Experiment(
        Bowl(),
        policy="backup",
        workers=workers,
        aggregate=aggregate,
        gradients=aggregate,
        speeds=speeds,
    )
    times = sweep(e, seed=range(seeds)).time
    ticks = np.array([speeds.ticks(seed, workers, 1)[:, 0] for seed in range(seeds)])
    np.testing.assert_array_equal(times, np.sort(ticks, axis=1)[:, aggregate - 1])

    u = (np.arange(20_000) + 0.5) / 20_000
    density = u ** (aggregate - 1) * (1 - u) ** (workers - aggregate)
    lognormal = 10_000 * np.exp(spread * np.array([NormalDist().inv_cdf(x) for x in u]))
    expected = (density * lognormal).sum() / density.sum()
    assert abs(times.mean() - expected) < 4 * times.std() / np.sqrt(seeds)


def test_times_beyond_32_bits_are_refused_before_and_during_the_run() -> None:
    for median, gradients in ((2**30, 2), (3_000_000, 1000)):
        e = Experiment(Bowl(), workers=8, gradients=gradients, speeds=Speeds(median=median))
        with pytest.raises(OverflowError, match=f"smaller median than {median} or fewer gradients"):
            sweep(e, staleness=[0])
    e = Experiment(Bowl(), workers=1, gradients=1000, speeds=Speeds(median=1_000_000))
    assert sweep(e, staleness=[0]).time[0] == simulated.decide(e).times[-1], "this one still fits"


@pytest.mark.parametrize(
    ("axes", "error", "words"),
    [
        ({"stalenes": [1]}, TypeError, "stalenes is no axis of a sweep; did you mean staleness?"),
        ({"policy": ["drop"]}, TypeError, "policy is no axis"),
        ({"staleness": 3}, TypeError, "staleness is an axis: give a list of values, got 3"),
        ({"slow": {0: 2.0}}, TypeError, "slow is an axis: give a list"),
        ({"spread": []}, ValueError, "spread is an axis without values"),
        ({"workers": [2, 0]}, ValueError, "workers must be a whole number of at least 1, got 0"),
        ({"workers": [2, 2.5]}, ValueError, "workers must be a whole number"),
        ({"staleness": [0.5]}, ValueError, "staleness must be a whole number"),
        (
            {"staleness": [1, -1]},
            ValueError,
            "staleness must be a whole number of at least 0, got -1",
        ),
        (
            {"slow": [{3: 2.0}], "workers": [4, 3]},
            ValueError,
            "at slow={3: 2.0}, workers=3: speeds name workers",
        ),
        ({"spread": [0.1, -1.0]}, ValueError, "spread must be finite"),
        ({"seed": [-1]}, ValueError, "seed must be a whole number"),
    ],
)
def test_refuses(axes: dict[str, Any], error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words.replace("?", r"\?")):
        sweep(Experiment(Bowl(), workers=4), **axes)


def test_says_at_which_number_of_workers_the_slow_one_is_missing() -> None:
    words = (
        r"^at workers=1: speeds name workers \[3\]; there are 0 to 0: "
        r"slow or crash one of these, such as 0, or have"
    )
    with pytest.raises(gl.errors.InvalidArgumentError, match=words):
        sweep(Experiment(Bowl(), speeds=Speeds(slow={3: 3.0})), workers=[1, 2, 4])


def test_refuses_more_ticks_than_32_bits_can_number() -> None:
    with pytest.raises(OverflowError, match="2 x 4 x 1000000001 speeds, workers and gradients"):
        sweep(Experiment(Bowl(), gradients=10**9), seed=[0, 1], workers=[3])


def test_refuses_more_of_one_step_than_there_are_workers() -> None:
    with pytest.raises(
        gl.errors.InvalidArgumentError, match="2 workers cannot hand in 3 gradients"
    ):
        sweep(Experiment(Bowl(), policy="backup"), aggregate=[1, 3], workers=[4, 2])


@pytest.mark.parametrize(
    "changes",
    [{"atomic": False}, {"step_first": False}, {"speeds": Speeds(crashes=(Crash(0, 1, 5),))}],
)
def test_says_what_it_does_not_know(changes: dict[str, Any]) -> None:
    with pytest.raises(gl.errors.InvalidArgumentError, match=r"one by one with gl\.workers\.run"):
        sweep(Experiment(Bowl(), **changes))


def test_refuses_to_divide_by_no_gradients() -> None:
    with pytest.raises(gl.errors.InvalidArgumentError, match="at least 1 gradient"):
        sweep(Experiment(Bowl(), gradients=0))
