"""The clip functions: what they compute, the whole table of edge cases, and what they refuse."""

from __future__ import annotations

from functools import partial
from itertools import product

from tests.golden.build import Json, call, do, scenario, slices, t

clip = partial(scenario, "clip")
BAD, INF = float("nan"), float("inf")
HALF = {"float16": "rtol 2e-3", "bfloat16": "rtol 2e-2"}  # sums of half precision are not promised bit by bit

# Name -> (t, limit): each goes through every norm clip.
EDGES = {
    "zero": ([0.0, 0.0], 1.0),
    "zero_limit_zero": ([0.0, 0.0], 0.0),
    "limit_zero": ([3.0, 4.0], 0.0),
    "limit_negative": ([3.0, 4.0], -1.0),
    "limit_inf": ([3.0, 4.0], INF),
    "limit_nan": ([3.0, 4.0], BAD),
    "inf_entry": ([INF, 1.0, 0.0], 1.0),
    "minus_inf_entry": ([-INF, 2.0], 1.0),
    "nan_entry": ([BAD, 1.0, 0.0], 1.0),
    "square_overflows": ([1e30, 1.0], 1.0),
    "square_underflows": ([1e-30, -1e-30], 1.0),
    "square_and_product_underflow": ([1e-30, -1e-30], 1e-35),
    "negative_zero": ([-0.0, 3.0, 4.0], 1.0),
    "exactly_at_the_limit": ([3.0, 4.0], 5.0),
    "empty": ([], 1.0),
}


def scenarios() -> list[Json]:
    return [*edges(), *by_value(), *by_norm(), *norms(), *by_global_norm(), *by_average_norm(), *dtypes(), *gradients()]


def edges() -> list[Json]:
    """The edge table: norm, global norm, average norm of the same t and limit."""
    return [clip(f"clip.edge.{name}", _norm_clips(t(x), limit)) for name, (x, limit) in EDGES.items()]


def _norm_clips(x: Json, limit: float, average: bool = True) -> list[Json]:
    calls = [call("clip_by_norm", x, limit), call("clip_by_global_norm", [x, t([0.5], x["dtype"])], limit)]
    return [*calls, call("clip_by_average_norm", x, limit)] if average else calls


def by_value() -> list[Json]:
    f, x = partial(call, "clip_by_value"), t([-5.0, -1.0, 0.0, 1.0, 5.0])
    m = t([[1.0, -2.0], [3.0, -4.0]])
    return [
        clip("clip.value.basic", [f(x, -1.0, 1.0), f(x, -2, 3), f(x, 0.0, INF), f(x, t(-1.5), t(1.5))]),
        clip("clip.value.min_gt_max", [f(x, 1.0, -1.0)], note="lo > hi gives lo everywhere"),
        clip("clip.value.nonfinite", [f(t([BAD, INF, -INF, 2.0]), -1.0, 1.0), f(t([1.0, 2.0]), BAD, 1.5)]),
        clip("clip.value.negative_zero", [f(t([-0.0, 0.0, -1.0]), t(-0.0), t(0.0)), f(t([-0.0, 0.0]), t(0.0), t(1.0))]),
        clip(
            "clip.value.bounds",
            [f(m, t([-1.0, -2.0]), 1.0), f(m, -1.0, t([[1.0], [2.0]])), f(t(1.0), t([0.0, 2.0]), 3.0)],
        ),
        clip("clip.value.python_list", [f([-5.0, 0.0, 5.0], -1, 1), f([-5, 0, 5], -1, 1), f([-5, 0, 5], -1.0, 1.0)]),
        clip(
            "clip.value.integers",
            [f(t([-7, 2, 9], "int32"), -3, 4), f(t([-7, 2], "int64"), -3, 4), f(t([1], "int32"), 0.5, 4)],
        ),
        clip("clip.value.dtypes", [f(t([3.0], "float64"), t(-1.0), t(1.0)), f(t([3.1], "float64"), -0.1, 0.1)]),
        clip("clip.value.refused", [f(None, -1.0, 1.0), f(t([1.0, 2.0]), t([0.0, 0.0, 0.0]), 1.0)]),
        clip("clip.value.slices", [f(slices([[3.0, -3.0], [0.5, 9.0]], [1, 1], [4, 2]), -1.0, 1.0)]),
        clip("clip.value.empty", [f(t([]), -1.0, 1.0)]),
    ]


