"""Schedules to dictionaries and back, in the formats of TensorFlow 2.3 and 2.21."""

import json
from typing import Any

import pytest

from gradlab import schedules
from gradlab.schedules import (
    CosineDecay,
    ExponentialDecay,
    LearningRateSchedule,
    deserialize,
    serialize,
)
from tests.schedules.test_schedule import ALL

CONFIG = {
    "initial_learning_rate": 0.1,
    "decay_steps": 2,
    "decay_rate": 0.5,
    "staircase": True,
    "name": None,
}


class Halving(LearningRateSchedule):
    def __call__(self, step: Any) -> Any:
        return 0.5**step

    def get_config(self) -> dict[str, Any]:
        return {}


def test_tensorflow_2_21_writes_four_entries_in_this_order() -> None:
    written = serialize(ExponentialDecay(0.1, 2, 0.5, True))
    assert list(written) == ["module", "class_name", "config", "registered_name"]
    assert written == {
        "module": "keras.optimizers.schedules",
        "class_name": "ExponentialDecay",
        "config": CONFIG,
        "registered_name": None,
    }


@pytest.mark.parametrize("how", [{"use_legacy_format": True}, {"semantics": "tf2.3"}])
def test_the_older_format_has_two_entries(how: dict[str, Any]) -> None:
    written = serialize(ExponentialDecay(0.1, 2, 0.5, True), **how)
    assert written == {"class_name": "ExponentialDecay", "config": CONFIG}


def test_only_tensorflow_2_3_knows_no_warmup() -> None:
    plain = CosineDecay(0.1, 4)
    assert {"warmup_target", "warmup_steps"} <= serialize(plain, use_legacy_format=True)[
        "config"
    ].keys()
    assert serialize(plain, semantics="tf2.3")["config"].keys() == {
        "initial_learning_rate",
        "decay_steps",
        "alpha",
        "name",
    }
    with pytest.raises(ValueError, match="has no warmup"):
        serialize(CosineDecay(0.1, 4, warmup_target=1.0, warmup_steps=2), semantics="tf2.3")


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("how", [{}, {"use_legacy_format": True}, {"semantics": "tf2.3"}])
def test_there_and_back_through_json(name: str, how: dict[str, Any]) -> None:
    if "warmup" in name and "semantics" in how:
        how = {}
    again = deserialize(json.loads(json.dumps(serialize(ALL[name], **how))))
    assert (type(again), again.get_config()) == (type(ALL[name]), ALL[name].get_config())


def test_own_classes_come_back_by_name() -> None:
    written = serialize(Halving())
    assert (written["module"], written["registered_name"]) == (Halving.__module__, "Halving")
    # As in TensorFlow.
    assert serialize(type("Here", (Halving,), {"__module__": "__main__"})())["module"] is None
    assert isinstance(deserialize(written, custom_objects={"Halving": Halving}), Halving)


def test_an_own_class_with_the_name_of_another_is_an_own_class() -> None:
    namesake = type("CosineDecay", (Halving,), {})
    assert serialize(namesake())["registered_name"] == "CosineDecay"


def test_unknown_classes_and_words_are_refused() -> None:
    with pytest.raises(ValueError, match=r"no schedule 'Halving'.*custom_objects"):
        deserialize({"class_name": "Halving", "config": {}})
    with pytest.raises(ValueError, match="semantics must be"):
        serialize(CosineDecay(0.1, 4), semantics="tf1")  # type: ignore[arg-type]


@pytest.mark.parametrize("config", [None, "ExponentialDecay", {"class_name": "ExponentialDecay"}])
def test_what_is_no_such_dictionary_is_refused(config: Any) -> None:
    with pytest.raises(TypeError, match="class_name and config"):
        deserialize(config)


def test_what_is_no_schedule_cannot_be_written() -> None:
    with pytest.raises(TypeError, match="needs a LearningRateSchedule, got float"):
        serialize(0.1)  # type: ignore[arg-type]


def test_every_public_schedule_is_read() -> None:
    public = {
        x for x in vars(schedules).values() if isinstance(x, type) and x is not LearningRateSchedule
    }
    assert {type(s) for s in ALL.values()} == public
