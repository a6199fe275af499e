"""Files that a lab can be written to."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from ._lab import Lab

_STILL = {".png": {"Software": None}, ".svg": {"Date": None, "Creator": None}, ".pdf": {"CreationDate": None}}


def save(lab: Lab, path: Path, params: dict[str, Any]) -> None:
    """Write the lab to `path`, by its ending."""
    suffix = path.suffix.lower()
    if suffix == ".csv":
        _csv(lab, path, params)
    elif suffix in _STILL:
        _still(lab, path, params)
    else:
        raise ValueError(f"cannot save {path.name!r}: allowed are {', '.join(_STILL)} and .csv")


def _still(lab: Lab, path: Path, params: dict[str, Any]) -> None:
    import matplotlib

    with matplotlib.rc_context({"svg.hashsalt": "gradlab"}):
        lab.figure(**params).savefig(path, metadata=_STILL[path.suffix.lower()], dpi=150)


def _csv(lab: Lab, path: Path, params: dict[str, Any]) -> None:
    columns = lab.columns(lab.compute({**lab.params, **params}))
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*(np.asarray(c).tolist() for c in columns.values()), strict=True))
