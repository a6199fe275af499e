"""Build the calls of conditional accumulators."""

from __future__ import annotations

from typing import Any

from tests.golden.build import Json

Calls = list[Json]
USUAL = {"kind": "dense", "dtype": "float32", "shape": [1], "reduction_type": "MEAN", "mode": "graph"}


def one(name: str, calls: Calls, dtype: str = "float32", shape: Any = (1,), **more: Any) -> Json:
    """One accumulator and what is done with it: the usual one unless `more` says otherwise."""
    given = {"dtype": dtype, "shape": None if shape is None else list(shape), **more}
    spec = {key: x for key, x in given.items() if key not in USUAL or x != USUAL[key]}
    return {"id": name, "group": "accumulator", "accumulator": spec, "calls": calls}


def apply(grad: Any, *step: Any, **more: Any) -> Json:
    """Without a step the call leaves it to its default, 0."""
    return {"op": "apply_grad", "grad": grad, **_step(step), **more}


def fed(grad: Any, *step: Any) -> Json:
    """An apply whose shape TensorFlow learns when it runs."""
    return apply(grad, *step, dynamic=True)


def _step(step: tuple[Any, ...]) -> Json:
    return {"local_step": step[0]} if step else {}


def take(n: Any = 1) -> Json:
    return {"op": "take_grad", "num_required": n}


def at(step: Any, **more: Any) -> Json:
    return {"op": "set_global_step", "new_global_step": step, **more}


def rows(indices: Any, values: Any, *step: Any, **more: Any) -> Json:
    return {"op": "apply_grad", "indices": indices, "values": values, **_step(step), **more}


def asks(taker: str, n: int, **more: Any) -> Json:
    return {"op": "start_take", "taker": taker, "num_required": n, **more}


def long(grad: Any, times: int) -> Json:
    return {"op": "repeat_apply_grad", "grad": grad, "times": times}


def parallel(n: int) -> Json:
    """Whole numbers, so that the order in which threads come cannot show."""
    grads = [[float(k * k)] for k in range(n)]
    return {"op": "parallel_apply_grad", "grads": grads, "threads": n}


def nothing(shape: list[int], *step: int) -> Json:
    return apply([], *step, grad_shape_if_empty=shape)


def table(name: str, calls: Calls, dtype: str = "float32", shape: Any = None, **more: Any) -> Json:
    return one(f"sparse.{name}", calls, dtype, shape, kind="sparse", **more)


def empty(*step: int) -> Json:
    return rows([], [], *step, values_shape_if_empty=[0, 2])


def pause() -> Json:
    """Longer than the time limit of the takers that have one."""
    return {"op": "wait_ms", "ms": 6000}
