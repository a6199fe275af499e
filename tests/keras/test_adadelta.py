"""Keras's Adadelta, beside what the originals' scenarios show: slices, in each version."""

from typing import Any

import numpy as np
import pytest

import gradlab as gl
from gradlab.errors import KerasWarning

F = np.float32


@pytest.mark.parametrize("version", gl.keras.VERSIONS)
def test_the_mean_of_a_row_without_a_slice_decays_in_newer_versions(version: Any) -> None:
    v = gl.Variable(np.zeros((2, 1), F), name="v")
    opt = gl.keras.Adadelta(rho=0.5, semantics=version)
    opt.apply_gradients([(F([[2.0], [2.0]]), v)])
    opt.apply_gradients([(gl.IndexedSlices(F([[2.0]]), [0], (2, 1)), v)])

    accum = opt.get_slot(v, opt.get_slot_names()[0]).numpy().ravel().tolist()
    assert accum == ([3.0, 2.0] if version in ("tf2.3", "legacy") else [3.0, 1.0])


def test_keras_3_squares_slices_one_by_one_and_says_so() -> None:
    v = gl.Variable(np.zeros((1, 1), F), name="v")
    opt = gl.keras.Adadelta(rho=0.5, semantics="keras3")
    g = gl.IndexedSlices(F([[3.0], [-3.0]]), [0, 0], (1, 1))

    with pytest.warns(KerasWarning, match="the slots of v:0 get the sum of the sizes"):
        opt.apply_gradients([(g, v)])

    assert opt.get_slot(v, "accumulated_grad").numpy().tolist() == [[9.0]]
    assert v.numpy().tolist() == [[0.0]]
