"""Names, configs, and what stays out of a config."""

from typing import Any

import pytest

import gradlab as gl
from gradlab.keras import SGD, Adagrad
from tests.differences import differs

STAIRS = gl.schedules.ExponentialDecay(0.5, 2, 0.5, True)


@differs(
    "`name` of an optimizer of Keras 3 that is given none",
    tensorflow="unique: sgd, sgd_1",
    gradlab="SGD, as in the other versions; None makes it unique",
)
def test_names() -> None:
    assert (Adagrad().get_config()["name"], Adagrad(name="Ada").get_config()["name"]) == ("Adagrad", "Ada")
    assert [Adagrad(name=n).get_config()["name"] for n in (None, "", None)] == ["adagrad", "adagrad_1", "adagrad_2"]
    assert SGD(name=None).get_config()["name"] == "sgd"
    assert [SGD(semantics="keras3", **more).name for more in ({}, {"name": None})] == ["SGD", "sgd_1"]


def test_config_holds_limits_that_are_set_and_versions_that_are_not_the_default() -> None:
    config = Adagrad(0.5, clipvalue=2.0, decay=0.25, name="a").get_config()
    common = {"name": "a", "learning_rate": 0.5, "initial_accumulator_value": 0.1, "epsilon": 1e-7}
    assert config == {**common, "clipvalue": 2.0, "decay": 0.25}
    config = Adagrad(0.5, name="a", semantics="keras3").get_config()
    assert common.items() <= config.items()
    assert (config["clipnorm"], config["use_ema"], config["semantics"]) == (None, False, "keras3")
    assert Adagrad(strict="tf").get_config()["strict"] == "tf"
    with pytest.raises(ValueError, match="strict must be"):
        Adagrad(strict="yes")  # type: ignore[arg-type]


@pytest.mark.parametrize("version", ["tf2.3", "legacy", "rewrite", "keras3"])
def test_round_trip(version: Any) -> None:
    opt = Adagrad(0.25, 0.5, 0.125, "a", version, strict="tf", clipnorm=2.0)
    assert Adagrad.from_config(opt.get_config()).get_config() == opt.get_config()
    scheduled = SGD(STAIRS, semantics=version)
    assert SGD.from_config(scheduled.get_config()).get_config() == scheduled.get_config()
    assert Adagrad.from_config({}, semantics=version).get_config().get("semantics", "legacy") == version


def test_from_config_changes_the_dictionary_and_refuses_unknown_names() -> None:
    config = {"lr": 0.5}
    assert SGD.from_config(config).get_config()["learning_rate"] == 0.5
    assert config == {"learning_rate": 0.5}
    with pytest.raises(TypeError, match="no argument 'foo'"):
        SGD.from_config({"foo": 1})


def test_schedules_are_written_as_each_version_writes_them() -> None:
    assert SGD(STAIRS, semantics="tf2.3").get_config()["learning_rate"].keys() == {"class_name", "config"}
    assert "registered_name" in SGD(STAIRS).get_config()["learning_rate"]
    assert SGD(lambda: 0.5).get_config()["learning_rate"] == 0.5


def test_unknown_attributes() -> None:
    with pytest.raises(AttributeError):
        Adagrad().momentum  # type: ignore[attr-defined]  # noqa: B018


def test_an_optimizer_shows_what_it_was_told_and_makes_nothing_for_it() -> None:
    opt = Adagrad(0.1, clipnorm=2.0, epsilon=1e-8)
    shown = (
        "Adagrad('Adagrad', learning_rate=0.1, initial_accumulator_value=0.1, epsilon=1e-08, clipnorm=2.0, "
        "semantics='legacy')"
    )
    assert repr(opt) == shown
    assert opt.weights == [] and not opt._created
    assert opt.learning_rate is not None and repr(opt) == shown
    function = lambda: 1 / 0  # noqa: E731
    assert repr(SGD(function, semantics="keras3")).startswith(f"SGD('SGD', learning_rate={function!r}, momentum=0.0, ")
