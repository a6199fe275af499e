"""Learning curves that take minutes to make and ship with the package: shares of the held-out digits told right."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np

_HELD_OUT = 297  # digits; what is stored is how many of them are told right


@cache
def load(name: str) -> np.ndarray:
    """The curves, float64 and not to be written to, in the shape in which they were saved.

    >>> load("spare_workers").shape
    (16, 5, 200)
    """
    with np.load(str(_file(name))) as stored:
        curves: np.ndarray = stored["right"].astype(np.float64) / stored["of"]
    curves.flags.writeable = False
    return curves


def save(name: str, curves: np.ndarray) -> None:
    """Write curves where `load` finds them."""
    right = np.rint(curves * _HELD_OUT).astype(np.uint16)
    np.savez_compressed(str(_file(name)), right=right, of=_HELD_OUT)


def _file(name: str) -> Any:
    return files("gradlab.recordings") / f"{name}.npz"
