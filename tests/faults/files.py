"""Kills and damage to the files that gradlab writes."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from gradlab._base.archive import Archive, ArchiveWriter
from tests.faults.fault import Fault

_SIZE = 300_000


def _write(path: Path, number: int) -> None:
    with ArchiveWriter(path, "numbers", 1, {"number": number}) as file:
        for k in range(3):
            file.array(f"x{k}", np.full(_SIZE, number + k))


def _read(path: Path) -> str:
    with Archive(path, "numbers", (1,)) as file:
        number = file.head["number"]
        right = all((file.array(f"x{k}") == number + k).all() for k in range(3))
    return "" if right else "arrays of two saves are mixed"


def killed_while_saving(folder: Path, seed: int) -> str:
    """A process that saves again and again is killed at some instant after its first save."""
    path = folder / "a.npz"
    code = f"""
import itertools, pathlib
from tests.faults.files import _write
for k in itertools.count():
    _write(pathlib.Path({str(path)!r}), k)
"""
    process = subprocess.Popen([sys.executable, "-c", code])
    while not path.exists():
        time.sleep(0.01)
    time.sleep(float(np.random.default_rng(seed).uniform(0, 0.2)))
    process.kill()
    process.wait()
    try:
        return _read(path)
    except (OSError, ValueError) as error:
        return str(error)


FAULTS = [Fault("kill -9 while arrays are saved", killed_while_saving, 3)]
