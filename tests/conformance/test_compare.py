"""The comparison itself: what counts as equal, and that nothing else does."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradlab as gl
from tests.conformance.compare import AnyOf, Raised, differences
from tests.conformance.runner import all_semantics
from tests.conformance.scenarios import Unsupported


def golden(values: list[Any], dtype: str = "float32", **more: Any) -> dict[str, Any]:
    return {"dtype": dtype, "shape": [len(values)], "values": values, **more}


def f32(*values: float) -> np.ndarray:
    return np.array(values, np.float32)


@pytest.mark.parametrize(
    ("expected", "actual", "mode"),
    [
        (golden([1.0, -0.0]), f32(1.0, -0.0), "bitwise"),
        (golden(["nan", "inf"]), f32(np.nan, np.inf), "bitwise"),
        (golden([0.1], "float64", hex=[(0.1).hex()]), np.array([0.1]), "bitwise"),
        (golden([[3.0, 4.0]], "complex64"), np.array([3 + 4j], np.complex64), "bitwise"),
        (golden([2**53 + 1], "int64"), np.array([2**53 + 1]), "bitwise"),
        (golden([1.0, "nan"]), f32(1.0000001, np.nan), "rtol 1e-6"),
        (golden([1.9, "inf", 0.0]), f32(1.9000004, np.inf, -0.0), "ulp 4"),
        (golden([8.0, 1.0]), f32(8.0, 1.000001), "largest 4"),
        (golden([1.0]), f32(1.001), {"exact": False, "rtol": 0.0, "atol": 0.01}),
        (golden([1.0]), f32(1.0), {"exact": True}),
        (golden([1.0]), f32(2.0), "informational"),
        (
            {"error": {"class": "ValueError"}},
            Raised(gl.errors.InvalidArgumentError("?")),
            "bitwise",
        ),
        (
            [[0.5, "NaN"], [0.10000000149011612, -2]],
            np.float32([[0.5, np.nan], [0.1, -2]]),
            {"exact": True},
        ),
        ([], np.zeros((0, 2), np.float32), {"exact": True}),
        ([0.1], f32(0.1), {"exact": False, "rtol": 1e-6, "atol": 0.0}),
        (3, np.int32(3), "bitwise"),
        ({"a": [None, True, "x", 2]}, {"a": [None, True, "x", 2]}, "bitwise"),
    ],
)
def test_equal(expected: Any, actual: Any, mode: Any) -> None:
    assert differences(expected, actual, mode) == []


@pytest.mark.parametrize(
    ("expected", "actual", "mode"),
    [
        (golden([0.0]), f32(-0.0), "bitwise"),
        (golden([1.0]), f32(1.0000001), "bitwise"),
        (golden([1.0]), np.array([1.0]), "bitwise"),
        (golden([1.0]), f32(1.0, 2.0), "bitwise"),
        (golden([1.0]), [1.0], "bitwise"),
        (golden([1.0], hex=["0x1.8p+0"]), f32(1.0), "bitwise"),
        (golden([2**53 + 1], "int64"), np.array([2**53]), "bitwise"),
        (golden([1.0]), f32(1.00001), "rtol 1e-6"),
        (golden([1.0]), f32(np.nan), "rtol 1e-6"),
        (golden([1.9]), f32(1.9000006), "ulp 4"),
        (golden([1.9]), f32(1.9000006), "largest 4"),
        (golden([8.0, 1.0]), f32(8.0, 1.00001), "largest 4"),
        (golden([1.0]), f32(1.1), {"exact": False, "rtol": 0.0, "atol": 0.01}),
        (golden([1.0]), Raised(ValueError("?")), "bitwise"),
        ({"error": {"class": "TypeError"}}, Raised(ValueError("?")), "bitwise"),
        ({"error": {"class": "TypeError"}}, {"value": f32(1.0)}, "bitwise"),
        ({"a": 1}, {"a": 1, "b": 2}, "bitwise"),
        ({"a": 1, "b": 2}, {"a": 1}, "bitwise"),
        ([1, 2], [1], "bitwise"),
        ([0.5, 1.0], f32(0.5), {"exact": True}),
        ([0.1], f32(0.1), {"exact": True}),
        ([[1.0], [2.0]], f32(1.0, 2.0), {"exact": False, "rtol": 1e-6, "atol": 0.0}),
        (3, np.int32(4), "bitwise"),
        (1, True, "bitwise"),
    ],
)
def test_different(expected: Any, actual: Any, mode: Any) -> None:
    assert differences(expected, actual, mode)


@pytest.mark.parametrize("field", ["values", "indices", "dense_shape"])
def test_slices_differ_in_each_part(field: str) -> None:
    actual = gl.IndexedSlices(np.ones((1, 2), np.float32), np.array([3]), (4, 2))
    inner = {
        "values": {**golden([1.0, 1.0]), "shape": [1, 2]},
        "indices": [3],
        "dense_shape": [4, 2],
    }
    assert differences({"indexed_slices": inner}, actual, "bitwise") == []
    other = {"values": {**golden([1.0, 2.0]), "shape": [1, 2]}, "indices": [2], "dense_shape": None}
    changed = {"indexed_slices": {**inner, field: other[field]}}
    assert differences(changed, actual, "bitwise")


def test_a_race_may_end_in_any_possible_outcome_and_gradlab_must_be_among_them() -> None:
    outcomes = [{"a": f32(1.0)}, {"a": f32(2.0)}]
    assert differences({"a": golden([2.0])}, AnyOf(outcomes, outcomes[0]), "bitwise") == []
    assert differences({"a": golden([3.0])}, AnyOf(outcomes, outcomes[0]), "bitwise")
    assert differences({"a": golden([2.0])}, AnyOf(outcomes, {"a": f32(3.0)}), "bitwise")


def test_a_mode_that_nobody_knows_is_an_error() -> None:
    with pytest.raises(ValueError, match="compare mode 'about'"):
        differences(golden([1.0]), f32(1.0), "about")


def test_oracles_choose_the_semantics() -> None:
    found = {oracle: all_semantics(oracle) for oracle in ("both", "tf2.3.4", "tf2.4.0", "tf2.21.0")}
    assert found == {
        "both": ["tf2.3", "tf2.21"],
        "tf2.3.4": ["tf2.3"],
        "tf2.4.0": ["tf2.21"],
        "tf2.21.0": ["tf2.21"],
    }
    for other in ("tf_keras2.21.0-new", "keras3.15.1-tf", "torch2.13.0", "tf1.15.5"):
        with pytest.raises(Unsupported, match="oracle"):
            all_semantics(other)
