"""Tensors: described once, computed at every run."""

import numpy as np
import pytest

import gradlab as gl
from gradlab._base.tensors import Tensor, compute_now, deferrable, describe, new_run


def test_a_tensor_has_the_shape_and_dtype_of_its_value() -> None:
    tensor = describe(lambda: np.float32([[1, 2]]))
    assert (tensor.shape, tensor.dtype, len(tensor)) == ((1, 2), np.float32, 1)
    assert repr(tensor) == "<gradlab.Tensor shape=(1, 2) dtype=float32>"


def test_each_run_computes_anew() -> None:
    values = iter(range(10))
    tensor = describe(lambda: np.int32(next(values)))
    assert [tensor.eval(), tensor.eval(), tensor().item()] == [1, 2, 3]
    with new_run():
        assert [tensor.eval(), tensor.eval()] == [4, 4]


def test_a_description_computes_nothing_that_came_before() -> None:
    calls = []

    def value() -> np.float32:
        calls.append(1)
        return np.float32(2)

    tensor = describe(value)
    last = np.sqrt(tensor * 2) + tensor
    assert len(calls) == 1
    assert last.eval() == 4
    assert len(calls) == 2


def test_a_tree_of_values_is_a_tree_of_tensors() -> None:
    slices = gl.IndexedSlices([[1.0], [2.0]], [0, 1], (3, 1))
    (first, nothing), rows = describe(lambda: ([np.float32(1), None], slices))
    assert (first.eval(), nothing) == (1, None)
    assert compute_now(rows).values.tolist() == [[1], [2]]
    assert rows.dtype == np.float32


def test_a_named_tuple_of_values_is_one_of_tensors() -> None:
    tensor = describe(lambda: np.float32([[2, 0], [0, 3]]))
    result = np.linalg.slogdet(tensor)
    assert type(result).__name__ == "SlogdetResult"
    assert result.logabsdet.eval() == np.float32(np.log(6))


@pytest.mark.parametrize("numbers", [[1.0], [1], [[1.0], 2.0]])
def test_a_list_that_starts_with_numbers_may_hold_tensors(numbers: list[object]) -> None:
    values = iter([3.0, 4.0])
    tensor = describe(lambda: np.float32(next(values)))
    last = describe(lambda x: x, [*numbers, tensor])[-1]
    stacked = np.stack([1.0, tensor])
    assert isinstance(last, Tensor)
    assert isinstance(stacked, Tensor)
    assert stacked.eval().tolist() == [1, 4]


def test_indices_that_are_tensors_describe_too() -> None:
    values = iter([0, 1])
    indices = describe(lambda: np.int32([next(values)]))
    slices = gl.IndexedSlices(np.ones((1, 1)), indices, (2, 1))
    assert compute_now(slices).indices.tolist() == [1]
    clipped = gl.clip_by_value(slices, -1.0, 1.0)
    assert isinstance(clipped.indices, Tensor)


def test_numpys_functions_describe() -> None:
    tensor = describe(lambda: np.float32([3, 4]))
    stacked = np.stack([tensor, tensor * 2])
    described = [
        np.linalg.norm(tensor),
        np.max(stacked, axis=0),
        tensor[1],
        -tensor,
        tensor @ tensor,
    ]
    assert all(isinstance(x, gl.Tensor) for x in described)
    assert [x.eval().tolist() for x in described] == [5, [6, 8], 4, [-3, -4], 25]
    assert [x.eval() for x in tensor] == [3, 4]


def test_tensors_are_compared_by_identity() -> None:
    tensor = describe(lambda: np.float32(1))
    assert {tensor: 1}[tensor] == 1
    assert tensor != tensor * 1


def test_deferrable_functions_compute_arrays_at_once() -> None:
    double = deferrable(lambda x: x * 2)
    assert double(3) == 6
    tensor = double(describe(lambda: np.float32(3)))
    assert (isinstance(tensor, gl.Tensor), tensor.eval()) == (True, 6)


def test_jax_takes_no_tensor_while_it_is_described() -> None:
    jnp = pytest.importorskip("jax.numpy")
    with gl.Graph().as_default():
        v = gl.Variable([1.0, 3.0])
        tensor = v * 2
        for x in (v, tensor):
            with pytest.raises(TypeError, match=r"NumPy's functions"):
                jnp.mean(x)
        (gradient,) = gl.gradients(lambda: jnp.mean(tensor) + jnp.mean(v), [v])
        assert gradient.eval().tolist() == [1.5, 1.5]
        assert jnp.mean(tensor.eval()) == 4


def test_a_program_may_be_longer_than_pythons_stack() -> None:
    tensor = describe(lambda: np.float32(0))
    for _ in range(3000):
        tensor = tensor + 1
    assert tensor.eval() == 3000
    v = gl.Variable(1.0)
    with gl.GradientTape() as tape:
        loss = v * 2
        for _ in range(300):
            loss = loss + v
    assert (float(loss), tape.gradient(loss, v)) == (302, 302)