def by_norm() -> list[Json]:
    f, x, m = partial(call, "clip_by_norm"), t([3.0, 4.0]), t([[1.0, 2.0], [3.0, 4.0]])
    odd = t([0.1, 0.7, 0.3])
    return [
        clip("clip.norm.basic", [f(x, 1.0), f(x, 5.0), f(x, 10), f(m, 2.0), f(t(-7.0), 2.0)]),
        clip(
            "clip.norm.below_the_limit",
            [f(odd, c) for c in (41.0, 49.0, 0.77, 1e6)],
            note="entries may move by one ulp",
        ),
        clip("clip.norm.axes", [f(m, 2.0, axes=a) for a in (0, [1], [-1], [0, 1], [], [-2, 1])]),
        clip("clip.norm.axes_zero_row", [f(t([[0.0, 0.0], [3.0, 4.0]]), 1.0, axes=[1])]),
        clip("clip.norm.axes_refused", [f(m, 2.0, axes=[2]), f(m, 2.0, axes=[-3]), f(m, 2.0, axes=[0, 0])]),
        clip(
            "clip.norm.limits", [f(m, t([1.0, 2.0])), f(m, t([[1.0], [2.0]])), f(x, t([[1.0], [2.0]])), f(x, t(-2.0))]
        ),
        clip("clip.norm.limit_dtype", [f(t([3.0, 4.0], "float64"), t(1.0)), f(x, t(1.0, "float64"))]),
        clip("clip.norm.refused", [f(None, 1.0), f(t([3, 4], "int32"), 1.0), f(t([3, 4], "int32"), 1)]),
        clip("clip.norm.complex", [f({"dtype": "complex64", "shape": [1], "values": [[3.0, 4.0]]}, 1.0)]),
        clip("clip.norm.wrapped", [f({"tfvar": x}, 1.0), f({"numpy": x}, 1.0), f([3.0, 4.0], 1.0)]),
        clip(
            "clip.norm.slices",
            [f(slices([[3.0, 0.0], [4.0, 0.0]], [1, 1], [4, 2]), 1.0)],
            note="duplicates are not summed",
        ),
    ]


def norms() -> list[Json]:
    f = partial(call, "global_norm")
    odd = [t([0.1, 0.2, 0.3]), t([0.7, 0.11]), t([1.3])]
    repeated = slices([[3.0, 0.0], [4.0, 0.0]], [1, 1], [4, 2])
    mixed = [t([3.0]), t([4.0], "float64")]
    return [
        clip("clip.global_norm.basic", [f([t([3.0, 4.0]), t([[12.0]])]), f([t([3.0]), None, t([4.0])]), f(odd)]),
        clip("clip.global_norm.empty", [f([]), f([None, None])]),
        clip("clip.global_norm.names", [call("v1.global_norm", odd), call("linalg.global_norm", odd)]),
        clip("clip.global_norm.nonfinite", [f([t([x]), t([1.0])]) for x in (INF, -INF, BAD, 1e30, 1e-30)]),
        clip(
            "clip.global_norm.refused",
            [f(mixed), f([t([3, 4], "int32")]), f(t([3.0, 4.0])), f("abc"), f({"dict": {"a": odd[0]}})],
        ),
        clip("clip.global_norm.slices", [f([repeated, t([5.0])]), f([repeated])], note="duplicates are not summed"),
    ]


