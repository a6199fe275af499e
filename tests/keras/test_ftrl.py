"""Keras's Ftrl, beside what the originals' scenarios show: sparse weights, refusals, and what a
version lacks.
"""

from typing import Any

import numpy as np
import pytest

import gradlab as gl
from gradlab.errors import KerasWarning
from tests.differences import differs

F = np.float32


@pytest.mark.parametrize("version", gl.keras.VERSIONS)
def test_l1_makes_weights_0(version: Any) -> None:
    v = gl.Variable([1.0, 1.0], name="v")
    opt = gl.keras.Ftrl(
        0.5, initial_accumulator_value=9.0, l1_regularization_strength=1.0, semantics=version
    )
    opt.apply_gradients([(F([4.0, 0.0]), v)])

    assert v.numpy().tolist() == [0.0, 0.0]
    assert opt.get_slot(v, "accumulator").numpy().tolist() == [25.0, 9.0]


@pytest.mark.parametrize("version", gl.keras.VERSIONS)
@pytest.mark.parametrize(
    "arguments",
    [
        {"learning_rate_power": 0.5},
        {"initial_accumulator_value": -1.0},
        {"l2_regularization_strength": -1.0},
        {"l2_shrinkage_regularization_strength": -1.0},
    ],
)
def test_signs_are_checked(arguments: dict[str, float], version: Any) -> None:
    (name,) = arguments
    with pytest.raises(ValueError, match=f"`{name}` needs to be (positive|negative) or zero"):
        gl.keras.Ftrl(**arguments, semantics=version)


@differs(
    "the order of arguments of Keras's `Ftrl`",
    tensorflow="`name` comes before `l2_shrinkage_regularization_strength` in the older versions",
    gradlab="`name` comes after `beta` in all versions",
)
def test_the_name_comes_last() -> None:
    assert gl.keras.Ftrl(0.5, -0.5, 0.1, 0.0, 0.0, 0.25, 0.0, "mine").get_config()["name"] == "mine"


def test_tensorflow_2_3_has_no_beta() -> None:
    with pytest.raises(TypeError, match=r"Ftrl of semantics 'tf2.3' has no beta"):
        gl.keras.Ftrl(beta=0.5, semantics="tf2.3")
    assert "beta" not in gl.keras.Ftrl(semantics="tf2.3").get_config()


@pytest.mark.parametrize("version", ["tf2.3", "legacy"])
def test_lr_has_no_effect_and_a_warning(version: Any) -> None:
    with pytest.warns(KerasWarning, match="lr has no effect on Ftrl"):
        opt = gl.keras.Ftrl(lr=0.5, semantics=version)

    assert opt.get_config()["learning_rate"] == 0.001
