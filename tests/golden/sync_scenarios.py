"""Schedules of SyncReplicasOptimizer: who pushes when, and when the chief comes."""

from __future__ import annotations

import random
from collections.abc import Iterable
from typing import Any

from tests.golden.build import Json, do, scenario

SGD = {"inner_optimizer": "GradientDescent", "inner_args": {"learning_rate": 1.0}}
MOMENTUM = {"inner_optimizer": "Momentum", "inner_args": {"learning_rate": 0.5, "momentum": 0.5}}
CHIEF = do("chief_sync_op")


def scenarios() -> list[Json]:
    return [
        sync("mean", 2, 2, 0, "0 1 c 0 c 1"),
        sync("chief_first", 2, 2, 0, "c 0 1 c 1 0"),
        sync("backup_late", 2, 3, 0, "0 1 c 2 0 c 2"),
        sync("backup_early", 2, 3, 0, "0 1 2 c 0 1 2 c"),
        sync("default_tokens", 2, 2, -1, "0 0 c 1 1 0 c"),
        sync("fewer_workers_default_tokens", 3, 2, -1, "0 1 0 c 0 1 1 0 c 1 0"),
        sync("fewer_workers_fewest_tokens", 3, 2, 1, "0 1 0 c 1 0 1 c 0 1 0 c"),
        sync("one_of_two", 1, 2, 0, "0 c 1 0 c 1"),
        sync("nobody_else", 2, 2, 0, "1 c"),
        sync("momentum", 2, 3, 0, "0 1 c 2 0 1 c 0 2 c", **MOMENTUM),
        rows("rows", 2, 2, ["0:0,1", "1:1,3", "c", "1:2", "c", "0:0"]),
    ]


def sync(name: str, needs: int, workers: int, tokens: int, schedule: str, **inner: Any) -> Json:
    """`schedule`: workers by number, c for the chief; the k-th gradient is [2**k, k]."""
    words = schedule.split()
    calls = [CHIEF if w == "c" else push(w, [2.0**k, float(k)]) for k, w in enumerate(words)]
    return told(name, setup(needs, workers, tokens, [0.0, 0.0], "dense", inner or SGD), calls)


def rows(name: str, needs: int, workers: int, schedule: list[str]) -> Json:
    """`schedule`: worker and the rows of its gradient."""
    calls = []
    for k, word in enumerate(schedule):
        worker, _, indices = word.partition(":")
        where = [int(i) for i in indices.split(",") if i]
        gradient = {"indices": where, "values": [[2.0 ** (k + j)] for j in range(len(where))]}
        calls.append(CHIEF if worker == "c" else push(worker, gradient))
    return told(name, setup(needs, workers, 0, [[0.0]] * 4, "sparse", SGD), calls)


def drawn(seed: int) -> Json:
    """A random schedule in which nobody acts who waits, by the rules of gradlab's own tests."""
    draw = random.Random(seed)
    needs, workers = draw.randint(1, 3), draw.randint(1, 3)
    tokens = draw.choice([max(0, needs - workers), -1])
    return sync(f"drawn{seed}", needs, workers, tokens, " ".join(_free_moves(draw, needs, workers, tokens)))


def _free_moves(draw: random.Random, needs: int, workers: int, tokens: int) -> Iterable[str]:
    """Ten moves; a model of the counts says who is free."""
    queue, steps, step, count, waiting, chief = (
        [0] * (needs if tokens == -1 else tokens),
        [0] * workers,
        0,
        0,
        [],
        False,
    )
    for _ in range(10):
        free = [str(k) for k in range(workers) if k not in waiting] + ([] if chief else ["c"])
        if not free:
            return
        move = draw.choice(free)
        yield move
        if move == "c":
            chief = True
        else:
            count += steps[int(move)] >= step
            waiting.append(int(move))
        if chief and count >= needs:
            chief, count, step = False, 0, step + 1
            queue += [step] * max(needs, workers)
        while queue and waiting:
            steps[waiting.pop(0)] = queue.pop(0)


def push(worker: str, gradient: Any) -> Json:
    return do("train_op", worker=f"w{worker}", gradient=gradient)


def setup(needs: int, workers: int, tokens: int, start: Any, kind: str, inner: Json) -> Json:
    return {
        "workers": workers,
        "replicas_to_aggregate": needs,
        "total_num_replicas": workers,
        "num_init_tokens": tokens,
        **inner,
        "gradient_kind": kind,
        "variable_init": start,
    }


def told(name: str, settings: Json, calls: list[Json]) -> Json:
    return scenario("sync", f"sync.{name}", [do("initial"), *calls], mode="graph", setup=settings)
