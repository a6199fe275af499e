"""Damaged files: each is refused by the one documented error, or all of it is what was written."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path

import numpy as np

import gradlab as gl
from gradlab.errors import DataLossError
from gradlab.models import recordings
from tests._base.damage import damaged, rewrite
from tests.faults.fault import Fault
from tests.faults.kept import CHECKED, PROGRESS, Content, in_state, read_progress, read_recording, read_trace

_TESTS = Path(__file__).parents[1]
_PROGRESS = {"clipping.below": {"solved": "2026-11-22 14:05", "tries": 3}, "start.sign": {"solved": None, "tries": 1}}
Files = dict[str, bytes]


@cache
def _today(name: str) -> tuple[Files, Content]:
    """Files of today's, and what they hold."""
    kept = next(kept for kept in CHECKED if kept.name == name)
    with tempfile.TemporaryDirectory() as folder:
        kept.write(Path(folder) / kept.file, 5)
        return _files(Path(folder)), kept.read(Path(folder) / kept.file)


def _files(folder: Path) -> Files:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def _damaged(files: Files, good: Content, read: Callable[[], Content], folder: Path, seed: int) -> str:
    """One of the files is damaged in one place."""
    rng = np.random.default_rng(seed)
    name = sorted(files)[int(rng.integers(len(files)))]
    change = next(damaged(files[name], 100, seed))
    for other, data in files.items():
        (folder / other).parent.mkdir(exist_ok=True)
        rewrite(folder / other, change if other == name else data)
    try:
        found = read()
    except DataLossError:
        return ""
    except ValueError as error:
        return "" if "holds other tables than" in str(error) else f"{type(error).__name__}: {error}"
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return "" if found == good else f"{name} was believed"


def of_today(name: str, folder: Path, seed: int) -> str:
    """A file that `name` wrote."""
    kept, (files, good) = next(kept for kept in CHECKED if kept.name == name), _today(name)
    return _damaged(files, good, lambda: kept.read(folder / kept.file), folder, seed)


def of_before(source: Path, read: Callable[[Path], Content], folder: Path, seed: int) -> str:
    """A file, or the files of a folder, that an earlier gradlab wrote."""
    files, good = _before(source, read)
    path = folder / "old" if source.is_dir() else folder / source.name
    (folder / "old").mkdir()
    return _damaged(files, good, lambda: read(path), folder, seed)


@cache
def _before(source: Path, read: Callable[[Path], Content]) -> tuple[Files, Content]:
    if source.is_dir():
        return {f"old/{name}": data for name, data in _files(source).items()}, read(source)
    return {source.name: source.read_bytes()}, read(source)


def old_progress(folder: Path, seed: int) -> str:
    """Entries alone."""
    files = {PROGRESS.file: json.dumps(_PROGRESS, indent=1).encode()}
    (folder / "good").mkdir()
    (folder / "good" / PROGRESS.file).write_bytes(files[PROGRESS.file])
    good = read_progress(folder / "good" / PROGRESS.file)
    shutil.rmtree(folder / "good")
    return _damaged(files, good, lambda: read_progress(folder / PROGRESS.file), folder, seed)


def _old_tables(folder: Path) -> Content:
    from tests.tpu.sharding.plans import two_tables

    return in_state(gl.tpu.restore(two_tables(2, pipelined=True), folder))


def _old_embedding(path: Path) -> Content:
    from tests.tpu.experimental.embedding.test_table_set import make

    embedding = make(seed=3)
    embedding.restore(path)
    found = embedding.retrieve()
    return {f"{t}/{name}": np.asarray(x).tobytes() for t, arrays in found.items() for name, x in arrays.items()}


_RECORDINGS = Path(recordings.__file__).parent
_OLD: dict[str, tuple[Path, Callable[[Path], Content], float]] = {
    "recording of version 1": (_RECORDINGS / "char_rnn-0.1.npz", read_recording, 0),
    "recording of version 2": (_TESTS / "record" / "saved_version_2.npz", read_recording, 0),
    "trace without a head": (_TESTS / "workers" / "saved_trace.npz", read_trace, 0),
    "embedding without a head": (_TESTS / "tpu" / "mid_level" / "saved_tables.npz", _old_embedding, 0),
    "folder of tables of format 1, whose manifest has no checksum": (
        _TESTS / "tpu" / "sharding" / "saved_format_1",
        _old_tables,
        0.08,
    ),
}
FAULTS = [
    *(Fault(f"damaged file of {kept.name}", partial(of_today, kept.name), 60) for kept in CHECKED),
    *(
        Fault(f"damaged {name}", partial(of_before, source, read), 40, allowed)
        for name, (source, read, allowed) in _OLD.items()
    ),
    Fault("damaged progress of before, without a checksum", old_progress, 60, 0.2),
]
