"""Keras's AdamW: a decay before the step of Adam."""

from typing import Any

import numpy as np
import pytest

import gradlab as gl

F = np.float32


@pytest.mark.parametrize("version", ["rewrite", "keras3"])
def test_weights_decay_and_the_means_do_not_see_it(version: Any) -> None:
    v = gl.Variable([2.0, 2.0], name="v")
    opt = gl.keras.AdamW(0.25, weight_decay=0.5, semantics=version)
    opt.apply_gradients([(F([0.0, 4.0]), v)])

    np.testing.assert_allclose(v.numpy(), [1.75, 1.5], rtol=1e-4)
    assert opt.get_slot(v, opt.get_slot_names()[0]).numpy()[0] == 0


def test_none_is_refused() -> None:
    """In tf_keras's words and in Keras 3's."""
    words = "Missing value of `weight_decay`. Argument `weight_decay` must be a float"
    with pytest.raises(ValueError, match=words):
        gl.keras.AdamW(weight_decay=None)  # type: ignore[arg-type]
