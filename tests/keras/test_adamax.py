"""Keras's Adamax, beside what the originals' scenarios show: the size of its steps, and slices."""

from typing import Any

import numpy as np
import pytest

import gradlab as gl

F = np.float32


@pytest.mark.parametrize("version", gl.keras.VERSIONS)
def test_the_first_step_is_the_learning_rate(version: Any) -> None:
    v = gl.Variable([1.0, -2.0], name="v")
    gl.keras.Adamax(0.25, semantics=version).apply_gradients([(F([4.0, -0.5]), v)])

    np.testing.assert_allclose(v.numpy(), [0.75, -1.75], rtol=1e-6)


@pytest.mark.parametrize("version", gl.keras.VERSIONS)
def test_a_row_without_a_slice_moves_on_in_newer_versions(version: Any) -> None:
    v = gl.Variable(np.zeros((2, 1), F), name="v")
    opt = gl.keras.Adamax(0.25, semantics=version)
    opt.apply_gradients([(F([[2.0], [2.0]]), v)])
    before = v.numpy()
    opt.apply_gradients([(gl.IndexedSlices(F([[2.0]]), [0], (2, 1)), v)])

    has_moved = (v.numpy() != before).ravel().tolist()
    assert has_moved == [True, version in ("rewrite", "keras3")]
