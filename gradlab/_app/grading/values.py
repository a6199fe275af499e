"""Values as JSON: how arguments and results travel between the grader and a student's process.

A hostile process may write anything. Reading it never runs code, and never makes an object much
larger than its text.

A variable is known by its name, because the functions that exercises ask for get each name once in
a call.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

_KINDS = "biuf"  # of arrays: Booleans and numbers
_MOST_NUMBERS = 1_000_000
_MOST_LETTERS = 200  # of an object that is neither a number nor an array

Variables = dict[str, Any]
MakeVariable = Callable[[str, Any], Any]


def pack(value: Any, variables: Variables) -> Any:
    """Return a value as JSON has it, and note the variables in it by name."""
    if value is None or isinstance(value, bool | str) or type(value) in (int, float):
        return value
    if isinstance(value, list):
        return [pack(part, variables) for part in value]
    if isinstance(value, tuple):
        return {"tuple": [pack(part, variables) for part in value]}
    if type(value).__name__ == "Variable" and hasattr(value, "numpy"):
        name = value.name.removesuffix(":0")
        variables[name] = value
        return {"variable": name, "value": pack(np.asarray(value.numpy()), variables)}
    return _pack_array(value)


def _pack_array(value: Any) -> Any:
    """Return an array as JSON; of any other object, how it is printed."""
    try:
        array = np.asarray(value)
    except Exception:
        return repr(value)[:_MOST_LETTERS]
    if array.dtype.name == "bfloat16":
        array = array.astype(np.float32)
    if array.dtype.kind not in _KINDS:
        return repr(value)[:_MOST_LETTERS]
    return {"array": array.ravel().tolist(), "dtype": array.dtype.str, "shape": list(array.shape)}


def unpack(value: Any, variables: Variables, make_variable: MakeVariable | None = None) -> Any:
    """Return the value.

    Args:
        value: what `pack` returned.
        variables: by name; those that are made are added.
        make_variable: from a name and a value, for names that aren't there.

    Raises:
        ValueError: `value` does not have this form, or names an unknown variable.
    """
    try:
        return _unpack(value, variables, make_variable)
    except (KeyError, TypeError, OverflowError, RecursionError) as error:
        raise ValueError(f"cannot read the value: {type(error).__name__}: {error}") from error


def _unpack(value: Any, variables: Variables, make_variable: MakeVariable | None) -> Any:
    if isinstance(value, list):
        return [_unpack(part, variables, make_variable) for part in value]
    if not isinstance(value, dict):
        return value
    if "tuple" in value:
        return tuple(_unpack(part, variables, make_variable) for part in value["tuple"])
    if "variable" in value:
        name = value["variable"]
        if name not in variables and make_variable:
            variables[name] = make_variable(name, _unpack(value["value"], variables, None))
        return variables[name]
    return _unpack_array(value["array"], np.dtype(value["dtype"]), value["shape"])


def _unpack_array(numbers: list[Any], dtype: np.dtype[Any], shape: list[int]) -> Any:
    if dtype.kind not in _KINDS:
        raise ValueError(f"arrays hold numbers, got {dtype}")
    # An array of shape (10**9, 0) holds nothing, but as a list of lists it fills the memory.
    if math.prod(max(size, 1) for size in shape) > _MOST_NUMBERS:
        raise ValueError(f"an array has at most {_MOST_NUMBERS:,} numbers, got shape {shape}")
    array = np.array(numbers, dtype).reshape(shape)
    return array if shape else array[()]
