"""Slices of one row in Keras 3: what the slots get, and the warning."""

import numpy as np
import pytest

import gradlab as gl
from gradlab.errors import KerasWarning

F = np.float32


def test_keras_3_squares_slices_one_by_one_and_says_so() -> None:
    v = gl.Variable(np.zeros((2, 1), F), name="v")
    opt = gl.keras.Adam(beta_1=0.0, beta_2=0.0, semantics="keras3")
    g = gl.IndexedSlices(F([[3.0], [-3.0]]), [0, 0], (2, 1))

    with pytest.warns(KerasWarning, match="the slots of v:0 get the sum of the sizes"):
        opt.apply_gradients([(g, v)])

    assert opt.get_slot(v, "momentum").numpy().tolist() == [[0.0], [0.0]]
    assert opt.get_slot(v, "velocity").numpy().tolist() == [[18.0], [0.0]]
