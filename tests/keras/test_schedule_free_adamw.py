"""Keras 3's schedule-free AdamW, beside what the originals' scenarios show."""

import numpy as np
import pytest

import gradlab as gl

F = np.float32


def test_the_hidden_iterate_starts_at_the_weights() -> None:
    v = gl.Variable([1.0, -2.0], name="v")
    opt = gl.keras.ScheduleFreeAdamW()
    opt.build([v])

    assert opt.get_slot(v, "momentum").numpy().tolist() == [1.0, -2.0]
    assert opt.get_slot(v, "velocity").numpy().tolist() == [0.0, 0.0]


def test_it_is_of_keras_3_only() -> None:
    with pytest.raises(
        ValueError, match="ScheduleFreeAdamW is of semantics 'keras3'; got 'rewrite'"
    ):
        gl.keras.ScheduleFreeAdamW(semantics="rewrite")
