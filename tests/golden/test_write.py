"""The committed golden files are what TensorFlow gives, and the check says so when they are not."""

from __future__ import annotations

import copy
import json
from pathlib import Path

import pytest

from tests.golden import write
from tests.golden.build import Json
from tests.golden.tensorflow_values import tensorflow

HERE = Path(__file__).parent
LIMIT = 800_000  # bytes in all: small enough to read in a diff


@pytest.mark.tensorflow
@pytest.mark.filterwarnings("ignore:The `lr` argument is deprecated")
@pytest.mark.parametrize("topic", write.TOPICS)
def test_tensorflow_still_gives_the_committed_numbers(topic: str, capsys: pytest.CaptureFixture[str]) -> None:
    tensorflow().compat.v1.reset_default_graph()  # names that other tests took
    assert write.check(HERE, [topic]) == 0, capsys.readouterr().out


@pytest.mark.parametrize("topic", write.TOPICS)
def test_the_files_hold_the_scenarios_of_the_script(topic: str) -> None:
    committed = _committed(topic)
    asked = [json.loads(json.dumps(s)) for s in sorted(write.TOPICS[topic](), key=lambda s: s["id"])]
    assert [write._asked(s) for s in committed["scenarios"]] == asked
    assert write.text(committed) == (HERE / f"{topic}.json").read_text(encoding="utf-8")


def test_the_files_stay_small() -> None:
    assert sum(path.stat().st_size for path in HERE.glob("*.json")) <= LIMIT


def test_changes_name_the_scenario_the_call_and_both_outputs() -> None:
    old = _committed("clip")
    new = copy.deepcopy(old)
    scenario = new["scenarios"][0]
    (outputs,) = scenario["expected"].values()
    outputs[1] = {"value": "other"}
    (found,) = write.changes(old, new)
    assert found.startswith(f"{scenario['id']} call 1 (call):\n    file {{")
    assert found.endswith('now  {"value":"other"}')


def test_changes_name_scenarios_that_only_one_side_has() -> None:
    old = _committed("clip")
    new = {**old, "scenarios": old["scenarios"][1:]}
    name = old["scenarios"][0]["id"]
    assert list(write.changes(old, new)) == [f"{name}: only in the file; write the files anew"]
    assert list(write.changes(new, old)) == [f"{name}: not in the file; write the files anew"]


def test_the_outcome_of_a_race_may_change() -> None:
    old = _committed("train")
    new = copy.deepcopy(old)
    (racing,) = [s for s in new["scenarios"] if s.get("nondeterministic")]
    (outputs,) = racing["expected"].values()
    outputs[-1] = {"vars": {}}
    assert list(write.changes(old, new)) == []


def _committed(topic: str) -> Json:
    return json.loads((HERE / f"{topic}.json").read_text(encoding="utf-8"))
