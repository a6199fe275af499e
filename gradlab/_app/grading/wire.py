"""The protocol between the grader and a student's process: lines of JSON that hold plain values and arrays.

Nothing that is read makes an object run code, whatever the other side wrote.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import IO, Any

import numpy as np

LONGEST = 20_000_000  # bytes of a line
_KINDS = "biuf"  # of arrays: Booleans and numbers


class BrokenError(Exception):
    """The other side ended, or wrote something other than was agreed on."""


class Foreign:
    """A value that does not travel: its type and how it is printed."""

    def __init__(self, shown: str) -> None:
        self.shown = shown

    def __repr__(self) -> str:
        return self.shown


class Variables:
    """The variables that have been sent or received, each known by a number.

    Args:
        make: from a name and a value to a variable, for those that arrive first.
    """

    def __init__(self, make: Callable[[str, Any], Any] | None = None) -> None:
        self._make, self._known = make, dict[int, Any]()

    def number(self, variable: Any) -> int:
        """The number of a variable; a new one for a new variable."""
        for number, known in self._known.items():
            if known is variable:
                return number
        self._known[len(self._known)] = variable
        return len(self._known) - 1

    def get(self, number: int, name: str, value: Any) -> Any:
        """The variable of a number, made if it is not known yet."""
        if number not in self._known:
            if self._make is None:
                raise BrokenError(f"unknown variable {number}")
            self._known[number] = self._make(name, value)
        return self._known[number]


def packed(value: Any, variables: Variables) -> Any:
    """Give a value as what JSON has: numbers, text, lists, and objects with one key that says what they are."""
    if value is None or isinstance(value, bool | str) or type(value) in (int, float):
        return value
    if isinstance(value, list):
        return [packed(part, variables) for part in value]
    if isinstance(value, tuple):
        return {"tuple": [packed(part, variables) for part in value]}
    if type(value).__name__ == "Variable" and hasattr(value, "numpy"):
        start = packed(np.asarray(value.numpy()), variables)
        return {"variable": variables.number(value), "name": value.name.removesuffix(":0"), "value": start}
    try:
        array = np.asarray(value)
    except Exception:
        array = np.asarray(None)
    if array.dtype.name == "bfloat16":
        array = array.astype(np.float32)
    if array.dtype.kind in _KINDS:
        return {"array": array.ravel().tolist(), "dtype": array.dtype.str, "shape": list(array.shape)}
    return {"foreign": f"{value!r}"[:200]}


def unpacked(value: Any, variables: Variables) -> Any:
    """Give the value back. Raises: BrokenError: it is not of this form."""
    if isinstance(value, list):
        return [unpacked(part, variables) for part in value]
    if not isinstance(value, dict):
        return value
    try:
        if "tuple" in value:
            return tuple(unpacked(part, variables) for part in value["tuple"])
        if "variable" in value:
            start = unpacked(value.get("value"), variables)
            return variables.get(int(value["variable"]), str(value.get("name")), start)
        if "array" in value:
            return _array(value["array"], value["dtype"], value["shape"])
        return Foreign(str(value["foreign"]))
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise BrokenError(f"not a value: {error}") from error


def _array(numbers: Sequence[Any], dtype: str, shape: Sequence[int]) -> Any:
    kind = np.dtype(dtype)
    if kind.kind not in _KINDS:
        raise BrokenError(f"not an array of numbers: {dtype}")
    array = np.array(numbers, kind).reshape(shape)
    return array if shape else array[()]


def write(stream: IO[bytes], message: dict[str, Any]) -> None:
    """Send one message."""
    stream.write(json.dumps(message).encode() + b"\n")
    stream.flush()


def read(stream: IO[bytes]) -> dict[str, Any]:
    """Receive one message. Raises: BrokenError: the other side has ended, or this is none."""
    line = stream.readline()
    if not line.endswith(b"\n"):
        raise BrokenError("its process ended")
    return message(line)


def message(line: bytes) -> dict[str, Any]:
    """A line as a message. Raises: BrokenError: it is none."""
    try:
        found = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise BrokenError("it sent something else than a result") from error
    if not isinstance(found, dict):
        raise BrokenError("it sent something else than a result")
    return found
