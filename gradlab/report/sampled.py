"""Section on sampled entries: what Adagrad would have frozen, and the effect of several workers."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from .._base.numbers import amount, counted, listed, number
from .._base.numbers import percent_of_many as percent
from ..record.frozen import Frozen
from ._html import Section, moving, paragraph, table
from ._run import Run

WORKERS = (1, 2, 4, 8, 16)
ASKED = 4  # workers, in the sentence


def adagrad(run: Run) -> Section | None:
    """Return how many entries end up frozen, and where most of them are."""
    if not len(run.rec.sampled[0]):
        return None
    found = run.rec.frozen()
    count = f"{number(found.frozen.sum())} of {counted(len(found.frozen), 'sampled entry')}"
    sentence = (
        f"Adagrad with the defaults of Keras would have frozen {count}, below a tenth of their first rate"
        f"{_most(found)}.{_kinds(found)}"
    )
    return Section("adagrad", "What Adagrad would have frozen", sentence, partial(_adagrad, run, found))


def _most(found: Frozen) -> str:
    share = np.nan_to_num(found.share_by_tensor)
    return f", most of all in {found.names[share.argmax()]} ({percent(share.max())})" if found.frozen.any() else ""


def _kinds(found: Frozen) -> str:
    kinds = ((found.still, "never moved"), (found.overflowed, "overflowed"), (found.spoiled, "became NaN"))
    said = [f"{number(mask.sum())} {words} ({listed(found.named(mask))})" for mask, words in kinds if mask.any()]
    return f" {'; '.join(said)}." if said else " All of them moved, and none overflowed."


def _adagrad(run: Run, found: Frozen) -> str:
    from ..labs import run_adagrad

    return moving(run_adagrad(run.rec), run.states) + _tensors(found) + _entries(found)


def _tensors(found: Frozen) -> str:
    order = np.argsort(-np.nan_to_num(found.share_by_tensor), kind="stable")
    rows = [
        (
            found.names[k],
            number(found.sampled_by_tensor[k]),
            percent(float(np.nan_to_num(found.share_by_tensor[k]))),
        )
        for k in map(int, order)
    ]
    return table("Frozen by tensor", ("tensor", "entries sampled", "frozen"), rows)


def _entries(found: Frozen) -> str:
    """Return those of which there is something to say, the slowest first."""
    states = np.select(
        [found.overflowed, found.spoiled, found.still, found.frozen], ["overflowed", "NaN", "never moved", "frozen"], ""
    )
    order = [k for k in np.argsort(np.nan_to_num(found.share), kind="stable") if states[k]]
    rows = [(found.entries[k], str(states[k]), percent(float(np.nan_to_num(found.share[k])))) for k in order]
    return table("Entries that stand still", ("entry", "", "of its first rate"), rows) if rows else ""


def staleness(run: Run) -> Section | None:
    """Return how stale gradients are with some workers, and how much gradients so far apart agree."""
    if not len(run.rec.sampled[0]):
        return None
    from ..labs import run_staleness

    lab = run_staleness(run.rec, workers=ASKED)
    lab.axis = "workers"  # type: ignore[misc]  # what moves in the page
    answer = lab.compute(lab.params)
    worth = answer.agrees(answer.mean)
    sentence = f"With {ASKED} workers a gradient is {amount(answer.mean, 'update', 3)} stale when it is applied; " + (
        f"gradients of this run so far apart have a cosine of {_cosine(worth)}." if np.isfinite(worth) else _UNKNOWN
    )
    return Section("staleness", "What several workers would have done", sentence, partial(_staleness, run, lab))


_UNKNOWN = "no two gradients that far apart have known directions."
_MEANING = (
    "A cosine of 1 says that the old gradient points where a new one would, 0 that it says nothing of it. Batches "
    "differ, so that neighboring steps agree in part only; what is lost beyond one step is what staleness costs."
)


def _staleness(run: Run, lab: Any) -> str:
    rows = [_row(workers, lab.compute({**lab.params, "workers": workers})) for workers in WORKERS]
    head = ("workers", "mean staleness", "largest", f"dropped by limit {lab.params['limit']}", "cosine at the mean")
    return moving(lab, run.states) + paragraph(_MEANING) + table("By the number of workers", head, rows)


def _row(workers: int, answer: Any) -> tuple[str, ...]:
    age = answer.staleness
    worth = answer.agrees(float(age.mean()))
    said = _cosine(worth) if np.isfinite(worth) else "not known"
    return str(workers), number(float(age.mean())), number(int(age.max())), percent(answer.dropped), said


def _cosine(x: float) -> str:
    """A cosine, in which 0 has no sign.

    >>> _cosine(0.256), _cosine(-0.001)
    ('0.26', '0.00')
    """
    return f"{round(x, 2) + 0.0:.2f}"
