"""The sparse class: slices in and out, TensorFlow's merge and ours, both means, counts, NumPy and
JAX.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gradlab as gl
from tests.differences import differs

pytestmark = pytest.mark.usefixtures("in_a_graph")


def test_slices_in_and_out() -> None:
    acc = gl.SparseConditionalAccumulator("float32", (4, 1))
    acc.apply_indexed_slices_grad(gl.IndexedSlices(np.float32([[1], [2]]), [0, 2], (4, 1)))
    acc.apply_indexed_slices_grad(gl.IndexedSlices(np.float32([[4]]), [2]))
    mean = acc.take_indexed_slices_grad(2)
    assert isinstance(mean, gl.IndexedSlices)
    assert mean.to_dense().ravel().tolist() == [1, 0, 3, 0]


def test_slices_of_an_unknown_size_go_on_without_a_warning() -> None:
    acc, v = (
        gl.SparseConditionalAccumulator("float32"),
        gl.Variable(np.zeros((3, 1), np.float32), name="v"),
    )
    acc.apply_grad([1], [[2.0]])
    mean = acc.take_indexed_slices_grad(1)
    assert mean.dense_shape is None
    gl.train.GradientDescentOptimizer(1.0).apply_gradients([(mean, v)]).run()
    assert v.numpy().ravel().tolist() == [0, -2, 0]
    assert acc.apply_indexed_slices_grad(mean, local_step=1)
    strict = gl.SparseConditionalAccumulator("float32", strict="tf")
    strict.apply_grad([1], np.float32([[2.0]]))
    assert strict.take_indexed_slices_grad(1).dense_shape == (-1, 1)


def test_drops_as_the_dense_one() -> None:
    acc = gl.SparseConditionalAccumulator("float32")
    acc.set_global_step(2)
    assert [bool(acc.apply_grad([0], [[1.0]], local_step=step)) for step in (1, 2, 9)] == [
        False,
        True,
        True,
    ]
    assert acc.take_grad(1).values.tolist() == [[1]]
    assert acc.global_step == 3


def test_strict_cuts_indices_and_believes_what_is_inconsistent() -> None:
    acc = gl.SparseConditionalAccumulator("float32", strict="tf")
    acc.apply_grad([1.9], [[1.0, 5.0]], [7, 99])
    acc.apply_grad([-4], [[1.0, 5.0]])
    acc.apply_grad([100], [[1.0, 5.0]], [7, 2])
    assert acc.take_grad(3).indices.tolist() == [-4, 1, 100]


def test_indices_of_64_bits_in_a_list() -> None:
    acc = gl.SparseConditionalAccumulator("float32")
    acc.apply_grad([2, 2**40], [[1.0], [2.0]])
    assert acc.take_grad(1).indices.tolist() == [2, 2**40]


def test_indices_of_32_bits() -> None:
    acc = gl.SparseConditionalAccumulator("float32")
    acc.apply_grad(np.int32([1]), [[1.0]])
    assert acc.take_grad(1).indices.dtype == np.int64


@differs(
    "`SparseConditionalAccumulator` outside a Graph",
    tensorflow="RuntimeError",
    gradlab="works",
    strict="TensorFlow's behavior",
)
def test_strict_wants_a_graph_as_tensorflow_does() -> None:
    with gl.variable_collection(), pytest.raises(RuntimeError, match="in graphs only"):
        gl.SparseConditionalAccumulator("float32", strict="tf")


SparseAccumulator = gl.SparseConditionalAccumulator
XP = pytest.mark.parametrize("xp", [np, jnp])


def result(
    acc: Any, *gradients: tuple[list[int], list[float]], xp: Any = np
) -> tuple[list[int], list[float]]:
    for indices, values in gradients:
        acc.apply_grad(indices, xp.asarray(values, np.float32))
    taken = acc.take_grad(len(gradients))
    assert taken.indices.dtype == taken.shape.dtype == np.int64
    assert isinstance(taken.values, np.ndarray if xp is np else jax.Array)
    return taken.indices.tolist(), taken.values.tolist()


@XP
def test_the_two_means_and_the_dense_one(xp: Any) -> None:
    gradients = ([0, 1], [2.0, 4.0]), ([1, 3], [8.0, 6.0])
    assert result(SparseAccumulator("float32"), *gradients, xp=xp) == ([0, 1, 3], [2, 6, 6])
    assert result(SparseAccumulator("float32", mean="gradient"), *gradients, xp=xp) == (
        [0, 1, 3],
        [1, 6, 3],
    )
    assert result(SparseAccumulator("float32", reduction_type="SUM"), *gradients, xp=xp) == (
        [0, 1, 3],
        [2, 12, 6],
    )
    dense = gl.ConditionalAccumulator("float32", (4,))
    for indices, values in gradients:
        dense.apply_grad(gl.IndexedSlices(np.float32(values), indices, (4,)))
    assert dense.take_grad(2).tolist() == [1, 6, 0, 3]


@differs(
    "`SparseConditionalAccumulator`: indices that are not sorted, or come twice",
    tensorflow="merged as if sorted and distinct: rows may appear twice",
    gradlab="rows of one index are summed first, count once, and come back sorted",
    strict="TensorFlow's behavior",
)
@XP
@pytest.mark.parametrize(
    ("gradients", "strict", "ours"),
    [
        ([([1, 1], [1.0, 2.0]), ([1, 1], [10.0, 20.0])], ([1, 1], [5.5, 11]), ([1], [16.5])),
        ([([1], [1.0]), ([1, 1], [10.0, 20.0])], ([1, 1], [5.5, 20]), ([1], [15.5])),
        (
            [([2, 0], [1.0, 2.0]), ([0, 2], [10.0, 20.0])],
            ([0, 2, 0], [10, 10.5, 2]),
            ([0, 2], [6, 10.5]),
        ),
        ([([5, 3, 5], [1.0, 2.0, 4.0])], ([5, 3, 5], [1, 2, 4]), ([3, 5], [2, 5])),
        ([([3, 1], [1.0, 2.0])], ([3, 1], [1, 2]), ([1, 3], [2, 1])),
    ],
)
def test_unsorted_and_duplicate_indices(xp: Any, gradients: Any, strict: Any, ours: Any) -> None:
    assert result(SparseAccumulator("float32", strict="tf"), *gradients, xp=xp) == strict
    assert result(SparseAccumulator("float32"), *gradients, xp=xp) == ours


rows = st.lists(st.tuples(st.integers(0, 5), st.integers(-9, 9)), max_size=6)


@given(st.lists(rows, min_size=1, max_size=5), st.sampled_from(["row", "gradient"]))
def test_against_a_dictionary(gradients: list[list[tuple[int, int]]], mean: str) -> None:
    acc = SparseAccumulator("float64", (6,), mean=mean)
    sums: dict[int, float] = {}
    counts: dict[int, int] = {}
    for gradient in gradients:
        acc.apply_grad([i for i, _ in gradient], np.array([float(x) for _, x in gradient]))
        for i, x in gradient:
            sums[i] = sums.get(i, 0) + x
        for i in {i for i, _ in gradient}:
            counts[i] = counts.get(i, 0) + 1
    peek = acc.peek()
    assert dict(zip(peek.sum.indices.tolist(), peek.sum.values.tolist(), strict=True)) == sums
    assert dict(zip(peek.sum.indices.tolist(), peek.row_counts.tolist(), strict=True)) == counts
    taken = acc.take_grad(len(gradients))
    want = {i: sums[i] / (counts[i] if mean == "row" else len(gradients)) for i in sorted(sums)}
    assert dict(zip(taken.indices.tolist(), taken.values.tolist(), strict=True)) == want
    assert taken.indices.tolist() == sorted(sums)


@pytest.mark.parametrize(
    ("declared", "values", "shape"),
    [
        (None, [[1.0, 2.0]], [-1, 2]),
        ([], [[1.0, 2.0]], [-1, 2]),
        ([None, 2], [[1.0, 2.0]], [-1, 2]),
        ([3, 2], [[1.0, 2.0]], [3, 2]),
        (None, [1.0], [-1]),
        ([3], [1.0], [3]),
    ],
)
def test_the_shape_that_comes_back(declared: Any, values: Any, shape: list[int]) -> None:
    acc = SparseAccumulator("float32", declared)
    acc.apply_grad([1], values)
    assert acc.take_grad(1).shape.tolist() == shape


def test_strict_returns_what_was_not_declared() -> None:
    for declared, values, shape in (
        ([3], [[1.0, 2.0]], [3, 2]),
        ([3, 2], [[[1.0], [2.0]]], [3, 2, 1]),
    ):
        acc = SparseAccumulator("float32", declared, strict="tf")
        acc.apply_grad([1], values)
        assert acc.take_grad(1).shape.tolist() == shape


@XP
@pytest.mark.parametrize("strict", [None, "tf"])
def test_empty_gradients_count(xp: Any, strict: str | None) -> None:
    acc = SparseAccumulator("float32", strict=strict)
    acc.apply_grad([], xp.zeros((0, 2), np.float32))
    acc.apply_grad([4], xp.ones((1, 2), np.float32))
    acc.apply_grad([], xp.zeros((0, 2), np.float32))
    assert acc.num_accumulated() == 3
    assert acc.take_grad(3).values.tolist() == [[1, 1]]
    acc.apply_grad([], xp.zeros((0, 2), np.float32), local_step=1)
    assert acc.take_grad(1).values.shape == (0, 2)


def test_bfloat16_and_wide_sums_and_denormal_numbers() -> None:
    acc = SparseAccumulator("bfloat16", sum_dtype="float32", reduction_type="SUM")
    for value in (256.0, 1.0, 1.0):
        acc.apply_grad([0], [value])
    assert acc.peek().sum.values.tolist() == [258]
    assert acc.take_grad(3).values.dtype.name == "bfloat16"
    strict = SparseAccumulator("float32", strict="tf", reduction_type="SUM")
    for _ in range(2):
        strict.apply_grad([1, 2], np.float32([1e-40, -0.0]))
    assert str(strict.take_grad(2).values.tolist()) == "[0.0, -0.0]"


@XP
def test_whose_arrays_they_are(xp: Any) -> None:
    acc = SparseAccumulator("float32", reduction_type="SUM")
    indices, values = np.array([1, 2]), np.float32([1, 2])
    acc.apply_grad(indices, xp.asarray(values) if xp is jnp else values)
    peek = acc.peek()
    indices[:] = 7
    values[:] = 7
    acc.apply_grad([1], xp.ones(1, np.float32))
    taken = acc.take_grad(2)
    acc.apply_grad([1, 2], xp.ones(2, np.float32), local_step=1)
    assert (taken.indices.tolist(), taken.values.tolist()) == ([1, 2], [2, 2])
    assert (peek.sum.indices.tolist(), peek.sum.values.tolist()) == ([1, 2], [1, 2])
