"""gradlab's raw ops beside TensorFlow's, eager: the same calls, the same values and classes of
errors.
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

import gradlab as gl
from tests.conformance.compare import Raised, differences
from tests.conformance.runner import attempt
from tests.golden.tensorflow_values import tensorflow

pytestmark = pytest.mark.tensorflow

# Every one was seen to leave TensorFlow alive. Where it casts, gradlab casts.
APPLY, SET = "ApplyGradient", "SetGlobalStep"
REFUSED: list[tuple[str, dict[str, Any]]] = [
    *((APPLY, {"local_step": step}) for step in (1.5, "a", None)),
    *(
        (APPLY, {"gradient": gradient, "local_step": 99})
        for gradient in (None, [1.0, 2.0], [[1.0]], 1.0)
    ),
    *((SET, {"new_global_step": step}) for step in (2.5, None, "a")),
    *(("TakeGradient", {"num_required": n}) for n in (0, -1, 1.5, None, "a")),
    *(("TakeGradient", {"dtype": dtype}) for dtype in (None, "nonsense")),
    *(("NumAccumulated", {"handle": handle}) for handle in (None, 3, "x")),
]
MADE: list[dict[str, Any]] = [
    *({"dtype": dtype} for dtype in ("float16", "float64", "int32", "bool", "nonsense", None)),
    *({"shape": shape} for shape in (None, [], [None], [-2], 3, "a")),
    *({"reduction_type": kind} for kind in ("SUM", None, "mean", "", 3)),
    *({"container": c} for c in ("c", None)),
    {"shared_name": 3},
]


class Pair:
    """One accumulator here and one there."""

    def __init__(self, name: str, reduction_type: str = "MEAN") -> None:
        self.libraries = (gl.raw_ops, tensorflow().raw_ops)
        given = {
            "dtype": "float32",
            "shape": [1],
            "shared_name": name,
            "reduction_type": reduction_type,
        }
        self.handles = [lib.ResourceConditionalAccumulator(**given) for lib in self.libraries]

    def call(self, name: str, **given: Any) -> None:
        ops = [getattr(library, f"ResourceAccumulator{name}") for library in self.libraries]
        mine, theirs = (
            attempt(lambda op=op, handle=handle: op(**{"handle": handle, **given}))
            for op, handle in zip(ops, self.handles, strict=True)
        )
        assert same(mine, theirs) == [], f"{name} {given}"
        if name != "NumAccumulated":
            self.call("NumAccumulated")


def same(mine: Any, theirs: Any) -> list[str]:
    if isinstance(theirs, Raised):
        return differences({"error": type(theirs.error).__name__}, mine, "bitwise")
    if isinstance(mine, Raised):
        return [repr(mine.error)]
    if theirs is None or not hasattr(mine, "dtype"):
        return []
    theirs = np.asarray(theirs)
    equal = mine.dtype == theirs.dtype and np.array_equal(mine, theirs)
    return [] if equal else [f"{mine!r} is not {theirs!r}"]


@pytest.mark.parametrize("seed", range(10))
def test_a_drawn_sequence_of_calls(seed: int) -> None:
    draw = random.Random(seed)
    pair, count, step = Pair(f"drawn{seed}", draw.choice(["MEAN", "SUM"])), 0, 0
    for _ in range(40):
        match draw.choice(["apply", "apply", "apply", "set", "take", "refused"]):
            case "apply":
                local = step + draw.choice([-1, 0, 0, 0, 3])
                gradient = np.float32([draw.uniform(-10, 10)])
                as_type = draw.choice([int, np.int64, np.int32, np.float32, lambda x: np.array(x)])
                pair.call(APPLY, gradient=gradient, local_step=as_type(local))
                count += local >= step
            case "set":
                step = draw.randint(-2, 4)
                pair.call(SET, new_global_step=step)
            case "take" if count:
                needed = draw.randint(1, count)
                pair.call(
                    "TakeGradient",
                    num_required=draw.choice([needed, np.int32(needed)]),
                    dtype="float32",
                )
                count, step = 0, step + 1
            case "refused":
                refused(pair, *draw.choice(REFUSED))


@pytest.mark.parametrize("k", range(len(REFUSED)))
def test_what_is_refused(k: int) -> None:
    pair = Pair(f"refused{k}")
    pair.call(APPLY, gradient=[2.0], local_step=0)
    refused(pair, *REFUSED[k])
    pair.call("TakeGradient", num_required=1, dtype="float32")


def refused(pair: Pair, name: str, given: dict[str, Any]) -> None:
    usual: dict[str, dict[str, Any]] = {
        APPLY: {"gradient": [1.0], "local_step": 0},
        SET: {"new_global_step": 0},
        "TakeGradient": {"num_required": 1, "dtype": "float32"},
        "NumAccumulated": {},
    }
    pair.call(name, **{**usual[name], **given})


@pytest.mark.parametrize("k", range(len(MADE)))
def test_what_can_be_made(k: int) -> None:
    given = {"dtype": "float32", "shape": [1], "shared_name": f"made{k}", **MADE[k]}
    mine, theirs = (
        attempt(lambda lib=lib: lib.ResourceConditionalAccumulator(**given))
        for lib in (gl.raw_ops, tensorflow().raw_ops)
    )
    if isinstance(theirs, Raised):
        assert same(mine, theirs) == [], given
    else:
        assert mine.dtype == theirs.dtype.name, given