def by_global_norm() -> list[Json]:
    f, x, odd = partial(call, "clip_by_global_norm"), t([3.0, 4.0]), t([0.1, 0.7, 0.3])
    wide, mixed = t([3.0, 4.0], "float64"), [t([3.0, 4.0]), t([12.0], "float64")]
    shapes = [{"tuple": [x]}, {"generator": [x]}, {"dict": {"a": x}}, x, "abc"]
    return [
        clip(
            "clip.global.basic",
            [f([x, t([[12.0]])], 1.0), f([x], 5.0), f([x], 10), f([x, None], 1.0), f([None], 1.0), f([], 1.0)],
        ),
        clip("clip.global.below_the_limit", [f([odd], c) for c in (41.0, 49.0, 10.0)], note="c*(1/c) need not be 1"),
        clip("clip.global.use_norm", [f([x], 1.0, use_norm=t(n)) for n in (10.0, 0.5, 0.0, -2.0, INF, BAD)]),
        clip("clip.global.use_norm_refused", [f([x], 1.0, use_norm=5.0)], note="a bare Python number has no dtype"),
        clip(
            "clip.global.use_norm_dtype",
            [f(mixed, 1.0), f(mixed, 1.0, use_norm=t(13.0)), f([wide], 1.0, use_norm=t(10.0))],
        ),
        clip(
            "clip.global.limits",
            [f([x], t(1.0)), f([wide], t(1.0)), f([wide], t(1.0, "float64")), f([x], t([1.0, 2.0]))],
        ),
        clip("clip.global.containers", [f(c, 1.0) for c in shapes]),
        clip("clip.global.refused", [f([t([3, 4], "int32")], 1.0)]),
        clip("clip.global.slices", [f([slices([[3.0, 0.0], [4.0, 0.0]], [1, 1], [4, 2]), x], 1.0)]),
    ]


def by_average_norm() -> list[Json]:
    f, x = partial(call, "clip_by_average_norm"), t([3.0, 4.0])
    return [
        clip(
            "clip.average.basic",
            [*(f(x, c) for c in (1.0, 0.5, 10.0)), f(t([[1.0, 2.0], [3.0, 4.0]]), 0.1), f(t(-7.0), 2.0)],
        ),
        clip(
            "clip.average.refused", [f(None, 1.0), *(f(t([3.0, 4.0], d), 1.0) for d in ("float16", "float64", "int32"))]
        ),
        clip(
            "clip.average.slices",
            [f(slices([[3.0, 0.0], [4.0, 0.0]], [1, 1], [4, 2]), 1.0)],
            note="made dense: duplicates summed",
        ),
    ]


def dtypes() -> list[Json]:
    """Every float dtype, with values whose squares lose bits."""
    wide = [clip("clip.dtype.float64", _norm_clips(t([0.1, -0.2, 0.3], "float64"), 0.1, average=False))]
    wide.append(clip("clip.dtype.float64_overflow", _norm_clips(t([1e200, 1.0], "float64"), 1.0, average=False)))
    wide.append(clip("clip.dtype.denormal", [call("clip_by_value", t([1e-40, -1e-42, 1.0]), -2.0, 2.0)]))
    halves = product(HALF, {"small": [3.0, 4.0], "large": [300.0, 400.0], "odd": [0.1, -0.7]}.items())
    return wide + [
        clip(f"clip.dtype.{d}.{name}", _norm_clips(t(x, d), 1.0, average=False), compare=HALF[d])
        for d, (name, x) in halves
    ]


def gradients() -> list[Json]:
    """Gradients through the clips; automatic differentiation of other libraries may round differently."""
    points = [t([3.0, 4.0]), t([0.3, 0.4]), t([0.0, 0.0]), t([0.0, 1.0])]  # the last is at the limit
    kinds = {"clip_by_norm": [1.0], "clip_by_global_norm": [1.0], "clip_by_value": [-1.0, 3.0]}
    return [
        clip(f"clip.grad.{fn}", [do("grad_of", fn=fn, x=x, args=args) for x in points], compare="rtol 1e-6")
        for fn, args in kinds.items()
    ]
