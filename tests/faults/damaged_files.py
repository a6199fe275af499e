"""Damaged files: each is refused by the one documented error, or all of it is what was written."""

from __future__ import annotations

import tempfile
from functools import cache, partial
from pathlib import Path

import numpy as np

from gradlab.errors import DataLossError
from tests._base.damage import damaged, rewrite
from tests.faults.fault import Fault
from tests.faults.kept import CHECKED, Content

Files = dict[str, bytes]


@cache
def _written(name: str) -> tuple[Files, Content]:
    """The files of a kind, and what they hold."""
    kept = next(kept for kept in CHECKED if kept.name == name)
    with tempfile.TemporaryDirectory() as folder:
        kept.write(Path(folder) / kept.file, 5)
        return _files(Path(folder)), kept.read(Path(folder) / kept.file)


def _files(folder: Path) -> Files:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def damaged_copy(name: str, folder: Path, seed: int) -> str:
    """One of the files that `name` wrote is damaged in one place."""
    kept = next(kept for kept in CHECKED if kept.name == name)
    files, good = _written(name)
    rng = np.random.default_rng(seed)
    changed = sorted(files)[int(rng.integers(len(files)))]
    copy = next(damaged(files[changed], 100, seed))
    for other, data in files.items():
        (folder / other).parent.mkdir(exist_ok=True)
        rewrite(folder / other, copy if other == changed else data)
    try:
        found = kept.read(folder / kept.file)
    except DataLossError:
        return ""
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return "" if found == good else f"{changed} was believed"


FAULTS = [
    Fault(f"damaged file of {kept.name}", partial(damaged_copy, kept.name), 60) for kept in CHECKED
]
