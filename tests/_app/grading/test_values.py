"""Values between the grader and a student's process come back as they were; what is sent can do
nothing here.
"""

from __future__ import annotations

import json

import numpy as np
import pytest

import gradlab as gl
from gradlab._app.grading import values


def send(value: object) -> object:
    """The value after the way to the other process."""
    return values.unpack(json.loads(json.dumps(values.pack(value, {}))), {})


@pytest.mark.parametrize("value", [None, True, 3, 2.5, "x", [1, [2.0, None]], (1, "a")])
def test_plain_values_come_back_as_they_were(value: object) -> None:
    assert send(value) == value
    assert type(send(value)) is type(value)


@pytest.mark.parametrize(
    "array",
    [
        np.arange(6.0, dtype=np.float32).reshape(2, 3),
        np.array([np.nan, np.inf]),
        np.zeros((0, 2), int),
    ],
)
def test_arrays_keep_dtype_and_shape(array: np.ndarray) -> None:
    got = send(array)
    assert isinstance(got, np.ndarray)
    assert got.dtype == array.dtype
    np.testing.assert_array_equal(got, array)


def test_a_scalar_stays_a_scalar_and_an_object_becomes_its_text() -> None:
    assert isinstance(send(np.float32(2)), np.float32)
    assert send(print) == "<built-in function print>"


def test_a_variable_comes_back_as_itself() -> None:
    with gl.variable_collection():
        v = gl.Variable([1.0], name="v")
    ours: dict[str, object] = {}
    theirs: dict[str, object] = {}

    sent = values.pack([(np.ones(1), v)], ours)
    ((_, there),) = values.unpack(sent, theirs, lambda name, value: gl.Variable(value, name=name))
    ((_, back),) = values.unpack(values.pack([(None, there)], {}), ours)

    assert back is v


@pytest.mark.parametrize(
    "value",
    [
        {"array": [1], "dtype": "O", "shape": [1]},
        {"array": [1], "dtype": "f8", "shape": [2]},
        # As a list of lists it would fill the memory.
        {"array": [], "dtype": "f8", "shape": [10**9, 0]},
        {"array": [], "dtype": "f8", "shape": "abc"},
        {"variable": "v", "value": 1},
        {"variable": [], "value": 1},
        {"x": 1},
    ],
)
def test_a_value_of_another_form_is_refused(value: object) -> None:
    with pytest.raises(ValueError, match=r"variable|array|value|size"):
        values.unpack(value, {})


def test_a_value_nested_too_deep_is_refused() -> None:
    nested: list[object] = []
    for _ in range(100_000):
        nested = [nested]
    with pytest.raises(ValueError, match="RecursionError"):
        values.unpack(nested, {})
