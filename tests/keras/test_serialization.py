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


# `get`

BY_NAME = {
    "legacy": ["Adadelta", "Adagrad", "Adam", "Adamax", "Ftrl", "Nadam", "RMSprop", "SGD"],
    "rewrite": [
        "Adadelta",
        "Adagrad",
        "Adam",
        "AdamW",
        "Adamax",
        "Ftrl",
        "Nadam",
        "RMSprop",
        "SGD",
    ],
    "keras3": [
        *("Adadelta", "Adafactor", "Adagrad", "Adam", "AdamW", "Adamax", "Ftrl", "Lion", "Muon"),
        *("Nadam", "RMSprop", "SGD", "ScheduleFreeAdamW"),
    ],
}


@pytest.mark.parametrize("version", BY_NAME)
def test_get_finds_an_optimizer_by_its_name_in_any_case(version: Any) -> None:
    for name in BY_NAME[version]:
        for written in (name, name.lower(), name.upper()):
            opt = gl.keras.get(written, semantics=version)
            assert type(opt).__name__ == name
            assert opt._engine.version.name == version


@pytest.mark.parametrize(
    ("version", "name"),
    [
        *(("legacy", name) for name in ("adamw", "lion", "adafactor", "muon", "lamb", "nonsense")),
        *(("rewrite", name) for name in ("lion", "Adafactor", "muon", "lamb", "", "optimizer")),
        *(("keras3", name) for name in ("Lamb", "experimentaladam?", "nonsense", "")),
    ],
)
def test_get_finds_no_other_names(version: Any, name: str) -> None:
    with pytest.raises(ValueError, match=r"Unknown optimizer|is of semantics"):
        gl.keras.get(name, semantics=version)


def test_get_without_a_version_takes_the_default_of_the_class() -> None:
    assert gl.keras.get("adam")._engine.version.name == "legacy"
    assert gl.keras.get("lamb")._engine.version.name == "keras3"
    assert gl.keras.get("experimentalSGD")._engine.version.name == "rewrite"


def test_get_returns_an_optimizer_as_it_is() -> None:
    for version in ("legacy", "rewrite"):
        opt = SGD(semantics=version)
        assert gl.keras.get(opt) is opt
        assert gl.keras.get(opt, semantics="legacy") is opt
        with pytest.raises(ValueError, match="Could not interpret optimizer identifier"):
            gl.keras.get(opt, semantics="keras3")


@pytest.mark.parametrize("identifier", [1, 0.5, [], object(), SGD])
@pytest.mark.parametrize("version", [None, "legacy", "rewrite", "keras3"])
def test_get_refuses_other_things(identifier: Any, version: Any) -> None:
    with pytest.raises(ValueError, match="Could not interpret optimizer identifier"):
        gl.keras.get(identifier, semantics=version)


def test_get_of_none() -> None:
    assert gl.keras.get(None, semantics="keras3") is None
    with pytest.raises(ValueError, match="identifier: None"):
        gl.keras.get(None, semantics="rewrite")


@pytest.mark.parametrize(
    ("config", "version"),
    [
        ({"learning_rate": 0.5, "is_legacy_optimizer": False}, "rewrite"),
        ({"learning_rate": 0.5, "gradient_accumulation_steps": None}, "keras3"),
        ({"learning_rate": 0.5}, "legacy"),
        ({"learning_rate": 0.5, "semantics": "tf2.3"}, "tf2.3"),
    ],
)
def test_the_version_of_a_config_is_that_which_wrote_it(config: Any, version: str) -> None:
    opt = gl.keras.get({"class_name": "SGD", "config": config})

    assert opt._engine.version.name == version


def test_parts_that_are_missing_are_key_errors() -> None:
    with pytest.raises(KeyError, match="class_name"):
        deserialize({})
    with pytest.raises(KeyError, match="config"):
        deserialize({"class_name": "SGD"})
    assert type(deserialize({"class_name": "SGD"}, semantics="keras3")) is SGD
    with pytest.raises(KeyError, match="inner_optimizer"):
        gl.keras.get("LossScaleOptimizer")
    with pytest.raises(KeyError, match="optimizer_map"):
        gl.keras.get("MultiOptimizer")


def test_what_serialize_takes() -> None:
    assert serialize(None) is None
    assert serialize(SGD(), use_legacy_format=True).keys() == {"class_name", "config"}
    with pytest.raises(TypeError, match="takes an optimizer"):
        serialize(1)  # type: ignore[call-overload]


def test_a_class_of_your_own() -> None:
    class Mine(SGD):
        pass

    config = serialize(Mine(0.5))
    assert type(deserialize(config, {"Mine": Mine})) is Mine
    with pytest.raises(ValueError, match="Unknown optimizer: 'Mine'"):
        deserialize(config)
