"""Golden files of whole libraries, `golden/library/*.json`: one list of scenarios a file, in plain
data.

A scenario has `id`, `op` or `class`, `args`, `inputs`, `steps`, `expected` or `error`, and
`compare`. Floats are written as `float.hex`, so that every bit is there; complex numbers are pairs
of them.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from tests.conformance.decode import dtype
from tests.conformance.scenarios import OWN_GOLDEN
from tests.conformance.summary import golden_directory

Json = dict[str, Any]


def load(config: pytest.Config, file: str) -> list[Json]:
    """Return the scenarios of a file of `--golden DIR`, in DIR or in DIR/library, else of the
    project's own.
    """
    directory = golden_directory(config)
    for path in (directory / "library" / file, directory / file, OWN_GOLDEN / "library" / file):
        if path.exists():
            return json.loads(path.read_text("utf-8"))
    raise FileNotFoundError(f"{file} is neither in {directory} nor in {OWN_GOLDEN / 'library'}")


def value(x: Any) -> Any:
    """Return an array for what is written as one; anything else is as it stands."""
    if not (isinstance(x, dict) and "dtype" in x):
        return x
    kind = dtype(x["dtype"])
    if "values" in x:
        return np.asarray(x["values"], kind).reshape(x["shape"])
    with np.errstate(over="ignore"):
        return np.asarray([_number(entry) for entry in x["hex"]]).astype(kind).reshape(x["shape"])


def _number(entry: Any) -> float | complex:
    if isinstance(entry, list):
        return complex(float.fromhex(entry[0]), float.fromhex(entry[1]))
    return float.fromhex(entry)


def deviation(expected: Json, actual: Any, compare: Json) -> str:
    """Return how an array differs from the expected one, and an empty text if it agrees."""
    wanted = value(expected)
    got = np.asarray(actual)
    if (got.dtype, got.shape) != (wanted.dtype, wanted.shape):
        return f"{got.dtype} of shape {got.shape}, not {wanted.dtype} of shape {wanted.shape}"
    if agrees(wanted, got, compare):
        return ""
    return f"{got.ravel().tolist()}, not {wanted.ravel().tolist()} ({compare})"


def agrees(wanted: np.ndarray, got: np.ndarray, compare: Json) -> bool:
    """Tell whether all entries agree: in their bits, within some ulp, or within a tolerance.

    NaN agrees with NaN.

    >>> one = np.float32([1.0])
    >>> agrees(one, np.nextafter(one, np.float32(2.0)), {"kind": "ulp", "ulp": 1, "atol": 0.0})
    True
    """
    if wanted.dtype.kind == "c":
        return agrees(_parts(wanted), _parts(got), compare)
    same = (wanted == got) | ((wanted != wanted) & (got != got))
    if compare["kind"] == "bit":
        return bool(same.all())
    with np.errstate(all="ignore"):
        distance = np.abs(wanted.astype(np.float64) - got.astype(np.float64))
        allowed = compare["atol"] + compare.get("rtol", 0.0) * np.abs(wanted.astype(np.float64))
        if compare["kind"] == "ulp":
            spacing = np.abs(
                np.spacing(wanted.astype(wanted.dtype if wanted.dtype.kind == "f" else np.float32))
            )
            allowed = np.maximum(allowed, compare["ulp"] * spacing.astype(np.float64))
        return bool((same | (distance <= allowed)).all())


def _parts(x: np.ndarray) -> np.ndarray:
    """Return real and imaginary parts as one array of reals."""
    return np.stack([x.real, x.imag])
