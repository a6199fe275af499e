"""Optimizers to dictionaries and back, in every version's format."""

import json
from typing import Any

import numpy as np
import pytest

import gradlab as gl
from gradlab.keras import SGD, Adagrad, deserialize, serialize


@pytest.mark.parametrize("version", ["tf2.3", "legacy", "rewrite", "keras3"])
def test_round_trip_through_json(version: Any) -> None:
    opt = SGD(0.5, momentum=0.5, semantics=version)
    opt.apply_gradients([(np.float32([1.0]), gl.Variable([1.0]))])
    again = deserialize(json.loads(json.dumps(serialize(opt))))
    assert type(again) is type(opt) and again.get_config() == opt.get_config()


def test_formats() -> None:
    assert serialize(SGD(semantics="tf2.3")).keys() == {"class_name", "config"}
    assert serialize(SGD())["module"] == "keras.optimizers.legacy"
    assert serialize(Adagrad(semantics="keras3"))["module"] == "keras.optimizers"


def test_what_is_refused() -> None:
    with pytest.raises(ValueError, match="one of Adadelta, Adafactor, Adagrad, Adam"):
        deserialize({"class_name": "Rprop", "config": {}})
    config = serialize(Adagrad(gl.schedules.ExponentialDecay(0.5, 2, 0.5)))
    with pytest.warns(gl.errors.KerasWarning, match="does not rebuild a schedule"):
        opt = deserialize(config)
    with pytest.raises(ValueError, match="config of a schedule"):
        opt.apply_gradients([(np.float32([1.0]), gl.Variable([1.0]))])
    assert (
        "lr" not in config["config"]
        and deserialize(config, semantics="keras3").learning_rate is not None
    )
