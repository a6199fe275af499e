"""Loss and norms over time."""

from __future__ import annotations

from functools import partial

import numpy as np

from ..figures.report_course import Course, course_figure
from ._html import Section, picture, table
from ._run import Run
from ._words import counted, number, steps

ROWS = 12  # of the run in the table


def section(run: Run) -> Section:
    """How the norms are spread, where the largest is, and how the loss went."""
    sentence = f"{_norms(run)} {_loss(run)}"
    return Section("course", "Loss and gradient norm", sentence, partial(_body, run, sentence))


def _body(run: Run, sentence: str) -> str:
    rec = run.rec
    limit = np.nan if run.limit is None else run.limit
    course = Course(rec.step, rec.seen, rec.global_norm, rec["global_norm_low"], run.loss, limit)
    return picture("course", partial(course_figure, course), f"Norm and loss over the run. {sentence}") + _table(run)


def _norms(run: Run) -> str:
    if not run.finite_norms.size:
        return "No step has a gradient that is finite and not 0."
    norms, median = run.rec.global_norm, run.median
    at = int(np.where(np.isfinite(norms), norms, -1).argmax())
    times = f", {number(norms[at] / median)} times that," if norms[at] >= 2 * median else ""
    return (
        f"The median gradient norm is {number(median)}; the largest{times} is {number(norms[at])} "
        f"at step {int(run.rec.peak[at])}."
    )


def _loss(run: Run) -> str:
    known = run.loss[np.isfinite(run.loss)]
    if not known.size:
        return "No loss was recorded."
    tenth = max(1, len(known) // 10)
    first, last = known[:tenth].mean(), known[-tenth:].mean()
    if number(first) == number(last):
        return f"The loss stays at {number(last)}."
    verb = "falls" if last < first else "rises"
    return f"The loss {verb} from {number(first)} to {number(last)} (means of the first and the last tenth)."


def _table(run: Run) -> str:
    rec = run.rec
    places = np.unique(np.linspace(0, len(rec) - 1, ROWS).round().astype(int))
    rows = [
        (
            steps(int(rec.step[k]), int(rec.bucket_steps[k])),
            number(rec.global_norm[k]),
            number(run.loss[k]) if np.isfinite(run.loss[k]) else "not recorded",
        )
        for k in places
    ]
    return table(f"{counted(len(rows), 'bucket')} of the run, evenly spread", ("step", "global norm", "loss"), rows)
