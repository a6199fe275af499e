"""What was tried and solved, in a small file beside the notebook; whatever is wrong with the file, a check goes on."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from .._files.replace import replaced

FILE = "gradlab_progress.json"
_PATIENCE, _STALE = 0.5, 5.0  # seconds: to wait for another notebook's lock; after which a lock has been forgotten


class Entry(NamedTuple):
    """When an exercise was first solved, "2026-11-22 14:05" or None, and how many answers were tried until then."""

    solved: str | None = None
    tries: int = 0

    def tried(self, right: bool) -> Entry:
        """The entry after one more answer; once solved it stays as it is."""
        if self.solved:
            return self
        return Entry(time.strftime("%Y-%m-%d %H:%M") if right else None, self.tries + 1)


def read(folder: Path) -> dict[str, Entry]:
    """The entries of the file in a folder, none if there is no file.

    Raises: OSError: it cannot be read. ValueError: it holds something else.
    """
    try:
        text = (folder / FILE).read_text("utf-8")
    except FileNotFoundError:
        return {}
    found = json.loads(text)
    if not isinstance(found, dict):
        raise ValueError(f"{FILE} must hold an object, got {type(found).__name__}")
    return {name: _entry(name, value) for name, value in found.items()}


def write(folder: Path, entries: Mapping[str, Entry]) -> None:
    """Replace the file at once: who reads it sees the old one or the new one.

    Raises: OSError: it cannot be written.
    """
    lines = [f"  {json.dumps(name)}: {json.dumps(entry._asdict())}" for name, entry in sorted(entries.items())]
    with replaced(folder / FILE) as part:
        part.write_text("{\n" + ",\n".join(lines) + "\n}\n", "utf-8")


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """While another notebook reads and writes the file, wait; not for long, and not for one that died.

    Raises: OSError: the folder cannot be written to.
    """
    lock, end = folder / f"{FILE}.lock", time.monotonic() + _PATIENCE
    while not (ours := _taken(lock)) and time.monotonic() < end:
        time.sleep(0.01)
    try:
        yield
    finally:
        if ours:
            lock.unlink(missing_ok=True)


def _taken(lock: Path) -> bool:
    """Whether the lock is ours now; one that has been forgotten is taken away first."""
    try:
        os.close(os.open(lock, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        with suppress(OSError):  # it may be gone by now
            if time.time() - lock.stat().st_mtime > _STALE:
                lock.unlink()
        return False
    return True


def merged(one: Mapping[str, Entry], other: Mapping[str, Entry]) -> dict[str, Entry]:
    """What both know; of two entries of one exercise the one that is solved, or has more tries."""
    both = [*one.items(), *other.items()]
    return {name: max((e for n, e in both if n == name), key=lambda e: (bool(e.solved), e.tries)) for name, _ in both}


def _entry(name: str, value: object) -> Entry:
    if isinstance(value, dict):
        solved, tries = value.get("solved"), value.get("tries")
        if isinstance(tries, int) and (solved is None or isinstance(solved, str)):
            return Entry(solved, tries)
    raise ValueError(f"{FILE} must say solved and tries of {name}, got {value!r}")
