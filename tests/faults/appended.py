"""A recording that is appended to: its process is killed, its machine loses power, its tail is damaged."""

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
from tests.faults.fault import Fault

_STEPS, _SECTOR = 40, 512


def _add(rec: gl.Recorder) -> None:
    """Step k, which has its number in it."""
    k = rec.seen
    rec.record({"w": np.full((20, 30), k + 1.0), "b": np.arange(3.0) + k}, loss=float(k))


def _append(path: Path) -> None:
    """Again and again; beside the file is how many steps are in it."""
    rec = gl.Recorder(16, entries=8, histogram_every=4)
    with rec.append_to(path, seconds=0), open(path.with_suffix(".count"), "wb", buffering=0) as count:
        while True:
            _add(rec)
            count.write(f"{rec.seen}\n".encode())


def _wrong(found: gl.Recorder) -> str:
    """Empty if a recording holds what a run of so many steps has left."""
    whole = gl.Recorder(16, entries=8, histogram_every=4)
    for _ in range(found.seen):
        _add(whole)
    columns = ("norm", "largest", "entry", "loss", "taken", "histogram")
    same = all(np.array_equal(found[name], whole[name]) for name in columns)
    every = np.array_equal(found.every_step("global_norm"), whole.every_step("global_norm"))
    return "" if same and every else f"{found} is not what was recorded"


def killed_while_appending(folder: Path, seed: int) -> str:
    """The process is killed at some instant after its first piece; then another one goes on."""
    path = folder / "run.rec"
    code = f"import pathlib; from tests.faults.appended import _append; _append(pathlib.Path({str(path)!r}))"
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
        with found.append_to(path, seconds=0):
            _add(found)
        return _wrong(gl.Recorder.load(path)) if gl.Recorder.load(path).seen == found.seen else "it does not go on"
    except (OSError, ValueError) as error:
        return f"{type(error).__name__}: {error}"


@cache
def _whole() -> tuple[bytes, list[int]]:
    """A file, and how long it was after each step since it was last started over."""
    with tempfile.TemporaryDirectory() as folder:
        path, sizes = Path(folder) / "run.rec", [0]
        rec = gl.Recorder(16, entries=8, histogram_every=4)
        with rec.append_to(path, seconds=0):
            for _ in range(_STEPS):
                _add(rec)
                size = path.stat().st_size
                sizes = [*sizes, size] if size > sizes[-1] else [0, size]
        return path.read_bytes(), sizes[1:]


def damaged_tail(folder: Path, seed: int) -> str:
    """Cut off, filled up with zeros as by a machine that lost power, or with a bit that flipped."""
    data, sizes = _whole()
    rng, path = np.random.default_rng(seed), folder / "run.rec"
    at = int(rng.integers(sizes[-3] if len(sizes) > 2 else 1, sizes[-1]))
    if seed % 3 == 0:
        changed = data[:at]
    elif seed % 3 == 1:
        at = max(at, sizes[-2] if len(sizes) > 1 else 1) // _SECTOR * _SECTOR + _SECTOR
        changed = data[:at] + bytes(len(data) - min(at, len(data)))
    else:
        changed = data[:at] + bytes([data[at] ^ 1 << int(rng.integers(8))]) + data[at + 1 :]
    path.write_bytes(changed)
    try:
        found = gl.Recorder.load(path)
    except DataLossError as error:
        return "" if seed % 3 == 2 or "no step yet" in str(error) else f"torn, and not read: {error}"
    except ValueError as error:
        return "" if at < sizes[0] and "holds no step yet" in str(error) else str(error)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    first = _STEPS - len(sizes) + 1
    if seed % 3 == 2 and changed != data:
        return "a bit that flipped was believed"
    if seed % 3 == 0 and found.seen != first - 1 + sum(size <= at for size in sizes):
        return f"cut off at {at}, it has {found.seen} steps"
    return _wrong(found)


FAULTS = [
    Fault("kill -9 while a recording is appended to: the last piece at most is lost", killed_while_appending, 2),
    Fault("the tail of a recording that grows is cut off, zeros, or damaged", damaged_tail, 12),
]
