"""Every engine's trace, repeated without its engine, gives the same bits."""

from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings

import gradlab as gl
from gradlab.workers import (
    Bowl,
    Crash,
    Digits,
    Experiment,
    FromLoss,
    Server,
    Speeds,
    Trace,
    loss_curve,
    replay,
    run,
)
from gradlab.workers.replays import replay_move
from tests.rules.cases import DEFAULTS
from tests.workers.experiments import POLICIES, experiments

ENGINES = ("simulated", "threads")  # Ray's own test asks it the same


def assert_repeats(trace: Trace) -> None:
    server = Server(trace.experiment)
    for (move, worker), time in zip(trace.moves.tolist(), trace.times.tolist(), strict=True):
        replay_move(server, move, worker, time)
    assert server.weights.keys() == trace.weights.keys()
    for name, w in trace.weights.items():
        again = server.weights[name]
        assert (again.dtype, np.asarray(again).tobytes()) == (w.dtype, np.asarray(w).tobytes())
    columns = np.array(server.ledger.rounds, np.int64).reshape(-1, len(trace.rounds)).T
    np.testing.assert_array_equal(columns, list(trace.rounds.values()))


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("policy", POLICIES.values(), ids=POLICIES)
@pytest.mark.parametrize("races", [False, True], ids=["", "races"])
def test_every_engine_and_policy(engine: str, policy: dict[str, Any], races: bool) -> None:
    crashes = Speeds(crashes=(Crash(0, 3, after=150), Crash(2, 1, after=0)))
    e = Experiment(
        Digits(hidden=(8,), batch=8),
        gl.rules.Momentum(0.9),
        0.01,
        workers=3,
        gradients=60,
        speeds=crashes,
        atomic=not races,
        step_first=not races,
        **policy,
    )
    trace = run(e, engine)
    assert len(trace) == 60 and trace.updates > 5
    assert_repeats(trace)


@pytest.mark.parametrize("case", DEFAULTS.values(), ids=DEFAULTS)
def test_every_optimizer(case: Any) -> None:
    e = Experiment(Bowl(noise=0.1), case.rule, 0.01, workers=3, gradients=20, staleness=1)
    assert_repeats(run(e))
    assert_repeats(run(e, "threads"))


@given(experiments())
def test_every_simulated_experiment(e: Experiment) -> None:
    assert_repeats(run(e))


@pytest.mark.exhaustive
@settings(max_examples=25)
@given(experiments())
def test_every_experiment_on_threads(e: Experiment) -> None:
    trace = run(e, "threads", tick=1e-6)
    assert len(trace) == e.gradients
    assert_repeats(trace)


def test_weights_of_jax() -> None:
    start = {"w": jnp.asarray([1.0, 1.0])}
    e = Experiment(
        Bowl(noise=0.1),
        gl.rules.Adam(),
        workers=3,
        gradients=20,
        weights=start,
        policy="compensate",
    )
    trace = run(e)
    assert isinstance(trace.weights["w"], type(start["w"]))
    assert_repeats(trace)


@pytest.mark.exhaustive
def test_a_loss_of_your_own() -> None:
    line = FromLoss(
        lambda w, x: ((w["a"] * x + w["b"] - 2 * x) ** 2).mean(),
        {"a": np.float32(0), "b": np.float32(1)},
        lambda rng: rng.standard_normal(4, np.float32),
        np.float32([1.0, -1.0]),
    )
    trace = run(Experiment(line, workers=3, gradients=60, staleness=2), "threads", tick=0)
    assert_repeats(trace)
    assert line.loss(trace.weights) < 0.1 * line.loss(line.start())


def test_another_optimizer_on_the_same_schedule() -> None:
    e = Experiment(Bowl(), gradients=40, staleness=3)
    trace = run(e)
    adam = e.with_(optimizer=gl.rules.Adam())
    assert (
        replay(adam, trace)["w"].tolist()
        == run(adam).weights["w"].tolist()
        != trace.weights["w"].tolist()
    )


def test_another_policy_on_the_same_schedule() -> None:
    e = Experiment(Bowl(), learning_rate=0.01, gradients=40, staleness=0)
    damped = replay(e.with_(policy="damp"), run(e))["w"]
    assert damped.tolist() == run(e.with_(policy="damp")).weights["w"].tolist()


def test_a_worker_that_does_not_exist_is_refused() -> None:
    e = Experiment(Bowl(), workers=4, gradients=20)
    with pytest.raises(ValueError, match="there is no worker 2; there are 0 to 1"):
        replay(e.with_(workers=2), run(e))


def test_the_loss_is_that_of_the_weights_after_each_update() -> None:
    e = Experiment(Bowl(noise=0.3), workers=3, gradients=30, staleness=1)
    trace = run(e)
    seen = [(0, 0, e.problem.loss(e.start()))]
    end = replay(
        e, trace, lambda step, time, weights: seen.append((step, time, e.problem.loss(weights)))
    )
    curve = loss_curve(trace)
    assert list(zip(*(curve[k].tolist() for k in ("step", "time", "loss")), strict=True)) == seen
    assert curve["loss"][-1] == e.problem.loss(end) and curve["step"][-1] == trace.updates
    moved = trace.rounds["moved"].astype(bool)
    np.testing.assert_array_equal(curve["time"][1:], trace.rounds["ended"][moved])
    for every in (5, trace.updates, trace.updates - 1, 1000):
        sparse = loss_curve(trace, every=every)
        kept = sorted({*range(0, trace.updates + 1, every), trace.updates})
        for name, column in curve.items():
            np.testing.assert_array_equal(sparse[name], column[kept])
    with pytest.raises(ValueError, match="every must be a whole number of at least 1, got 0"):
        loss_curve(trace, every=0)
