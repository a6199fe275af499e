"""Tables that workers train: the numbers of gl.tpu's own step, on every engine; what cannot be
meant is refused.
"""

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest

import gradlab as gl
from gradlab.rules import Adam
from gradlab.tpu import Plan, Policy, Tag, create, lookup, make_batch, update
from gradlab.workers import Bowl, Experiment, run
from gradlab.workers.rows import Rows, join_tables
from tests.workers.embedding import drawn, experiment, recommender


@pytest.mark.exhaustive  # JAX compiles for it
def test_a_step_is_that_of_gl_tpu() -> None:
    problem, rng = recommender(), partial(np.random.default_rng, 3)
    start = problem.start()
    ids, ratings = problem.draw(rng())
    state = create(problem.plan, list(start.values()))
    activations, dedup = lookup(state, make_batch(problem.plan, ids))
    after = update(state, problem.gradient_of(activations, ratings), [], dedup)
    e = experiment("apply", workers=1, gradients=1)
    server = gl.workers.Server(e)
    server.fetch(0)
    server.push(0, problem.gradient(start, rng()))
    for name, expected in zip(start, after.tables, strict=True):
        np.testing.assert_allclose(server.weights[name], expected, rtol=1e-6, atol=1e-7)


def test_the_rows_that_are_read_are_enough_and_no_more() -> None:
    problem, rng = recommender(), partial(np.random.default_rng, 3)
    start, ids = problem.start(), problem.rows(rng())
    read = {name: Rows(x, start[name][x]) for name, x in ids.items()}
    for part, all_of_it in zip(
        problem.gradient(read, rng()).values(), problem.gradient(start, rng()).values(), strict=True
    ):
        np.testing.assert_array_equal(part.values, all_of_it.values)
        np.testing.assert_array_equal(part.indices, all_of_it.indices)
    assert {name: x.tolist() for name, x in ids.items()} == {
        name: np.unique(given).tolist()
        for name, given in zip(
            ids, (x.ids for x in drawn(7, 11, 4, rng())[0].values()), strict=True
        )
    }


def test_a_derivative_by_hand_is_that_of_the_loss() -> None:
    problem, rng = recommender(), partial(np.random.default_rng, 3)
    by_hand = problem.gradient(problem.start(), rng())
    found = replace(problem, gradient_of=None).gradient(problem.start(), rng())
    for name, g in found.items():
        np.testing.assert_allclose(g.values, by_hand[name].values, rtol=1e-5, atol=1e-6)


def test_shards_start_with_the_rows_of_the_whole() -> None:
    problem = recommender(users=2500)
    parts = [problem.start_of_shard(shard, 3) for shard in range(3)]
    for name, w in problem.start().items():
        np.testing.assert_array_equal(join_tables([part[name] for part in parts]), w)
        assert 0.45 < w.std() < 0.55 or len(w) < 100


@pytest.mark.parametrize("engine", ["simulated", "threads"])
def test_a_run_learns_and_replays(engine: str) -> None:
    e = experiment("drop", gradients=40)
    trace = run(e, engine)
    again = gl.workers.replay(e, trace)
    assert all((again[name] == w).all() for name, w in trace.weights.items())


@pytest.mark.parametrize("policy", ["drop", "backup"])
def test_every_interleaving_of_rows_is_found(policy: str) -> None:
    """The same ones as of whole weights."""
    e = experiment(policy, workers=2, atomic=policy != "drop")
    found, whole_weights = (gl.workers.explore(x) for x in (e, replace(e, problem=Bowl(noise=0.5))))
    assert (found.accepted, found.stuck) == (whole_weights.accepted, whole_weights.stuck)
    for outcome in found.outcomes:
        again = gl.workers.replay(e.with_(gradients=2), outcome.example)
        assert all((again[name] == w).all() for name, w in outcome.weights.items())


@pytest.mark.parametrize(
    ("changed", "complaint"),
    [
        (
            lambda p: replace(p, cores=2),
            "workers are the cores here: give a plan of cores=1 that is not pipelined, not 2",
        ),
        (
            lambda p: replace(p, policy=Policy(gradient_clip_place="contribution")),
            "gradient_clip_place='sum'",
        ),
        (
            lambda p: replace(p, tables=(replace(p.tables[0], learning_rate=Tag(0)), p.tables[1])),
            "a rate that is fixed",
        ),
        (
            lambda p: replace(p, tables=(replace(p.tables[0], rule=Adam(lazy=False)), p.tables[1])),
            "needs a lazy rule",
        ),
    ],
)
def test_a_plan_that_workers_cannot_share_is_refused(changed: Any, complaint: str) -> None:
    problem = recommender()
    plan: Plan = changed(problem.plan)
    with pytest.raises(gl.errors.InvalidArgumentError, match=complaint):
        replace(problem, plan=plan)


def test_what_does_not_fit_says_so() -> None:
    problem = replace(recommender(), gradient_of=lambda activations, batch: [activations[0]])
    with pytest.raises(
        gl.errors.InvalidArgumentError,
        match=r"arrays like the activations, \[\(4, 3\), \(4, 3\)\]; got",
    ):
        problem.gradient(problem.start(), np.random.default_rng(0))
    with pytest.raises(
        gl.errors.InvalidArgumentError, match="policy 'compensate' is for whole weights"
    ):
        Experiment(problem, policy="compensate")
