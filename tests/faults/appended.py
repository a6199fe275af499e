"""A recording that is appended to: its process is killed, its file is damaged."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from functools import cache
from pathlib import Path

import numpy as np

import gradlab as gl
from gradlab.errors import DataLossError
from tests._base.damage import damaged
from tests.faults.fault import Fault

_STEPS = 40


def _add(rec: gl.Recorder) -> None:
    """Step k, which has its number in it."""
    k = rec.seen
    rec.record({"w": np.full((20, 30), k + 1.0), "b": np.arange(3.0) + k}, loss=float(k))


def _append(path: Path) -> None:
    """Again and again; beside the file is how many steps are in it."""
    rec = gl.Recorder(16, entries=8, sample_every=4)
    with (
        rec.append_to(path, seconds=0, sync=False),
        open(path.with_suffix(".count"), "wb", buffering=0) as count,
    ):
        while True:
            _add(rec)
            count.write(f"{rec.seen}\n".encode())


def _wrong(found: gl.Recorder) -> str:
    """Empty if a recording holds what a run of so many steps has left."""
    whole = gl.Recorder(16, entries=8, sample_every=4)
    for _ in range(found.seen):
        _add(whole)
    columns = ("norm", "largest", "entry", "loss", "taken", "histogram")
    same = all(np.array_equal(found[name], whole[name]) for name in columns)
    every = np.array_equal(found.every_step("global_norm"), whole.every_step("global_norm"))
    return "" if same and every else f"{found} is not what was recorded"


def killed_while_appending(folder: Path, seed: int) -> str:
    """The process is killed at some instant after its first piece; then another one goes on."""
    path = folder / "run.rec"
    code = (
        "import pathlib; from tests.faults.appended import _append; "
        f"_append(pathlib.Path({str(path)!r}))"
    )
    process = subprocess.Popen([sys.executable, "-c", code])
    count = path.with_suffix(".count")
    while not count.exists() or not count.read_text():
        time.sleep(0.01)
    time.sleep(float(np.random.default_rng(seed).uniform(0, 0.3)))
    while_written = gl.Recorder.load(path)
    process.kill()
    process.wait()
    told = int(count.read_text().rpartition("\n")[0].rpartition("\n")[2])
    try:
        found = gl.Recorder.load(path)
        if not told <= found.seen <= told + 1:
            return f"{found.seen} steps of {told} are there"
        if said := _wrong(while_written) or _wrong(found):
            return said
        with found.append_to(path, seconds=0, sync=False):
            _add(found)
        return (
            _wrong(gl.Recorder.load(path))
            if gl.Recorder.load(path).seen == found.seen
            else "it does not go on"
        )
    except (OSError, ValueError) as error:
        return f"{type(error).__name__}: {error}"


@cache
def _file() -> bytes:
    """A file of a run."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.rec"
        rec = gl.Recorder(16, entries=8, sample_every=4)
        with rec.append_to(path, seconds=0, sync=False):
            for _ in range(_STEPS):
                _add(rec)
        return path.read_bytes()


def damaged_recording(folder: Path, seed: int) -> str:
    """Cut off, with zeros, other bytes, or a bit that flipped; it is refused, or all of it is
    there.
    """
    path = folder / "run.rec"
    path.write_bytes(next(damaged(_file(), 100, seed)))
    try:
        found = gl.Recorder.load(path)
    except DataLossError:
        return ""
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return _wrong(found) if found.seen == _STEPS else f"{found.seen} steps of {_STEPS} are there"


FAULTS = [
    Fault(
        "kill -9 while a recording is appended to: the last piece at most is lost",
        killed_while_appending,
        2,
    ),
    Fault("a damaged recording that grows", damaged_recording, 60),
]
