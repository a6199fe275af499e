"""The sparse class: slices in and out, what is read as what."""

import numpy as np
import pytest

import gradlab as gl

pytestmark = pytest.mark.usefixtures("in_a_graph")


def test_slices_in_and_out() -> None:
    acc = gl.SparseConditionalAccumulator("float32", (4, 1))
    acc.apply_indexed_slices_grad(gl.IndexedSlices(np.float32([[1], [2]]), [0, 2], (4, 1)))
    acc.apply_indexed_slices_grad(gl.IndexedSlices(np.float32([[4]]), [2]))
    mean = acc.take_indexed_slices_grad(2)
    assert isinstance(mean, gl.IndexedSlices)
    assert mean.to_dense().ravel().tolist() == [1, 0, 3, 0]


def test_slices_of_an_unknown_size_go_on_without_a_warning() -> None:
    acc, v = gl.SparseConditionalAccumulator("float32"), gl.Variable(np.zeros((3, 1), np.float32), name="v")
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
    assert [bool(acc.apply_grad([0], [[1.0]], local_step=step)) for step in (1, 2, 9)] == [False, True, True]
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


def test_strict_wants_a_graph_as_tensorflow_does() -> None:
    with gl.variable_collection(), pytest.raises(RuntimeError, match="in graphs only"):
        gl.SparseConditionalAccumulator("float32", strict="tf")
