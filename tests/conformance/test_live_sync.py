"""gradlab's SyncReplicasOptimizer beside TensorFlow's on schedules drawn at random."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import pytest

from tests.conformance.adapters import sync_replicas
from tests.conformance.scenarios import Scenario
from tests.golden import sync_oracle

pytestmark = pytest.mark.tensorflow

MOVES = 10


@pytest.mark.parametrize("seed", range(12))
def test_a_drawn_schedule_gives_what_tensorflow_gives(seed: int) -> None:
    scenario = draw_scenario(random.Random(seed))

    scenario["expected"] = {"now": sync_oracle.outputs(scenario)}

    assert sync_replicas.differences(Scenario("live", "sync", f"drawn{seed}", scenario)) == []


def draw_scenario(rng: random.Random) -> dict[str, Any]:
    """A scenario as tests/golden/sync.json has them; the k-th gradient is [2**k, k]."""
    needs, workers = rng.randint(1, 3), rng.randint(1, 3)
    tokens = rng.choice([max(0, needs - workers), -1])
    calls: list[dict[str, Any]] = [{"do": "initial"}]
    for k, mover in enumerate(draw_moves(rng, needs, workers, tokens)):
        if mover == "chief":
            calls.append({"do": "chief_sync_op"})
        else:
            calls.append({"do": "train_op", "worker": mover, "gradient": [2.0**k, float(k)]})
    setup = {
        "workers": workers,
        "replicas_to_aggregate": needs,
        "total_num_replicas": workers,
        "num_init_tokens": tokens,
        "inner_optimizer": "GradientDescent",
        "inner_args": {"learning_rate": 1.0},
        "gradient_kind": "dense",
        "variable_init": [0.0, 0.0],
    }
    return {"mode": "graph", "compare": "bitwise", "vars": {}, "setup": setup, "calls": calls}


def draw_moves(rng: random.Random, needs: int, workers: int, tokens: int) -> Iterator[str]:
    """Who moves, in a schedule in which nobody moves who still waits; a model of the counts says
    who does.
    """
    local_steps = dict.fromkeys((f"w{k}" for k in range(workers)), 0)
    queue = [0] * (needs if tokens == -1 else tokens)
    waiting: list[str] = []
    is_chief_waiting = False
    step = count = 0
    for _ in range(MOVES):
        free = [name for name in local_steps if name not in waiting]
        if not is_chief_waiting:
            free.append("chief")
        if not free:
            return
        mover = rng.choice(free)
        yield mover
        if mover == "chief":
            is_chief_waiting = True
        else:
            count += local_steps[mover] >= step
            waiting.append(mover)
        if is_chief_waiting and count >= needs:
            is_chief_waiting = False
            count = 0
            step += 1
            queue += [step] * max(needs, workers)
        while queue and waiting:
            local_steps[waiting.pop(0)] = queue.pop(0)
