"""The runner notices wrong numbers, counts what nobody supports, and prints the right lines."""

from __future__ import annotations

import copy
import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.conformance import decode, runner
from tests.conformance.scenarios import OWN_GOLDEN, Scenario, Unsupported, load_file
from tests.conformance.summary import golden_directory

ROOT = Path(__file__).parent.parent.parent
CLIPS = load_file(OWN_GOLDEN / "clip.json")
PLAIN = next(s for s in CLIPS if s.id == "clip.norm.basic")


def changed(scenario: Scenario) -> Scenario:
    """The same scenario with the first expected number one bit off, or with another error class."""
    data = copy.deepcopy(scenario.data)
    assert _spoil(data["expected"])
    return Scenario(scenario.file, scenario.group, scenario.id, data)


def _spoil(x: Any) -> bool:
    if decode.is_array(x) and x["values"]:
        first = x["values"][0]
        x["values"][0] = 8 if first == 7 else 7
        x.pop("hex", None)
        return True
    if isinstance(x, dict) and "class" in x:
        x["class"] = "KeyError"
        return True
    return any(map(_spoil, x.values() if isinstance(x, dict) else x if isinstance(x, list) else ()))


@pytest.mark.parametrize(
    "scenario", [s for s in CLIPS if s.id != "clip.value.empty"], ids=lambda s: s.id
)
def test_one_wrong_number_fails(scenario: Scenario) -> None:
    assert runner.differences(changed(scenario))


VAR = {"dtype": "float32", "shape": [1], "values": [1.0]}
OP = {
    "do": "op",
    "op": "GradientDescent",
    "var": VAR,
    "slots": {},
    "hyper": {"alpha": 0.1},
    "grads": [VAR],
}
OTHERS = [
    s for topic in ("ops", "v1", "keras") for s in load_file(OWN_GOLDEN / f"{topic}.json")[::6]
]
OTHERS = [s for s in OTHERS if "shape" in str(s.data["expected"])]


@pytest.mark.parametrize("scenario", OTHERS, ids=lambda s: s.id)
def test_one_wrong_number_of_an_optimizer_fails(scenario: Scenario) -> None:
    assert runner.differences(scenario) == []
    assert runner.differences(changed(scenario))


UNKNOWN: dict[str, dict[str, Any]] = {
    "verb": {"calls": [{"do": "juggle"}]},
    "function": {"calls": [{"do": "call", "fn": "clip_by_colour", "args": []}]},
    "wrapper": {"calls": [{"do": "call", "fn": "clip_by_norm", "args": [{"riddle": 1}, 1.0]}]},
    "group": {"group": "weather"},
    "mode": {"mode": "dream"},
    "oracle": {"expected": {"torch2.13.0": [{}]}},
    "class": {"group": "v1", "calls": [{"do": "new", "class": "v1.OtherOptimizer"}]},
    "v1_verb": {"group": "v1", "calls": [{"do": "juggle"}]},
    "op": {
        "group": "ops",
        "calls": [{"do": "op", "op": "Mystery", "slots": {}, "grads": [], "hyper": {}, "var": VAR}],
    },
    "op_verb": {"group": "ops", "calls": [{"do": "juggle"}]},
    "op_slot": {"group": "ops", "calls": [{**OP, "slots": {"luck": 0.0}}]},
    "op_argument": {"group": "ops", "calls": [{**OP, "hyper": {"alpha": 0.1, "luck": 1.0}}]},
    "sparsecore": {
        "group": "sparsecore_optimizer",
        "inputs": {"optimizer": "mystery", "var": [], "slots": {}},
    },
    "slots": {"group": "slot_init", "inputs": {"optimizer": "Mystery"}, "expected": {"values": {}}},
    "formula": {"group": "derived", "inputs": {"riddle": 1}},
    "peer": {"group": "peers", "id": "peers.torch.mystery", "input": {"riddle": 1}},
    "keras": {"group": "adagrad", "calls": [{"do": "new", "class": "keras.Other"}]},
    "loss": {"group": "v1", "calls": [{"do": "gradients", "ys": [{"luck": 1}], "xs": []}]},
    "constraint": {
        "group": "v1",
        "vars": {"v": {"dtype": "int32", "shape": [], "values": [1], "constraint": "odd"}},
    },
}


def unknown(what: str) -> dict[str, Any]:
    """A scenario that is like a supported one but for one thing."""
    call = {"do": "trainable_variables"} if UNKNOWN[what].get("group") == "v1" else PLAIN.calls[0]
    plain = {"group": "clip", "mode": "eager", "compare": "bitwise", "vars": {}, "calls": [call]}
    return {
        "id": f"unknown.{what}",
        "note": "",
        "expected": {"both": [{}]},
        **plain,
        **UNKNOWN[what],
    }


@pytest.mark.parametrize("what", UNKNOWN)
def test_what_no_adapter_knows_is_unsupported(what: str) -> None:
    data = unknown(what)
    with pytest.raises(Unsupported):
        runner.differences(Scenario("f.json", data["group"], data["id"], data))


def run(directory: Path) -> tuple[int, list[str]]:
    """Exit status and output lines of `python -m pytest tests/conformance/test_golden.py -q
    --golden directory`.
    """
    command = [
        sys.executable,
        "-m",
        "pytest",
        "tests/conformance/test_golden.py",
        "-q",
        "-p",
        "no:cacheprovider",
    ]
    done = subprocess.run(
        [*command, "--golden", str(directory)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout.splitlines()


def write(path: Path, *scenarios: dict[str, Any]) -> None:
    path.write_text(json.dumps({"schema": 1, "scenarios": scenarios}), encoding="utf-8")


@pytest.mark.exhaustive
def test_the_lines_and_the_exit_status_with_failures(tmp_path: Path) -> None:
    write(tmp_path / "good.json", PLAIN.data)
    write(tmp_path / "wrong.json", PLAIN.data, {**changed(PLAIN).data, "id": "clip.wrong"})
    write(tmp_path / "new.json", PLAIN.data, unknown("verb"), unknown("group"), unknown("mode"))
    status, lines = run(tmp_path)
    assert status == 1
    assert "golden good.json: 1 passed, 0 failed, 0 unsupported" in lines
    k = lines.index("golden wrong.json: 1 passed, 1 failed, 0 unsupported")
    assert lines[k + 1] == "  failed clip (1): clip.wrong"
    k = lines.index("golden new.json: 1 passed, 0 failed, 3 unsupported")
    assert lines[k + 1 : k + 3] == [
        "  unsupported clip (2): unknown.verb unknown.mode",
        "  unsupported weather (1): unknown.group",
    ]
    assert "golden good.json on JAX: 2 passed, 0 failed, 0 unsupported" in lines
    assert "3 unsupported" in lines[-1]


@pytest.mark.exhaustive
def test_unsupported_alone_is_no_failure_and_no_pass(tmp_path: Path) -> None:
    write(tmp_path / "new.json", unknown("verb"))
    (tmp_path / "other.json").write_text("{}", encoding="utf-8")
    status, lines = run(tmp_path)
    assert status == 0
    assert "golden new.json: 0 passed, 0 failed, 1 unsupported" in lines
    assert "golden other.json: 0 passed, 0 failed, 1 unsupported" in lines
    assert "passed" not in lines[-1]


def test_a_folder_without_golden_files_is_an_error(
    tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    given = SimpleNamespace(
        getoption=lambda *_, **__: str(tmp_path), invocation_params=pytestconfig.invocation_params
    )
    with pytest.raises(pytest.UsageError, match=r"no \*\.json files in"):
        golden_directory(given)
