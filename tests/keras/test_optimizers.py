"""TensorFlow's documented path `keras.optimizers`, and the names that its optimizers take."""

from typing import Any

import pytest

import gradlab as gl
from gradlab.keras.versions import VERSIONS

CLASSES = ["Adadelta", "Adagrad", "Adam", "Adamax", "Ftrl", "Nadam", "RMSprop", "SGD"]


@pytest.mark.parametrize("name", gl.keras.optimizers.__all__)
def test_both_paths_lead_to_one_thing(name: str) -> None:
    short = gl.schedules if name == "schedules" else getattr(gl.keras, name)
    assert getattr(gl.keras.optimizers, name) is short


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("name", [3, 3.5, ("a",), True])
def test_a_name_that_is_no_string_is_refused(name: Any, version: Any) -> None:
    for made in CLASSES:
        with pytest.raises(ValueError, match="name must be a string or None, got"):
            getattr(gl.keras.optimizers, made)(0.1, name=name, semantics=version)


def test_keras_3_refuses_a_slash_and_the_others_do_not() -> None:
    with pytest.raises(ValueError, match='name must not hold "/"'):
        gl.keras.optimizers.Adagrad(0.1, name="a/b", semantics="keras3")
    assert (
        gl.keras.optimizers.Adagrad(0.1, name="a/b", semantics="legacy").get_config()["name"]
        == "a/b"
    )


@pytest.mark.parametrize("name", ["a b!", "_x"])
def test_a_malformed_name_is_refused_in_a_graph_and_changes_nothing(name: str) -> None:
    with gl.Graph().as_default() as graph:
        v, opt = gl.Variable([1.0]), gl.keras.optimizers.Adagrad(0.1, name=name)
        with pytest.raises(ValueError, match="name must be a scope name"):
            opt.apply_gradients([([1.0], v)])
        with pytest.raises(ValueError, match="name must be a scope name"):
            opt.minimize(lambda: (v * v).sum(), [v])
        assert (opt.get_slot_names(), graph.get_collection("train_op")) == ([], [])
