"""Whatever becomes of a save, the file under its name is all of an older content or all of a newer
one.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

from tests.faults.fault import Fault
from tests.faults.kept import ALL, CHECKED, NUMBERS, REPORT, Kept, lost
from tests.faults.nursery import OUTCOME, nursery, wait_for

_PATIENCE = 600  # seconds for a first save, however busy the machine is


def _place(kept: Kept, folder: Path) -> Path:
    (folder / "data").mkdir()
    (folder / "elsewhere").mkdir()
    return folder / "data" / kept.file


def _done(folder: Path, pid: int) -> str:
    """What a child said at its end."""
    wait_for(pid)
    said = (folder / f"{pid}.{OUTCOME}").read_text()
    return f"a save failed: {said}" if said else ""


def _parts(folder: Path) -> str:
    left = [path.name for path in folder.rglob("*.part")]
    return f"{', '.join(left)} left behind" if left else ""


def killed(kept: Kept, folder: Path, seed: int) -> str:
    """A process that saves again and again is killed at some instant after its first save."""
    path = _place(kept, folder)
    pid, end = nursery().child("_again_and_again", kept.name, path, 0), time.monotonic() + _PATIENCE
    there = path / "manifest.json" if kept.file == "tables" else path
    while not there.exists():
        if time.monotonic() > end:
            os.kill(pid, signal.SIGKILL)
            return f"nothing was tried: there was no first save in {_PATIENCE} s"
        time.sleep(0.002)
    time.sleep(float(np.random.default_rng(seed).uniform(0, 0.15 if kept in _OFTEN else 0.6)))
    os.kill(pid, signal.SIGKILL)
    wait_for(pid)
    return lost(kept, path)


def full_disk(kept: Kept, folder: Path, seed: int) -> str:
    """There is room for a part of the new file only."""
    path = _place(kept, folder)
    kept.write(path, 1)
    pid = nursery().child(
        "_on_a_full_disk", kept.name, path, int(np.random.default_rng(seed).integers(950))
    )
    return _done(folder, pid) or lost(kept, path) or _not_the_first(kept, path) or _parts(folder)


def folder_to_read(kept: Kept, folder: Path, seed: int) -> str:
    """Nothing can be written to the folder."""
    path = _place(kept, folder)
    kept.write(path, 1)
    pid = nursery().child("_in_a_folder_to_read", kept.name, path, seed)
    return _done(folder, pid) or lost(kept, path) or _not_the_first(kept, path) or _parts(folder)


def two_writers(kept: Kept, folder: Path, seed: int) -> str:
    """Two processes save to one path at the same time."""
    path = _place(kept, folder)
    children = [nursery().child("_some_times", kept.name, path, first) for first in (100, 200)]
    said = [_done(folder, pid) for pid in children]
    return "; ".join(filter(None, said)) or lost(kept, path) or _parts(folder)


def _not_the_first(kept: Kept, path: Path) -> str:
    return "" if kept.read(path)["number"] == 1 else "the old file is gone"


_FAULTS: dict[str, tuple[Callable[[Kept, Path, int], str], int]] = {
    "kill -9": (killed, 3),
    "full disk": (full_disk, 2),
    "read-only folder": (folder_to_read, 1),
    "two writers": (two_writers, 1),
}
# What is drawn takes longer, and ends up in a file the same way.
_OFTEN = (*CHECKED, NUMBERS, REPORT)


def _short(kept: Kept, short: int) -> int:
    return short if kept in _OFTEN else short // 2


FAULTS = [
    Fault(f"{kept.name}: {name}", partial(once, kept), _short(kept, short))
    for kept in ALL.values()
    for name, (once, short) in _FAULTS.items()
]
