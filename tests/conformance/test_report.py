"""The report: what is counted, on which line, and the worst deviation."""

from __future__ import annotations

import copy
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from tests.conformance import compare
from tests.conformance.lines import LINES, line
from tests.conformance.report import HEAD, deviation, main, table
from tests.conformance.scenarios import OWN_GOLDEN, Scenario, load_directory, load_file

CLIPS = {s.id: s for s in load_file(OWN_GOLDEN / "clip.json")}
OPS = {s.id: s for s in load_file(OWN_GOLDEN / "ops.json")}


def f32(*values: float) -> np.ndarray:
    return np.array(values, np.float32)


def test_every_scenario_of_our_own_has_a_line_and_there_are_few() -> None:
    found = {line(s) for s in load_directory(OWN_GOLDEN)}
    assert found <= set(LINES) - {"other"}
    assert len(LINES) <= 32


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (
            {"group": "v1", "calls": [{"do": "new", "class": "v1.GradientDescentOptimizer"}]},
            "StochasticGradientDescent",
        ),
        (
            {
                "group": "v1",
                "calls": [
                    {"do": "new", "class": "v1.RMSPropOptimizer", "kwargs": {"centered": True}}
                ],
            },
            "CenteredRMSProp",
        ),
        ({"group": "minimize", "calls": [{"do": "new", "class": "keras.SGD"}]}, "Keras SGD"),
        ({"group": "v1", "calls": [{"do": "gradients"}]}, "gradients, names, gates"),
        ({"group": "training_op_sparse", "inputs": {"op": "ResourceSparseApplyFtrlV2"}}, "Ftrl"),
        ({"group": "training_op_dense", "inputs": {"op": "ResourceApplyMystery"}}, "other"),
        ({"group": "accumulator.process_aborts"}, "conditional accumulators"),
        ({"group": "drop_stale.observations"}, "DropStaleGradientOptimizer"),
        ({"group": "weather"}, "other"),
    ],
)
def test_lines(data: dict[str, Any], expected: str) -> None:
    assert line(Scenario("f.json", data["group"], "x", data)) == expected


def test_the_table_counts_arrays_and_equal_ones() -> None:
    scenario = CLIPS["clip.norm.basic"]
    arrays = len(scenario.calls)
    assert table([scenario], jit=False) == [
        *HEAD,
        f"| clip functions | 1 | {arrays} | 100 % | 0 | - | - | - |",
        f"| all | 1 | {arrays} | 100 % | 0 | - | - | - |",
    ]


def test_the_table_tells_what_failed_and_by_how_much() -> None:
    good = OPS["op.GradientDescent.dense"]
    data = copy.deepcopy(good.data)
    (outputs,) = data["expected"].values()
    # 8 ulp of -1.98, 4 of the largest, 2.95.
    outputs[0]["steps"][0]["var"]["values"][1] *= 1 + 2**-21
    row = table([good, replace(good, data=data)], jit=False)[2]
    assert row == "| StochasticGradientDescent | 1 of 2 | 6 | 83.3 % | 4 | - | - | - |"


def test_jit_has_its_own_columns() -> None:
    cells = table([OPS["op.Adagrad.dense"]])[2].split(" | ")
    assert cells[:4] == ["| Adagrad", "1", "12", "100 %"]
    assert cells[5] == "12"
    assert float(cells[7].rstrip(" |")) <= 4


def test_what_nobody_runs_is_not_counted() -> None:
    assert table([Scenario("f.json", "weather", "x", {"group": "weather"})]) == [
        *HEAD,
        "| all | 0 | 0 | - | - | - | - | - |",
    ]


@pytest.mark.parametrize(
    ("want", "got", "expected"),
    [
        (f32(1.0, 0.5), f32(1.0, 0.5), 0.0),
        (f32(4.0, 0.5), f32(4.0, 0.5 + 2**-21), 1.0),
        (f32(np.nan, np.inf), f32(np.nan, np.inf), 0.0),
        (f32(np.nan), f32(1.0), np.inf),
        (f32(1.0), f32(np.inf), np.inf),
        (np.array([1.0], ml_dtypes.bfloat16), np.array([1.0 + 2**-7], ml_dtypes.bfloat16), 1.0),
        (np.array([3]), np.array([4]), np.inf),
        (np.zeros(0, np.float32), np.zeros(0, np.float32), 0.0),
    ],
)
def test_deviation(want: np.ndarray, got: np.ndarray, expected: float) -> None:
    assert deviation(want, got) == expected


def test_the_outcomes_of_a_race_are_not_watched() -> None:
    golden = {"dtype": "float32", "shape": [1], "values": [1.0]}
    with compare.watched() as pairs:
        compare.differences(golden, compare.AnyOf([f32(1.0), f32(2.0)], f32(2.0)), "bitwise")
        compare.differences(golden, f32(1.0), "bitwise")
    assert len(pairs) == 1


def test_the_command_reads_a_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    content = {"schema": 1, "scenarios": [CLIPS["clip.norm.basic"].data]}
    (tmp_path / "some.json").write_text(json.dumps(content), encoding="utf-8")
    assert main(["--golden", str(tmp_path), "--no-jit"]) == 0
    assert capsys.readouterr().out.splitlines()[:2] == list(HEAD)
