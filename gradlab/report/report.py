"""The report: its sections, its sentences, and the page."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property, partial
from html import escape
from pathlib import Path
from string import Template

from .. import __version__
from .._base.atomic_files import atomic_replace
from .._base.numbers import counted, listed
from ..live import page
from ..live.progress import shown, told
from ..record import Recorder
from ..record.analysis.compare import Comparison, run_names
from ..record.logs.align import at_common_steps
from ..record.logs.read import open_run
from ._html import Section
from ._run import Run
from .compared import SECTIONS, Several
from .limits import by_layer, limits, other_limit
from .recorded import caveats, course, nonfinite, overview
from .sampled import adagrad, staleness
from .skipped import skipped
from .updates import moved, noise

FOLDER = Path(__file__).parent
# Of each figure that moves: what a reader can tell apart, in seconds of work and a few hundred kB.
STATES = 120
_SECTIONS = (overview, course, limits, other_limit, by_layer, moved, noise, skipped, nonfinite)
# NaN first.
_SICK_SECTIONS = (overview, course, nonfinite, limits, other_limit, by_layer, moved, noise, skipped)
_QUESTIONS = (adagrad, staleness)  # what other training would have done


class Report:
    """A recorded run in words, pictures and figures that move, as one HTML page that stands alone; or several compared.

    Args:
        recording: a `Recorder`, the path of one that was saved, or of a log as
            `gl.record.read_log` reads it.
        *others: up to five more to compare with it: on the same axes, what differs first, which
            tensors, one limit on all of them, and what cannot be compared.
        names: of several runs; by default those of their files, or "run 1" and so on.
        limit: on the global norm, to ask about; by default the one that `Recorder.summary`
            suggests, of several runs for the first.
        title: of the page; by default the name of the file, or of all runs.
        labs: False leaves pictures where figures would move: a small file, made at once.

    Raises:
        ValueError: nothing is recorded; a limit that is not positive and finite; more than six
            runs, or two of one name.
        OSError: a file that cannot be opened.
        DataLossError: one that is damaged or no recording; also a ValueError.

    Not in TensorFlow.

    >>> import gradlab as gl
    >>> import numpy as np
    >>> rec = gl.Recorder()
    >>> for scale in (1.0, 2.0, 3.0, 50.0):
    ...     rec.record({"w": scale * np.array([3.0, 4.0])}, loss=1 / scale)
    >>> report = gl.Report(rec, limit=20.0)
    >>> print(report.sentences[2])
    Your limit 20 on the global norm fires on 25.0% of 4 steps.
    >>> print(gl.Report(rec, rec, names=["one", "the same"], limit=20.0).sentences[0])
    one and the same are the same in all 4 steps: loss and global norm.
    """

    def __init__(
        self,
        recording: Recorder | str | os.PathLike[str],
        *others: Recorder | str | os.PathLike[str],
        names: Sequence[str] | None = None,
        limit: float | None = None,
        title: str | None = None,
        labs: bool = True,
    ) -> None:
        if names is not None and not others:
            raise ValueError("names are for several runs; the page on one has a title")
        called = run_names((recording, *others), names) if others else ()
        recs = at_common_steps([_opened(x).snapshot() for x in (recording, *others)])
        if limit is not None and not (limit > 0 and math.isfinite(limit)):
            raise ValueError(f"limit must be positive and finite, got {limit!r}")
        name = None if isinstance(recording, Recorder) else Path(recording).stem
        self.title = title or listed(called, len(called)) or name or "A recorded run"
        self._kind = (
            f"{counted(len(recs), 'recorded run')} compared"
            if others
            else "Gradients of a recorded run"
        )
        states = STATES if labs else 0
        self._make: list[Callable[[], Section | None]]
        if others:
            several = Several(recs, Comparison(called, recs), limit, states)
            self._make = [partial(make, several) for make in SECTIONS]
        else:
            run = Run(recs[0], limit, states)
            order = _SICK_SECTIONS if recs[0].nonfinite_steps else _SECTIONS
            self._make = [partial(make, run) for make in order]
            self._make += [partial(_question, make, run) for make in _QUESTIONS]
            self._make += [partial(caveats, run)]

    @cached_property
    def sections(self) -> list[Section]:
        """The parts of the page."""
        return [section for section in (make() for make in self._make) if section]

    @property
    def sentences(self) -> list[str]:
        """The sentence with the key number of each section."""
        return [section.sentence for section in self.sections]

    @property
    def headlines(self) -> list[str]:
        """The sentences on the run itself, without those on training that didn't happen."""
        return [section.sentence for section in self.sections if not section.is_question]

    def html(self) -> str:
        """The page; the same recording gives the same text."""
        links = "".join(_link(section) for section in self.sections)
        return Template((FOLDER / "page.html").read_text("utf-8")).substitute(
            title=escape(self.title),
            kind=self._kind,
            description=escape(self.sentences[0]),
            links=links,
            sections="\n".join(
                section.html() for section in told(self.sections, len(self.sections))
            ),
            version=__version__,
            style=page.style() + (FOLDER / "page.css").read_text("utf-8"),
            script=page.script(),
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the page, all of it or nothing.

        Raises:
            ValueError: the path does not end in .html.
            OSError: it cannot be written.
        """
        path = Path(path)
        if path.suffix.lower() not in (".html", ".htm"):
            raise ValueError(f"a report is an .html file, got {path.name!r}")
        with shown(path.name), atomic_replace(path) as part:
            # Names of files may hold halves of characters.
            part.write_text(self.html(), "utf-8", "replace")

    def __repr__(self) -> str:
        return "\n".join([self.title, *self.headlines])


def _question(make: Callable[[Run], Section | None], run: Run) -> Section | None:
    """Make a section on training that didn't happen."""
    section = make(run)
    return None if section is None else replace(section, is_question=True)


def _link(section: Section) -> str:
    """Return a line of the list on top of the page, with the section's sentence if it is a
    headline.
    """
    words = "a question about other training" if section.is_question else section.sentence
    return f'<li><a href="#{section.key}">{escape(section.title)}</a> <span>{escape(words)}</span></li>\n'


def _opened(recording: Recorder | str | os.PathLike[str]) -> Recorder:
    """Return what a recording is, or holds the file of this name; ValueError if that is nothing."""
    rec = recording if isinstance(recording, Recorder) else open_run(recording)
    if not len(rec):
        raise ValueError(
            "nothing is recorded yet: call rec.record(grads, loss=loss) "
            "in every step, then rec.save"
        )
    return rec
