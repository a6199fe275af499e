"""IndexedSlices: rows of a tensor, as a value and as a JAX pytree."""

import subprocess
import sys
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import gradlab as gl
from gradlab.errors import DTypeError, InvalidArgumentError


def test_rows_of_one_index_are_summed() -> None:
    for module in (np, jnp):
        s = gl.IndexedSlices(
            module.asarray([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]), [2, 0, 2], (4, 2)
        )
        assert s.to_dense().tolist() == [[3, 4], [0, 0], [6, 8], [0, 0]]
        assert (s.dtype, s.shape) == (s.values.dtype, (4, 2))


def test_rows_of_float64_are_summed_outside_the_64_bit_mode_too() -> None:
    with jax.enable_x64(True):
        values = jnp.asarray([[1 / 3], [1 / 7]], np.float64)
    dense = gl.IndexedSlices(values, [1, 1], (2, 1)).to_dense()
    assert np.asarray(dense).ravel().tolist() == [0, 1 / 3 + 1 / 7]


def test_lists_become_arrays() -> None:
    s = gl.IndexedSlices([[1.0]], [0], np.array([3, 1]))
    assert (s.values.dtype, s.indices.dtype, s.dense_shape) == (np.float32, np.int32, (3, 1))


def test_it_passes_through_jit_grad_and_scan() -> None:
    s = gl.IndexedSlices(np.float32([[1.0], [2.0]]), [1, 1], (3, 1))
    doubled = jax.jit(lambda s: s.with_values(s.values * 2))(s)
    assert isinstance(doubled, gl.IndexedSlices)
    assert (doubled.values.tolist(), doubled.indices.tolist(), doubled.dense_shape) == (
        [[2], [4]],
        [1, 1],
        (3, 1),
    )
    assert jax.jit(lambda s: s.to_dense())(s).tolist() == [[0], [3], [0]]
    leaves, tree = jax.tree.flatten(s)
    assert len(leaves) == 2
    assert jax.tree.unflatten(tree, leaves).dense_shape == (3, 1)
    stacked = jax.lax.scan(
        lambda c, k: (c, s.with_values(jnp.float32(k) * s.values)), 0, jnp.arange(3)
    )[1]
    assert stacked.values.shape == (3, 2, 1)


def test_slices_made_before_jax_was_imported_are_a_pytree_too() -> None:
    code = """
import gradlab as gl
early = gl.IndexedSlices([[1.0]], [0], (2, 1))
import jax
gl.IndexedSlices([[1.0]], [0], (2, 1))
print(jax.jit(lambda s: s.to_dense())(early).tolist())
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout == "[[1.0], [0.0]]\n", done.stderr


def test_no_rows_are_fine() -> None:
    assert gl.IndexedSlices(np.ones((0, 2)), [], (3, 2)).to_dense().tolist() == [[0, 0]] * 3


BAD: dict[str, tuple[tuple[Any, ...], type[Exception], str]] = {
    "float indices": (([1.0], [0.5]), DTypeError, "indices must be integers, got float32"),
    "lengths": (
        ([1.0], [0, 1]),
        InvalidArgumentError,
        r"values of shape \(1,\) .* got indices of shape \(2,\)",
    ),
    "scalars": (
        (1.0, 0),
        InvalidArgumentError,
        r"values of shape \(\) need one index for each row",
    ),
    "a matrix of indices": (([1.0], [[0]]), InvalidArgumentError, r"\(1, 1\)"),
    "strings": (("ab", [0, 1]), TypeError, "values must be numbers"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_slices_are_refused(case: str) -> None:
    args, error, message = BAD[case]
    with pytest.raises(error, match=message):
        gl.IndexedSlices(*args)


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (([[1.0]], [3], (3, 1)), r"indices of the slices must be in \[0, 3\), got 3"),
        (([[1.0]], [-1], (3, 1)), "got -1"),
        (
            ([[1.0]] * 4, [2, 7, -1, 9], (3, 1)),
            r"indices of the slices must be in \[0, 3\), got 7 at position 1",
        ),
        (([[1.0]], [0], (3, 2)), r"rows of shape \(1,\) do not fit dense_shape \(3, 2\)"),
        (([[1.0]], [0]), "no dense_shape; give one"),
    ],
)
def test_what_does_not_fit_cannot_be_made_dense(args: tuple[Any, ...], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        gl.IndexedSlices(*args).to_dense()


def test_rows_of_one_element() -> None:
    shapes = {
        (2,): True,
        (2, 1): True,
        (2, 1, 1): True,
        (2, 2): False,
        (2, 3, 1): False,
        (2, 0): False,
    }
    assert {shape: gl.IndexedSlices(np.zeros(shape), [0, 1]).one_each for shape in shapes} == shapes


@pytest.mark.parametrize("module", [np, jnp])
def test_minus(module: Any) -> None:
    g = -gl.IndexedSlices(module.asarray([[1.0, -2.0]]), [3], (5, 2))
    assert (g.values.tolist(), g.indices.tolist(), g.dense_shape) == ([[-1.0, 2.0]], [3], (5, 2))
