"""The committed golden files are what TensorFlow gives, and the check says so when they are not."""

from __future__ import annotations

import copy

import pytest

from tests.golden import write
from tests.golden.tensorflow_values import tensorflow

LIMIT = 800_000  # bytes in all: small enough to read in a diff


@pytest.mark.tensorflow
@pytest.mark.filterwarnings("ignore:The `lr` argument is deprecated")
@pytest.mark.parametrize("topic", write.PLAYERS)
def test_tensorflow_still_gives_the_committed_numbers(
    topic: str, capsys: pytest.CaptureFixture[str]
) -> None:
    tensorflow().compat.v1.reset_default_graph()  # names that other tests took

    assert write.check([topic]) == 0, capsys.readouterr().out


@pytest.mark.parametrize("topic", write.PLAYERS)
def test_files_are_as_the_command_writes_them(topic: str) -> None:
    content = write.read(topic)
    names = [scenario["id"] for scenario in content["scenarios"]]

    assert write.text(content) == (write.HERE / f"{topic}.json").read_text(encoding="utf-8")
    assert names == sorted(set(names))


def test_every_file_is_recorded_by_a_command() -> None:
    assert {path.stem for path in write.HERE.glob("*.json")} == {*write.PLAYERS, "sparsecore"}


def test_the_files_stay_small() -> None:
    assert sum(path.stat().st_size for path in write.HERE.glob("*.json")) <= LIMIT


def test_changes_name_the_scenario_the_call_and_both_outputs() -> None:
    old = write.read("clip")
    new = copy.deepcopy(old)
    scenario = new["scenarios"][0]
    (outputs,) = scenario["expected"].values()
    outputs[1] = {"value": "other"}

    (found,) = write.changes(old, new)

    assert found.startswith(f"{scenario['id']} call 1 (call):\n    file {{")
    assert found.endswith('now  {"value":"other"}')


def test_changes_name_scenarios_that_were_not_recorded() -> None:
    new = write.read("clip")
    first, *others = new["scenarios"]
    old = {**new, "scenarios": [write.steps(first), *others]}

    assert list(write.changes(old, new)) == [
        f"{first['id']}: nothing is recorded yet; run python -m tests.golden.write"
    ]


def test_the_outcome_of_a_race_may_change() -> None:
    old = write.read("train")
    new = copy.deepcopy(old)
    (racing,) = [s for s in new["scenarios"] if s.get("nondeterministic")]
    (outputs,) = racing["expected"].values()
    outputs[-1] = {"vars": {}}

    assert list(write.changes(old, new)) == []
