"""gradlab's accumulators beside TensorFlow's on any sequence of calls: each is made there, then all
of them here.

Takes ask for no more than is there, since TensorFlow would wait; who waits is in the golden file.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.conformance.adapters import accumulator
from tests.conformance.decode import dtype as numpy_dtype
from tests.conformance.scenarios import Scenario
from tests.golden import accumulator_oracle
from tests.golden.tensorflow_values import Json, word

pytestmark = pytest.mark.tensorflow

repeatable = settings(
    max_examples=45,
    deadline=None,
    derandomize=True,
    phases=[Phase.generate],  # to shrink what fails would take minutes
    suppress_health_check=list(HealthCheck),
)
DTYPES = st.sampled_from(["float16", "float32", "float64"])
REDUCTIONS = st.sampled_from(["MEAN", "SUM", None])
STEPS = st.integers(-2, 4)
SHAPES = [(), (1,), (2,), (0,), (1, 2), (2, 2), (2, 3), (2, 2, 1)]
DECLARED = [None, (), (2,), (None,), (2, 2), (None, 2), (0,)]
ROWS = [None, (), (3,), (3, 2), (None, 2), (3, None), (None, None)]


@st.composite
def numbers(draw: st.DrawFn, shape: tuple[int, ...], dtype: str) -> Any:
    """Nested lists, exact in this dtype, with words for what is not finite."""
    width = {"float16": 16, "float32": 32, "float64": 64}[dtype]
    tiny = float(np.finfo(dtype).tiny)
    near_zero = st.sampled_from([tiny, 1.25 * tiny, tiny / 2, 0.0]).flatmap(
        lambda x: st.sampled_from([x, -x])
    )
    some = st.one_of(st.integers(-9, 9).map(float), st.floats(width=width), near_zero)
    flat = draw(st.lists(some, min_size=(size := int(np.prod(shape))), max_size=size))
    return _words(np.array(flat, numpy_dtype(dtype)).reshape(shape).astype(np.float64).tolist())


def _words(x: Any) -> Any:
    return [_words(v) for v in x] if isinstance(x, list) else word(x)


@st.composite
def dense(draw: st.DrawFn, dtype: str, declared: Any) -> Json:
    """Mostly of a shape that fits, and in graphs fed or not."""
    shape = draw(st.one_of(*[st.just(_filled(declared))] * 3, st.sampled_from(SHAPES)))
    call = {"op": "apply_grad", "grad": draw(numbers(shape, dtype)), "local_step": draw(STEPS)}
    call |= {"dynamic": True} if draw(st.booleans()) else {}
    return {**call, "grad_shape_if_empty": list(shape)} if 0 in shape else call


@st.composite
def sparse(draw: st.DrawFn, dtype: str, declared: Any) -> Json:
    """Rows in any order, some twice, some beyond the shape, some without an index."""
    indices = draw(st.lists(st.integers(-1, 3), max_size=4))
    indices = sorted(indices) if draw(st.booleans()) else indices
    extra = draw(st.sampled_from([0, 0, 0, 0, 0, 0, 1]))
    inner = draw(
        st.one_of(*[st.just(_filled(declared)[1:])] * 5, st.sampled_from([(), (1,), (2,), (2, 1)]))
    )
    shape = (len(indices) + extra, *inner)
    values = draw(numbers(shape, dtype))
    call = {"op": "apply_grad", "indices": indices, "values": values, "local_step": draw(STEPS)}
    call |= {"values_shape_if_empty": list(shape)} if 0 in shape else {}
    grad_shape = draw(st.sampled_from([None, None, None, [3, 2], [3], [], [4, 2], [3, 2, 2]]))
    return call if grad_shape is None else {**call, "grad_shape": grad_shape}


def _filled(declared: Any) -> tuple[int, ...]:
    """A shape that fits."""
    return (2, 2) if declared is None else tuple(2 if n is None else n for n in declared)


def calls(
    data: st.DataObject, run: accumulator_oracle.Runner, applies: st.SearchStrategy[Json]
) -> Iterator[Json]:
    """One after the other, for `take` must know what is there."""
    for _ in range(data.draw(st.integers(1, 8))):
        verb = data.draw(st.sampled_from(["apply", "apply", "apply", "take", "set"]))
        if verb == "apply":
            yield data.draw(applies)
        elif verb == "set":
            step = data.draw(st.one_of(STEPS, st.floats(-2.5, 4.5)))
            yield {"op": "set_global_step", "new_global_step": step}
        else:
            yield {"op": "take_grad", "num_required": data.draw(st.integers(-1, run.count()))}
    yield {"op": "take_grad", "num_required": run.count()}


def both(data: st.DataObject, spec: Json, applies: st.SearchStrategy[Json]) -> None:
    run = (accumulator_oracle.Eager if spec["mode"] == "eager" else accumulator_oracle.InSession)(
        spec
    )
    made: list[Json] = []
    outcomes: list[Json] = []
    for call in calls(data, run, applies):
        made.append(call)
        outcomes.append(run.call(dict(call)))
    run.close()
    content = {"accumulator": spec, "calls": made, "expected": {"tensorflow": outcomes}}
    found = accumulator.differences(Scenario("live", "accumulator", "drawn", content))
    assert not found, f"{spec} {list(zip(made, outcomes, strict=True))}: {found}"


def accumulator_of(kind: str, mode: str, shapes: list[Any]) -> st.SearchStrategy[Json]:
    shape = st.sampled_from(shapes).map(lambda s: None if s is None else list(s))
    given = {"kind": kind, "mode": mode}
    return st.fixed_dictionaries(
        {"dtype": DTYPES, "shape": shape, "reduction_type": REDUCTIONS}
    ).map(given.__or__)


@repeatable
@given(data=st.data(), spec=accumulator_of("dense", "graph", DECLARED))
def test_dense(data: st.DataObject, spec: Json) -> None:
    both(data, spec, dense(spec["dtype"], spec["shape"]))


@repeatable
@given(data=st.data(), spec=accumulator_of("dense", "eager", DECLARED))
def test_dense_eager(data: st.DataObject, spec: Json) -> None:
    calls = dense(spec["dtype"], spec["shape"])
    both(data, spec, calls.map(lambda call: {k: v for k, v in call.items() if k != "dynamic"}))


@repeatable
@given(data=st.data(), spec=accumulator_of("sparse", "graph", ROWS))
def test_sparse(data: st.DataObject, spec: Json) -> None:
    both(data, spec, sparse(spec["dtype"], spec["shape"]))
