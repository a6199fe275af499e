"""The report: its sections, its sentences, and the page."""

from __future__ import annotations

import math
import os
from functools import cached_property
from html import escape
from pathlib import Path
from string import Template

from .. import __version__
from .._files.replace import replaced
from ..live import page
from ..record import Recorder
from ._html import Section
from ._run import Run
from .limits import by_layer, limits, other_limit
from .recorded import caveats, course, nonfinite, overview
from .sampled import adagrad, staleness
from .skipped import skipped
from .updates import moved, noise

FOLDER = Path(__file__).parent
STATES = 120  # of each figure that moves: what a reader can tell apart, in seconds of work and a few hundred kB
_SECTIONS = (
    *(overview, course, limits, other_limit, by_layer, moved, noise, adagrad, staleness, skipped, nonfinite, caveats),
)


class Report:
    """A recorded run in words, pictures and figures that move, as one HTML page that stands alone.

    Args:
        recording: a `Recorder`, or the path of one that was saved.
        limit: on the global norm, to ask about; by default the one that `Recorder.summary` suggests.
        title: of the page; by default the name of the file.
        labs: False leaves pictures where figures would move: a small file, made at once.

    Raises:
        ValueError: nothing is recorded, or a limit that is not positive and finite. OSError: a file that cannot be
            opened. DataLossError: one that is damaged or no recording; also a ValueError.

    Not in TensorFlow.

    >>> import gradlab as gl
    >>> import numpy as np
    >>> rec = gl.Recorder()
    >>> for scale in (1.0, 2.0, 3.0, 50.0):
    ...     rec.record({"w": scale * np.array([3.0, 4.0])}, loss=1 / scale)
    >>> report = gl.Report(rec, limit=20.0)
    >>> print(report.sentences[2])
    Your limit 20 on the global norm fires on 25.0% of 4 steps.
    """

    def __init__(
        self,
        recording: Recorder | str | os.PathLike[str],
        *,
        limit: float | None = None,
        title: str | None = None,
        labs: bool = True,
    ) -> None:
        rec = recording if isinstance(recording, Recorder) else Recorder.load(recording)
        if not len(rec):
            raise ValueError("nothing is recorded yet: call rec.record(grads, loss=loss) in every step, then rec.save")
        if limit is not None and not (limit > 0 and math.isfinite(limit)):
            raise ValueError(f"limit must be positive and finite, got {limit!r}")
        name = None if isinstance(recording, Recorder) else Path(recording).stem
        self.title = title or name or "A recorded run"
        self._run = Run(rec, limit, STATES if labs else 0)

    @cached_property
    def sections(self) -> list[Section]:
        """The parts of the page."""
        return [section for section in (make(self._run) for make in _SECTIONS) if section]

    @property
    def sentences(self) -> list[str]:
        """The sentence with the key number of each section."""
        return [section.sentence for section in self.sections]

    def html(self) -> str:
        """The page; the same recording gives the same text."""
        links = "".join(
            f'<li><a href="#{s.key}">{escape(s.title)}</a> <span>{escape(s.sentence)}</span></li>\n'
            for s in self.sections
        )
        return Template((FOLDER / "page.html").read_text("utf-8")).substitute(
            title=escape(self.title), description=escape(self.sentences[0]), links=links,
            sections="\n".join(section.html() for section in self.sections), version=__version__,
            style=(page.FOLDER / "widget.css").read_text("utf-8") + (FOLDER / "page.css").read_text("utf-8"),
            script=page.script(),
        )  # fmt: skip

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the page, all of it or nothing.

        Raises:
            ValueError: the path does not end in .html. OSError: it cannot be written.
        """
        path = Path(path)
        if path.suffix.lower() not in (".html", ".htm"):
            raise ValueError(f"a report is an .html file, got {path.name!r}")
        with replaced(path) as part:
            part.write_text(self.html(), "utf-8", "replace")  # names of files may hold halves of characters

    def __repr__(self) -> str:
        return "\n".join([self.title, *self.sentences])
