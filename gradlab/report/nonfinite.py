"""Steps that held NaN or Inf, by name and step."""

from __future__ import annotations

from functools import partial

import numpy as np

from ..figures.report_nonfinite import nonfinite_figure
from ._html import Section, paragraph, picture, table
from ._run import Run
from ._words import counted, listed, number, steps

MOST = 200  # rows of the table


def section(run: Run) -> Section:
    """How many steps held such, when it began, and in which tensors."""
    rec, title = run.rec, "Steps that are not finite"
    count = rec["nonfinite"]
    rows = np.flatnonzero(count.any(axis=1))
    if not rows.size:
        return Section("nonfinite", title, f"No step of {number(rec.seen)} held NaN or Inf.")
    first = [rec.names[k] for k in np.flatnonzero(count[rows[0]])]
    sentence = (
        f"{number(rec.nonfinite_steps)} of {counted(rec.seen, 'step')} held NaN or Inf, first {_when(run, rows[0])} "
        f"in {listed(first)}."
    )
    return Section("nonfinite", title, sentence, partial(_body, run, rows, sentence))


def _body(run: Run, rows: np.ndarray, sentence: str) -> str:
    rec = run.rec
    shown = picture("nonfinite", partial(nonfinite_figure, rec["nonfinite"], rec.step, rec.seen, rec.names), sentence)
    advice = (
        "A clip does not mend such a step: one by norm makes all of it NaN, one by value lets NaN through. Skip it."
    )
    return shown + paragraph(advice) + _table(run, rows)


def _when(run: Run, row: int) -> str:
    many = int(run.rec.bucket_steps[row])
    return f"in step{'s' * (many > 1)} {steps(int(run.rec.step[row]), many)}"


def _table(run: Run, rows: np.ndarray) -> str:
    rec = run.rec
    places = [(r, k) for r in rows[:MOST] for k in np.flatnonzero(rec["nonfinite"][r])][:MOST]
    lines = [
        (steps(int(rec.step[r]), int(rec.bucket_steps[r])), rec.names[k], number(rec["nonfinite"][r, k]))
        for r, k in places
    ]
    cut = f", the first {MOST}" if len(places) == MOST else ""
    return table(f"Where NaN and Inf came up{cut}", ("step", "tensor", "entries"), lines)
