"""Conditional accumulators: what is kept, how it is added and divided, who waits, what is refused."""

from __future__ import annotations

from typing import Any

from tests.golden.accumulator_build import Calls, apply, asks, at, fed, long, nothing, one, parallel, pause, take
from tests.golden.accumulator_code_scenarios import scenarios as code
from tests.golden.accumulator_sparse_scenarios import scenarios as sparse
from tests.golden.build import Json


def scenarios() -> list[Json]:
    return [*dense(), *steps(), *refused(), *eager(), *waiting(), *sparse(), *code()]


def dense() -> list[Json]:
    tenths = [apply([k / 10]) for k in (1, 7, 3, 9, 2)]
    return [
        one("mean.rounds", [apply([1]), apply([4]), take(2), apply([6], 1), take(), apply([7], 1)]),
        one("mean.of_all_present", [*(apply([float(k)]) for k in range(5)), take(2)]),
        one("mean.default_reduction", [apply([1]), apply([4]), take(2)], reduction_type=None),
        one("sum.rounds", [apply([1]), apply([4]), take(2), apply([5], 1), take()], reduction_type="SUM"),
        *(one(f"mean.{d}", [*tenths, take(5)], d) for d in ("float16", "float32", "float64")),
        one("sum.float16", [*tenths, take(5)], "float16", reduction_type="SUM"),
        one("float16.saturates", [apply([2048]), apply([1]), apply([1]), take(3)], "float16", reduction_type="SUM"),
        one("float16.overflows", [apply([40000]), apply([40000]), take(2)], "float16"),
        one("float16.many", [long([0.1], 999), take(999)], "float16"),
        *(one(f"tiny.{d}.{r}", TINY[d], d, None, reduction_type=r) for d in TINY for r in ("MEAN", "SUM")),
        *(one(f"order.{k}", [*map(apply, x), take(3)], reduction_type="SUM") for k, x in enumerate(ORDERS)),
        *(one(f"thirds.{n}", [long([1], n), apply([2]), take()]) for n in (2, 6)),
        one("long.sum", [long([0.1], 2000), take(2000)], reduction_type="SUM"),
        one("long.threads", [parallel(12), take(12)]),
        one("nonfinite", [apply(["nan", 1, "inf"]), apply([1, "-inf", "-inf"]), take(2)], shape=[3]),
        one("negative_zero", [apply([-0.0]), take(), apply([-0.0], 1), apply([-0.0], 1), take(2)]),
        one("empty", [nothing([0, 3]), nothing([0, 3]), take(2), nothing([0, 3], 1), take()], shape=[0, 3]),
        one("scalar", [apply(1), apply(2), take(2)], shape=[]),
        one("scalar.refuses_a_vector", [apply([1]), fed([1]), apply(2), take()], shape=[]),
        one("matrix", [apply([[1, 2], [3, 4]]), apply([[0.5, 0.25], [0, 1]]), take(2)], shape=[2, 2]),
        one("unknown_rank", [apply([1, 2]), fed([1]), fed([3, 4]), take(2), apply(7, 1), take()], shape=None),
        one("unknown_size", [fed([1, 2]), fed([1]), take(), fed([5], 1), fed([[1]], 1), take()], shape=[None]),
        one("partly_known", PARTLY, shape=[None, 2]),
        one("shape_is_free_again", [fed([1, 2]), take(), fed([[3]], 1), take()], shape=None),
    ]


# A copy keeps numbers below the smallest normal one; what is added or divided has them as 0 (but in float16).
TINY = {
    "float16": [apply([1e-7]), take(), apply([1e-7], 1), apply([1e-7], 1), take(2)],
    "float32": [apply([1e-40, 2e-38]), take(), apply([1e-39, 1.2e-38], 1), apply([2e-38, -1.19e-38], 1), take()],
    "float64": [apply([1e-310, 3e-308]), take(), apply([1e-309, 3e-308], 1), apply([3e-308, -2.5e-308], 1), take()],
}
ORDERS = [[[1e8], [1], [-1e8]], [[1e8], [-1e8], [1]]]
PARTLY = [
    *(fed([[1, 2]]), fed([[1, 2, 3]]), fed([1, 2]), fed([[1, 2], [3, 4]])),
    *(apply([[1, 2], [3, 4]]), apply([[1], [2]]), apply([[5, 6]]), take(2)),
]


def steps() -> list[Json]:
    probes = [apply([2], 3), apply([3], 4), apply([4], 5)]
    return [
        one("step.equal_is_kept", [at(4), *probes, take(2), apply([1], 4), apply([1], 5), take()]),
        one("step.future", [apply([8], 100), apply([2], 0), take(2), apply([1], 0), apply([1], 1)]),
        one("step.huge", [*(x for k in range(3) for x in (apply([float(k)], 2**62), take())), apply([1], 2)]),
        one("step.default", [apply([1]), take(), apply([2]), apply([3]), take()]),
        one("step.backward", [at(9), apply([1], 8), at(2), apply([1], 2), apply([1], 1), take(), apply([1], 2)]),
        one("step.negative", [apply([1], -1), at(-3), apply([2], -3), apply([2], -4), take(), apply([1], -3)]),
        one("step.keeps_what_it_has", [apply([3]), at(7), apply([9], 6), apply([5], 7), take(2), apply([1], 7)]),
        one("step.after_take", [at(10), apply([1], 50), take(), apply([1], 10), apply([1], 11)]),
        one("step.floats", [at(2.9), apply([1], 2.1), apply([1], 1.9), at(-1.5), apply([1], -1.9), at(3)]),
        one("step.numbers", [apply([1], True), at(True), apply([1], 0.99), at(2**40), apply([1], 2**40)]),
        one("step.vector_of_one", [apply([1], [0], local_step_fed=True), at([3], fed=True), apply([1], 2), take()]),
        one("step.stale_vector", [at(1), apply([1], [0], local_step_fed=True), apply([1], 1), take()]),
        one("step.fed_scalar", [apply([1], 0, local_step_fed=True), at(2, fed=True), apply([1], 1), take()]),
    ]


