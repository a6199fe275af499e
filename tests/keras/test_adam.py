"""Keras's Adam, beside what the originals' scenarios show: the size of its steps, and settings."""

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import gradlab as gl
from tests.differences import differs

F = np.float32


@pytest.mark.parametrize("version", gl.keras.VERSIONS)
def test_the_first_step_is_the_learning_rate(version: Any) -> None:
    v = gl.Variable([1.0, -2.0], name="v")
    gl.keras.Adam(0.25, semantics=version).apply_gradients([(F([4.0, -0.5]), v)])

    np.testing.assert_allclose(v.numpy(), [0.75, -1.75], rtol=1e-4)


@pytest.mark.parametrize("version", ["tf2.3", "legacy"])
def test_epsilon_0_is_replaced_with_a_warning(version: Any) -> None:
    with pytest.warns(gl.errors.KerasWarning, match="replaces epsilon 0"):
        opt = gl.keras.Adam(epsilon=0.0, semantics=version)

    assert opt.epsilon == gl.keras.epsilon()


@differs(
    "arguments and weights of old kinds of `Adam`",
    tensorflow="the rewrite takes `adaptive_epsilon`; `set_weights` of older "
    "versions drops `vhat` of Keras 1",
    gradlab="refused",
)
def test_what_is_left_out_is_refused() -> None:
    with pytest.raises(TypeError, match="adaptive_epsilon is not a valid argument"):
        gl.keras.Adam(adaptive_epsilon=True, semantics="rewrite")
    opt = gl.keras.Adam()
    opt.apply_gradients([(F([1.0]), gl.Variable([0.0], name="v"))])
    with pytest.raises(
        ValueError, match="with 4 weights, but the optimizer was expecting 3 weights"
    ):
        opt.set_weights([1, F([0.0]), F([0.0]), F([0.0])])


def test_a_beta_may_be_set_between_steps() -> None:
    v = gl.Variable([1.0], name="v")
    opt = gl.keras.Adam(0.25)
    opt.apply_gradients([(F([4.0]), v)])
    opt.beta_1 = 0.0
    opt.apply_gradients([(F([2.0]), v)])

    assert opt.get_slot(v, "m").numpy().tolist() == [2.0]


@pytest.mark.filterwarnings("ignore::gradlab.errors.PrecisionWarning")
@pytest.mark.parametrize(
    ("name", "version"),
    [
        *(("Adam", version) for version in ("legacy", "rewrite", "keras3")),
        *(("AdamW", version) for version in ("rewrite", "keras3")),
        ("Lamb", "keras3"),
    ],
)
def test_in_bfloat16_it_stands_still_as_in_keras(name: str, version: Any) -> None:
    start = np.asarray([1.0, -2.0], ml_dtypes.bfloat16)
    settings = {"weight_decay": 0.0} if name == "AdamW" else {}
    v = gl.Variable(start, name="v")
    opt = getattr(gl.keras, name)(0.25, semantics=version, **settings)
    for _ in range(3):
        opt.apply_gradients([(start, v)])

    # beta_2 is 1 there, as is every power of it: Adam's rate is 0, and Lamb divides by infinity.
    np.testing.assert_array_equal(v.numpy(), start)
