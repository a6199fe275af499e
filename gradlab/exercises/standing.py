"""How far a reader has come: noted where a check runs in a kernel, shown by `gl.exercises.progress()`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from pathlib import Path
from typing import Any

from ..live.scheduling import shell
from . import saved
from ._feedback import Feedback
from .catalogue import EXERCISES, NOTEBOOKS, notebook
from .saved import Entry

_session: dict[str, Entry] = {}  # what this kernel knows; all there is if the file cannot be used
_told: set[str] = set()  # troubles that have been spoken of


def noted(name: str, answer: Any, feedback: Feedback) -> Feedback:
    """The feedback with what it makes of the notebook; in a kernel, an answer is counted and a right one saved.

    Wrong answers are kept in memory until something is solved: a notebook that is only run leaves no file behind.
    """
    if answer is None or not in_kernel():
        return feedback
    entries, trouble = _with(name, feedback.right)
    said = _count(entries, name) if feedback.right else ""
    if trouble and trouble not in _told:
        _told.add(trouble)
        said = "; ".join(filter(None, (said, trouble)))
    return replace(feedback, standing=said)


def in_kernel() -> bool:
    """Whether a notebook is running, not a script, a test or a doctest."""
    return getattr(shell(), "kernel", None) is not None


def _with(name: str, right: bool) -> tuple[dict[str, Entry], str]:
    """All entries with one more answer, and what kept them from being saved."""
    folder = Path.cwd()
    known = dict(_session)
    try:
        if not right and not (folder / saved.FILE).exists():
            known[name] = known.get(name, Entry()).tried(right)
            return _remembered(known), ""
        with saved.locked(folder):
            known = saved.merged(known, saved.read(folder))
            known[name] = known.get(name, Entry()).tried(right)
            saved.write(folder, known)
    except (OSError, ValueError) as error:
        known[name] = known.get(name, Entry()).tried(right)
        return _remembered(known), f"not saved, {saved.FILE} cannot be used: {error}"
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
        entries: by name, those that were tried. trouble: what is wrong with the file; empty if nothing is.
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
        after = f"Next: {self.next} in {notebook(self.next)}." if self.next else "Nothing is left: you solved them all."
        return [f"Solved {len(self.solved)} of {len(EXERCISES)}. {after}", *filter(None, [self.trouble])]

    def __repr__(self) -> str:
        lines = []
        for one, names, solved in self._notebooks():
            lines.append(f"{one}: {solved} of {len(names)}")
            if any(name in self.entries for name in names):
                rows = self._rows(names)
                lines += [
                    f"  {name:30} {state:25} {tries and f'tries: {tries}'}".rstrip() for name, state, tries in rows
                ]
        return "\n".join([*lines, *self._said()])

    def _repr_html_(self) -> str:
        head = "".join(f'<th scope="col">{title}</th>' for title in ("exercise", "state", "tries"))
        groups = ""
        for one, names, solved in self._notebooks():
            title = f'<th scope="rowgroup" colspan="3" style="text-align:left">{one}: {solved} of {len(names)}</th>'
            rows = "".join(
                f'<tr><th scope="row">{name}</th><td>{escape(state)}</td><td>{tries}</td></tr>'
                for name, state, tries in self._rows(names)
            )
            groups += f"<tbody><tr>{title}</tr>{rows}</tbody>"
        said = "".join(f"<p>{escape(line)}</p>" for line in self._said())
        return f"{said}<table><caption>Exercises by notebook</caption><thead><tr>{head}</tr></thead>{groups}</table>"


def progress() -> Progress:
    """What is solved, open and tried in the notebooks of this folder, by notebook, and what is next.

    >>> progress().next
    'start.sign'
    """
    try:
        return Progress(saved.merged(_session, saved.read(Path.cwd())))
    except (OSError, ValueError) as error:
        return Progress(dict(_session), f"{saved.FILE} cannot be used: {error}. This is what this notebook remembers.")
