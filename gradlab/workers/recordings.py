"""Learning curves that take minutes to make and ship with the package."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np

_HELD_OUT = 297  # digits; stored is the number of them that are classified correctly


@cache
def arrays(name: str) -> dict[str, np.ndarray]:
    """The arrays of a recording by name, not to be written to.

    >>> sorted(arrays("spare_workers"))
    ['of', 'right']
    """
    with np.load(str(_file(name))) as stored:
        found = dict(stored)
    for array in found.values():
        array.flags.writeable = False
    return found


def write(name: str, **arrays: np.ndarray) -> None:
    """Write a recording where `arrays` finds it."""
    np.savez_compressed(str(_file(name)), **arrays)  # type: ignore[arg-type]


@cache
def load(name: str) -> np.ndarray:
    """Accuracies on the held-out digits, float64 and not to be written to, in the shape that was saved.

    >>> load("spare_workers").shape
    (16, 5, 200)
    """
    stored = arrays(name)
    curves: np.ndarray = stored["right"].astype(np.float64) / stored["of"]
    curves.flags.writeable = False
    return curves


def save(name: str, curves: np.ndarray) -> None:
    """Write such shares where `load` finds them."""
    write(name, right=np.rint(curves * _HELD_OUT).astype(np.uint16), of=np.array(_HELD_OUT))


def _file(name: str) -> Any:
    return files("gradlab.models.recordings") / f"{name}.npz"
