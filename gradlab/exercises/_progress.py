"""A reader's progress: noted where a check runs in a kernel, saved beside the notebook, shown by
progress().
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from html import escape
from pathlib import Path
from typing import NamedTuple

from .._base.checked_files import field, integer_field, read_json, report_damage, write_json
from ..live.scheduling import shell
from .catalog import EXERCISES, NOTEBOOKS, notebook
from .questions import Feedback

FILE = "gradlab_progress.json"
_KIND = "list of solved exercises"
_VERSION = 1
# Seconds: to wait for another notebook's lock; after which a lock has been forgotten.
_PATIENCE, _STALE = 0.5, 5.0


class Entry(NamedTuple):
    """When an exercise was first solved, "2026-11-22 14:05" or None, and how many answers were
    tried until then.
    """

    solved: str | None = None
    tries: int = 0

    def tried(self, right: bool) -> Entry:
        """The entry after one more answer; once solved it stays as it is."""
        if self.solved:
            return self
        return Entry(time.strftime("%Y-%m-%d %H:%M") if right else None, self.tries + 1)


def read(folder: Path) -> dict[str, Entry]:
    """The entries of the file in a folder, none if there is no file.

    Raises:
        OSError: it cannot be read.
        DataLossError: it holds something else, or it is damaged.
    """
    path = folder / FILE
    try:
        content = read_json(path, _KIND, (_VERSION,))
    except FileNotFoundError:
        return {}
    with report_damage(path, _KIND):
        entries = field(content, "entries", dict)
        return {name: _entry(name, value) for name, value in entries.items()}


def write(folder: Path, entries: Mapping[str, Entry]) -> None:
    """Replace the file at once: who reads it sees the old one or the new one.

    Raises:
        OSError: it cannot be written.
    """
    write_json(
        folder / FILE,
        _KIND,
        _VERSION,
        {"entries": {name: e._asdict() for name, e in entries.items()}},
    )


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """While another notebook reads and writes the file, wait; not for long, and not for one that
    died.

    Raises:
        OSError: the folder cannot be written to.
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
    """Take the lock, and tell whether it is ours now; a forgotten one is removed first."""
    try:
        os.close(os.open(lock, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        with suppress(OSError):  # it may be gone by now
            if time.time() - lock.stat().st_mtime > _STALE:
                lock.unlink()
        return False
    return True


def merged(one: Mapping[str, Entry], other: Mapping[str, Entry]) -> dict[str, Entry]:
    """Merge both; of two entries of one exercise, the one that is solved, or has more tries."""
    both = [*one.items(), *other.items()]
    return {
        name: max((e for n, e in both if n == name), key=lambda e: (bool(e.solved), e.tries))
        for name, _ in both
    }


def _entry(name: str, value: object) -> Entry:
    if not isinstance(value, dict) or value.keys() != {"solved", "tries"}:
        raise ValueError(f"{FILE} must say solved and tries of {name}, got {value!r}")
    return Entry(field(value, "solved", str, type(None)), integer_field(value, "tries"))


_session: dict[str, Entry] = {}  # what this kernel knows; all there is if the file cannot be used
_told: set[str] = set()  # troubles that have been spoken of


def noted(name: str, feedback: Feedback) -> Feedback:
    """The feedback with what it makes of the notebook; in a kernel, an answer is counted and a
    right one saved.

    Wrong answers are kept in memory until something is solved: a notebook that is only run leaves
    no file behind.
    """
    if not in_kernel():
        return feedback
    entries, trouble = _with(name, feedback.right)
    said = _count(entries, name) if feedback.right else ""
    if trouble and trouble not in _told:
        _told.add(trouble)
        said = "; ".join(filter(None, (said, trouble)))
    return replace(feedback, progress=said)


def in_kernel() -> bool:
    """Tell whether a notebook is running, rather than a script, a test, or a doctest."""
    return getattr(shell(), "kernel", None) is not None


def _with(name: str, right: bool) -> tuple[dict[str, Entry], str]:
    """All entries with one more answer, and what kept them from being saved."""
    folder = Path.cwd()
    known = dict(_session)
    try:
        if not right and not (folder / FILE).exists():
            known[name] = known.get(name, Entry()).tried(right)
            return _remembered(known), ""
        with locked(folder):
            known = merged(known, read(folder))
            known[name] = known.get(name, Entry()).tried(right)
            write(folder, known)
    except (OSError, ValueError) as error:
        known[name] = known.get(name, Entry()).tried(right)
        return _remembered(known), f"not saved, {FILE} cannot be used: {error}"
    return _remembered(known), ""


def _remembered(entries: dict[str, Entry]) -> dict[str, Entry]:
    _session.update(entries)
    return entries


def _count(entries: Mapping[str, Entry], name: str) -> str:
    ours = [other for other in EXERCISES if notebook(other) == notebook(name)]
    solved = [other for other in ours if other in entries and entries[other].solved]
    return f"{len(solved)} of {len(ours)} in this notebook"


@dataclass(frozen=True)
class Progress:
    """Which exercises are solved. Shows itself as a table.

    Attributes:
        entries: by name, those that were tried.
        trouble: what is wrong with the file; empty if nothing is.
    """

    entries: Mapping[str, Entry]
    trouble: str = ""

    @property
    def solved(self) -> list[str]:
        """Names of the exercises that are solved, in the order of the course."""
        return [name for name in EXERCISES if self._of(name).solved]

    @property
    def open(self) -> list[str]:
        """Names of the others."""
        return [name for name in EXERCISES if not self._of(name).solved]

    @property
    def next(self) -> str | None:
        """The first that is open; None if none is."""
        return next(iter(self.open), None)

    def _of(self, name: str) -> Entry:
        return self.entries.get(name, Entry())

    def _notebooks(self) -> Iterator[tuple[str, list[str], int]]:
        """Each notebook, its exercises, and how many of them are solved."""
        for one in NOTEBOOKS.values():
            names = [name for name in EXERCISES if notebook(name) == one]
            yield one, names, sum(name in self.solved for name in names)

    def _rows(self, names: Sequence[str]) -> Iterator[tuple[str, str, str]]:
        """Name, state and tries of each, in words."""
        for name in names:
            solved, tries = self._of(name)
            yield name, f"solved {solved}" if solved else "open", f"{tries}" if tries else ""

    def _said(self) -> list[str]:
        after = (
            f"Next: {self.next} in {notebook(self.next)}."
            if self.next
            else "Nothing is left: you solved them all."
        )
        said = [f"Solved {len(self.solved)} of {len(EXERCISES)}. {after}"]
        if self.trouble:
            said.append(self.trouble)
        if not in_kernel():
            said.append(
                "Answers are kept in a notebook only: what is checked in a script or a console "
                "isn't counted."
            )
        return said

    def __repr__(self) -> str:
        lines = []
        for one, names, solved in self._notebooks():
            lines.append(f"{one}: {solved} of {len(names)}")
            if any(name in self.entries for name in names):
                rows = self._rows(names)
                lines += [
                    f"  {name:30} {state:25} {tries and f'tries: {tries}'}".rstrip()
                    for name, state, tries in rows
                ]
        return "\n".join([*lines, *self._said()])

    def _repr_html_(self) -> str:
        head = "".join(f'<th scope="col">{title}</th>' for title in ("exercise", "state", "tries"))
        groups = ""
        for one, names, solved in self._notebooks():
            title = (
                f'<th scope="rowgroup" colspan="3" style="text-align:left">{one}: {solved} of '
                f"{len(names)}</th>"
            )
            rows = "".join(
                f'<tr><th scope="row">{name}</th><td>{escape(state)}</td><td>{tries}</td></tr>'
                for name, state, tries in self._rows(names)
            )
            groups += f"<tbody><tr>{title}</tr>{rows}</tbody>"
        said = "".join(f"<p>{escape(line)}</p>" for line in self._said())
        return f"{said}<table><caption>Exercises by notebook</caption><thead><tr>{head}</tr></thead>{groups}</table>"


def progress(folder: str | Path = ".") -> Progress:
    """List what is solved, open, and tried in the notebooks of a folder, by notebook, and what is
    next.

    >>> progress().next
    'start.sign'
    """
    try:
        return Progress(merged(_session, read(Path(folder).absolute())))
    except (OSError, ValueError) as error:
        return Progress(
            dict(_session), f"{FILE} cannot be used: {error}. This is what this notebook remembers."
        )
