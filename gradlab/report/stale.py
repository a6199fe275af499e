"""What several workers would have done with the gradients of the run: how stale they come, and what they are worth."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from ._html import Section, paragraph, table
from ._run import Run
from ._words import cosine, number, percent
from .moving import moving

WORKERS = (1, 2, 4, 8, 16)
ASKED = 4  # workers, in the sentence


def section(run: Run) -> Section | None:
    """How old gradients are with some workers, and how much gradients so far apart agree."""
    if not len(run.rec.sampled[0]):
        return None
    from ..labs import run_staleness

    lab = run_staleness(run.rec, workers=ASKED)
    lab.axis = "workers"  # type: ignore[misc]  # what moves in the page
    answer = lab.compute(lab.params)
    worth = answer.agrees(float(answer.staleness.mean()))
    sentence = (
        f"With {ASKED} workers a gradient is {number(float(answer.staleness.mean()))} updates old when it is applied; "
        + (f"gradients of this run so far apart have a cosine of {cosine(worth)}." if np.isfinite(worth) else _UNKNOWN)
    )
    return Section("staleness", "What several workers would have done", sentence, partial(_body, run, lab))


_UNKNOWN = "of no two gradients so far apart the directions are known."
_MEANING = (
    "A cosine of 1 says that the old gradient points where a fresh one would, 0 that it says nothing of it. Batches "
    "differ, so that neighboring steps agree in part only; what is lost beyond one step is what staleness costs."
)


def _body(run: Run, lab: Any) -> str:
    rows = [_row(workers, lab.compute({**lab.params, "workers": workers})) for workers in WORKERS]
    head = ("workers", "mean staleness", "largest", f"dropped by limit {lab.params['limit']}", "cosine at the mean")
    return moving(run, lab) + paragraph(_MEANING) + table("By the number of workers", head, rows)


def _row(workers: int, answer: Any) -> tuple[str, ...]:
    age = answer.staleness
    worth = answer.agrees(float(age.mean()))
    said = cosine(worth) if np.isfinite(worth) else "not known"
    return str(workers), number(float(age.mean())), number(int(age.max())), percent(answer.dropped), said