def refused() -> list[Json]:
    return [
        one("static.shape", [apply([1, 2]), apply([[1]]), apply(1), apply([1, 2], -1), apply([1]), take()]),
        one("run_time.shape", [fed([1, 2]), fed([[1]]), fed(1), fed([1, 2], -1), fed([1]), take()]),
        one("stale.anything", [fed([1]), fed([1, 2, 3], -1), fed([1, 2]), take()], shape=None),
        one("failed.leaves_the_sum", [fed([1, 2]), fed([[9]]), fed([3, 4]), take(2)], shape=None),
        one("required.range", [apply([1]), take(0), take(-7), take(1)]),
        one("required.types", [apply([1]), take(1.5), take("a"), take([1]), take([]), take(None), take(True)]),
        one("step.types", [apply([1], None), apply([1], [0]), apply([1], [0, 1]), apply([1])]),
        one("set.types", [at(None), at([3]), at([1, 2]), apply([1], 0), apply([1], 3), take()]),
        one("grad.types", [apply(None), apply([True]), apply([2]), take()]),
    ]


def eager() -> list[Json]:
    def here(name: str, calls: Calls, **more: Any) -> Json:
        return one(f"eager.{name}", calls, mode="eager", **more)

    return [
        here("rounds", [apply([1]), apply([4]), take(2), apply([1], 0), apply([3], 1), take()]),
        here("required", [take(0), take(-1), take(1.5), take("a"), apply([1]), take(True)]),
        here("shape", [apply([1, 2]), apply([1, 2], -1), apply([1], -1), apply([[1]]), apply([1]), take()]),
        here("free_shape", [apply([1, 2]), apply([1], -1), apply([1]), apply([3, 4]), take()], shape=None),
        here("partly_known", [apply([[1]], -1), apply([[1, 2]]), apply([[1, 2]] * 2), take()], shape=[None, 2]),
        here("vectors", [apply([7], [0]), at([3]), apply([1], [2]), apply([5], [3]), take(2)]),
        here("step_types", [apply([1], None), apply([1], 1.9), at(2.9), apply([1], 1.9)]),
        here("set_types", [at(None), at(-1.5), apply([1], -2), apply([1], -1), take()]),
        here("grad_types", [apply(None), apply([True]), apply([2]), take()]),
        here("scalar", [apply(1), apply(4), take(2)], shape=[]),
        here("waits", [asks("t", 2), apply([1]), apply([3], 5), apply([1], 1)]),
        here("served_with_an_error", [asks("t", 1), apply([7], [0]), apply([1], 0)]),
        here("queue", [asks("a", 2), asks("b", 1), apply([1]), apply([3]), apply([5], 1)]),
        *(here(d, [apply([1 / 3]), apply([1 / 7]), apply([1 / 9]), take(3)], dtype=d) for d in ("float16", "float64")),
    ]


def waiting() -> list[Json]:
    def here(name: str, *calls: Json, **more: Any) -> Json:
        return one(f"waiting.{name}", list(calls), **more)

    close, ones = {"op": "session_close"}, [apply([k]) for k in (1, 2, 3)]
    return [
        here("until_enough", asks("t", 3), apply([10]), apply([20]), apply([30])),
        here("head_first", asks("a", 3), asks("b", 1), apply([1]), apply([2]), apply([3]), apply([4], 1)),
        here("one_each", asks("c", 1), asks("b", 1), asks("a", 1), apply([0]), apply([1], 1), apply([2], 2)),
        here("one_round_serves_one", asks("a", 1), asks("b", 1), apply([1]), apply([9]), apply([2], 7)),
        here("already_there", apply([1]), apply([3]), asks("a", 1), asks("b", 1), apply([5], 1)),
        here("stale", asks("a", 1), apply([1], -1), apply([1], -5), apply([2])),
        here("failing", asks("a", 1), fed([1, 2]), apply([[1]]), apply([2])),
        here("bad_asks", asks("a", 1), take(0), asks("b", -1), apply([2])),
        here("error_and_served", asks("a", 1), apply([7], [0], local_step_fed=True), apply([1], 1)),
        here("steps", asks("a", 2), apply([2]), at(5), apply([9]), apply([4], 5), apply([1], 5)),
        here("step_wakes_nobody", asks("a", 1), at(3), at(0), apply([1])),
        here("timeout", asks("a", 2, timeout_ms=5000), apply([1]), pause(), apply([3]), take(2)),
        here("timeout.lets_the_next", asks("a", 5, timeout_ms=5000), asks("b", 1), apply([1]), pause(), apply([2], 1)),
        here("timeout.in_the_middle", asks("a", 2), asks("b", 1, timeout_ms=5000), asks("c", 1), pause(), *ones),
        here("closed", asks("b", 1), asks("a", 5), close),
        here("closed.then_used", apply([1]), close, apply([1]), take()),
        here("between", asks("a", 2), apply([1]), take(1), apply([3]), apply([3], 1)),
    ]
