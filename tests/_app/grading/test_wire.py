"""What the grader and a student's process send: values come back as they were, and what is sent can do nothing here."""

import io
import json

import numpy as np
import pytest

import gradlab as gl
from gradlab._app.grading import wire


def back(value: object) -> object:
    return wire.unpacked(json.loads(json.dumps(wire.packed(value, wire.Variables()))), wire.Variables())


def test_values_come_back_as_they_were() -> None:
    for value in (None, True, 3, 2.5, "x", [1, [2.0, None]], (1, "a")):
        assert back(value) == value and type(back(value)) is type(value)
    for array in (np.arange(6.0, dtype=np.float32).reshape(2, 3), np.array([np.nan, np.inf]), np.zeros((0, 2), int)):
        got = back(array)
        assert isinstance(got, np.ndarray) and got.dtype == array.dtype
        np.testing.assert_array_equal(got, array)
    assert isinstance(back(np.float32(2)), np.float32)
    assert repr(back(print)) == "<built-in function print>"


def test_a_variable_comes_back_as_itself() -> None:
    with gl.variable_collection():
        v, ours, theirs = gl.Variable([1.0], name="v"), wire.Variables(), wire.Variables(lambda name, value: [name])
        sent = wire.packed([(np.ones(1), v)], ours)
        ((_, there),) = wire.unpacked(sent, theirs)
        assert there == ["v"]
        assert wire.unpacked({"variable": theirs.number(there)}, ours) is v
        with pytest.raises(wire.BrokenError, match="unknown variable 7"):
            wire.unpacked({"variable": 7}, ours)


@pytest.mark.parametrize("line", [b"", b"{", b"[1]\n", b"nonsense\n", b"[" * 100_000 + b"\n"])
def test_what_is_no_message_is_refused(line: bytes) -> None:
    with pytest.raises(wire.BrokenError):
        wire.read(io.BytesIO(line))


@pytest.mark.parametrize(
    "value", [{"array": [1], "dtype": "O", "shape": [1]}, {"array": [1], "dtype": "f8", "shape": [2]}, {"x": 1}]
)
def test_what_is_no_value_is_refused(value: object) -> None:
    with pytest.raises(wire.BrokenError):
        wire.unpacked(value, wire.Variables())
