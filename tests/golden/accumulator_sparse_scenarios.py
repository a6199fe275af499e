"""Accumulators of rows: how they are merged, counted and divided, what is refused; and random calls of both kinds."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.golden.accumulator_build import Calls, apply, asks, at, empty, one, rows, table, take
from tests.golden.build import Json


def scenarios() -> list[Json]:
    return [*sparse(), *sparse_refused(), *drawn()]


def sparse() -> list[Json]:
    two = [rows([0, 1], [[1, 1], [2, 2]]), rows([1, 3], [[4, 4], [8, 8]])]
    counts = [rows([0, 1, 2], [[0.1], [0.2], [0.3]]), rows([1, 2], [[0.2], [0.3]]), rows([2], [[0.3]])]
    slices = {"op": "apply_indexed_slices_grad"}
    one_two = rows([1], [[1, 2]])
    return [
        table("mean", [*two, take(2), rows([1], [[3, 3]], 1), take()]),
        table("sum", [*two, take(2)], reduction_type="SUM"),
        *(table(f"counts.{d}", [*counts, take(3)], d) for d in ("float16", "float32", "float64")),
        one("sparse.same_dense", [apply([1, 2, 0, 0]), apply([0, 4, 0, 8]), take(2)], shape=[4]),
        table("duplicates.first", [rows([1, 1], [[1], [2]]), take(), rows([1, 1], [[1], [2]], 1)]),
        table("duplicates.both", [rows([1, 1], [[1], [2]]), rows([1, 1], [[10], [20]]), take(2)]),
        table("duplicates.second", [rows([1], [[1]]), rows([1, 1, 1], [[10], [20], [30]]), take(2)]),
        table(
            "duplicates.among", [rows([0, 5, 5, 9], FOUR), rows([5, 9, 9], FOUR[:3]), rows([5, 5, 5], FOUR[1:]), take()]
        ),
        table("unsorted", [rows([2, 0], [[1], [2]]), rows([0, 2], [[10], [20]]), take(2)]),
        table(
            "unsorted.thrice", [rows([3, 1, 2], FOUR[:3]), rows([2, 3, 1], FOUR[1:]), rows([1, 2, 3], FOUR[:3]), take()]
        ),
        table("negative", [rows([-1, 2], [[1], [2]]), rows([-5, -1], [[1], [2]]), take(2)], shape=[3, 1]),
        table(
            "beyond",
            [rows([2], [[1]]), rows([3], [[1]]), rows([99], [[1]], grad_shape=[3, 1]), take()],
            shape=[3, 1],
        ),
        table("beyond.unknown", [rows([99], [[1]]), rows([7], [[1]]), take(2)], shape=[None, 1]),
        *(table(f"shape.{k}", [one_two, take()], shape=s) for k, s in enumerate(([], [None, 2], [4, 2], [4], [None]))),
        table(
            "grad_shape.free",
            [rows([1], [[1, 5]], grad_shape=[7, 99]), rows([100], [[1, 5]], grad_shape=[7, 2]), take()],
        ),
        table("grad_shape.checked", CHECKED, shape=[3, 2]),
        table(
            "grad_shape.partly",
            [rows([1], [[1]], grad_shape=[9, 1]), rows([1], [[1]], grad_shape=[9, 2]), take()],
            shape=[None, 1],
        ),
        table("extra_dimensions", [rows([1], [[[1], [2]]]), rows([2], [[[3], [4]]]), take()], shape=[3, 2]),
        table("vectors", [rows([1, 3], [1, 2]), rows([3], [4]), take(2)]),
        table("empty", [empty(), take(), empty(1), rows([4], [[1, 2]], 1), empty(1), take(3)]),
        table("empty.only", [empty(), empty(), take(2)]),
        table("empty.sum", [rows([4], [[1, 2]]), empty(), take(2)], reduction_type="SUM"),
        table("steps", [at(2), rows([0], [[1]], 1), rows([0], [[2]], 2), rows([0], [[4]], 9), take()]),
        table("step_default", [rows([0], [[1]]), take(), rows([0], [[1]])]),
        table("int64", [rows([2, 2**40], [[1], [2]]), rows([-(2**40), 2**40], [[3], [4]]), take()]),
        table("int32", [rows([1], [[1]], indices_dtype="int32"), rows([1], [[2]]), take()]),
        table(
            "slices",
            [rows([0, 2], [[1], [2]], grad_shape=[4, 1], **slices), rows([2], [[4]], **slices), TAKE_SLICES],
            shape=[4, 1],
        ),
        table("nonfinite", [rows([1, 2], [["nan"], ["inf"]]), rows([1, 2], [[1], ["-inf"]]), take()]),
        table("wide", [rows([0], [[[1, 2], [3, 4]]]), rows([0], [[[1, 1], [1, 1]]]), take()]),
        table("waits", [asks("t", 2), rows([0], [[1]]), rows([2, 0], [[4], [3]]), rows([0], [[1]], 1)]),
    ]


FOUR = [[1], [2], [3], [4]]
TAKE_SLICES = {"op": "take_indexed_slices_grad", "num_required": 2}
CHECKED = [rows([1], [[1, 2]], grad_shape=shape) for shape in ([3, 2], [4, 2], [3], [3, 2, 9], [], [3, 3])] + [take()]


def sparse_refused() -> list[Json]:
    good = rows([1], [[1, 2]])
    return [
        table("refused.parts", [rows([[1]], [[1]]), rows(1, [[1]]), rows([1], 1), rows([1, 2], [[1]]), good]),
        table("refused.values", [rows([1], [[1, 2, 3]]), rows([1], [1]), good, take()], shape=[3, 2]),
        table("refused.second", [good, rows([1], [[1]]), rows([1], [1]), rows([1], [[[1, 2]]]), good, take()]),
        table("refused.required", [take(0), take(-1), rows([[1]], 1, -1)]),
        table("refused.then_free", [good, take(), rows([1], [1], 1), take()]),
        table("refused.steps", [rows([1], [[1]], [0]), rows([1], [[1]], None), rows([1], [[1]], 0.9)]),
        table("stale.malformed", [at(1), rows([1, 2], [[1]]), rows([9], [[1]]), take()], shape=[3, 2]),
    ]


def drawn() -> list[Json]:
    """Random calls, the same ones every time."""
    found = []
    for k, (dtype, reduction) in enumerate(
        zip(("float16", "float32", "float64"), ("SUM", "MEAN", "MEAN"), strict=True)
    ):
        rng = np.random.default_rng(k)
        calls = [x for step in range(2) for x in _round(rng, step, lambda rng, step: apply(_floats(rng, (2,)), step))]
        found.append(one(f"drawn.dense.{dtype}", calls, dtype, [2], reduction_type=reduction))
        calls = [x for step in range(2) for x in _round(rng, step, _rows)]
        found.append(table(f"drawn.{dtype}", calls, dtype, reduction_type=reduction))
    return found


def _round(rng: Any, step: int, make: Any) -> Calls:
    given = [make(rng, step + int(rng.integers(-1, 3))) for _ in range(4)]
    fresh = sum(call.get("local_step", 0) >= step for call in given)
    return [*given, *([] if fresh else [make(rng, step)]), take(max(1, int(rng.integers(fresh + 1))))]


def _rows(rng: Any, step: int) -> Json:
    n = int(rng.integers(1, 4))
    indices = rng.integers(0, 4, n)
    indices = np.sort(indices) if rng.random() < 0.7 else indices
    return rows(indices.tolist(), _floats(rng, (n, 1)), step)


def _floats(rng: Any, shape: tuple[int, ...]) -> Any:
    return np.round(rng.standard_normal(shape) * 8, 1).tolist()
