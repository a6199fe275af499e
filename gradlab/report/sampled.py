"""Sections on sampled entries and probes: what Adagrad's past holds back, and what several workers would do."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from .._base.numbers import amount, counted, number
from .._base.numbers import percent_of_many as percent
from ..record import HeldBack
from ..record.analysis.held_back import share_in_words
from ._html import Section, moving, paragraph, table
from ._run import Run

WORKERS = (1, 2, 4, 8, 16)
ASKED = 4  # workers, in the sentence
INITIAL = 0.1  # Keras's default for the initial accumulator


def adagrad(run: Run) -> Section | None:
    """Return which tensors Adagrad's past holds back, and how many entries."""
    if not len(run.rec.sampled[0]):
        return None
    found = run.rec.held_back()
    estimate = f" An estimate: {run.merged}." if run.merged else ""
    sentence = (
        f"Under Adagrad {found.count_in_words}. {found.verdict_in_words}.{_others(found)}{estimate}"
    )
    return Section(
        "adagrad", "What Adagrad's past holds back", sentence, partial(_adagrad, run, found)
    )


def _others(found: HeldBack) -> str:
    """Say how many entries can't be counted, and why."""
    classes = (
        (found.no_gradient, "without a gradient in the last eighth of the steps"),
        (found.too_few, "with too few gradients to tell"),
        (found.overflowed, "overflowed"),
        (found.spoiled, "became NaN"),
    )
    said = [f"{number(mask.sum())} {words}" for mask, words in classes if mask.any()]
    return f" Not counted: {'; '.join(said)}." if said else ""


_MEASURE = (
    "An entry is held back where its Adagrad rate is less than a tenth of what steady gradients of "
    "the present size would leave it: R = root(8 (a_T - a_7T/8) / a_T), with a the sum of its "
    "squared gradients. No factor on the loss changes R. A tensor is called in trouble where a "
    "quarter or more of at least 20 countable entries are held back, and most steps give them "
    "gradients. These thresholds were set on a few runs; a tensor with fewer entries isn't judged. "
    "All of this is Adagrad on these gradients, whatever optimizer the run was trained with; a run "
    "trained with Adagrad would have had others."
)


def _adagrad(run: Run, found: HeldBack) -> str:
    from ..labs import run_adagrad

    share = share_in_words(found, INITIAL)
    words = paragraph(_MEASURE) + paragraph(share)
    return moving(run_adagrad(run.rec), run.states) + words + _tensors(found) + _entries(found)


def _tensors(found: HeldBack) -> str:
    order = np.argsort(-np.nan_to_num(found.share_by_tensor), kind="stable")
    rows = [
        (
            found.names[k],
            number(found.countable_by_tensor[k]),
            number(found.held_by_tensor[k]),
            found.verdict(k),
        )
        for k in map(int, order)
    ]
    return table(
        "Held back by tensor", ("tensor", "countable entries", "held back", "verdict"), rows
    )


def _entries(found: HeldBack) -> str:
    """Return a table of the entries that are held back or can't be counted, the smallest R first."""
    classes = [
        found.overflowed,
        found.spoiled,
        found.never,
        found.no_gradient,
        found.too_few,
        found.held,
    ]
    words = [
        "overflowed",
        "NaN",
        "never a gradient",
        "no gradient lately",
        "too few gradients",
        "held back",
    ]
    states = np.select(classes, words, "")
    order = [k for k in np.argsort(np.nan_to_num(found.ratio), kind="stable") if states[k]]
    rows = [(found.entries[k], str(states[k]), _ratio(found.ratio[k])) for k in order]
    return (
        table("Entries that are held back, or can't be counted", ("entry", "", "R"), rows)
        if rows
        else ""
    )


def _ratio(ratio: float) -> str:
    return number(ratio) if np.isfinite(ratio) else "-"


def staleness(run: Run) -> Section | None:
    """Return how stale gradients are with some workers, and, from probes, how much gradients so far apart agree."""
    if not len(run.rec.sampled[0]):
        return None
    from ..labs import run_staleness

    lab = run_staleness(run.rec, workers=ASKED)
    lab.axis = "workers"  # type: ignore[misc]  # what moves in the page
    answer = lab.compute(lab.params)
    lag = round(answer.mean)
    stale = (
        f"With {ASKED} workers a gradient is "
        f"{amount(answer.mean, 'update', 3)} stale when it is applied"
    )
    if answer.agreement is None:
        sentence = f"{stale}. {_NO_PROBES}"
    else:
        sentence = (
            f"{stale}; agreement of gradients {counted(lag, 'update')} apart: "
            f"{answer.agrees_in_words(lag)}."
        )
    return Section(
        "staleness",
        "What several workers do to these gradients",
        sentence,
        partial(_staleness, run, lab),
    )


_NO_PROBES = (
    "How much gradients that far apart agree can't be told from a recording without probes: every "
    "few steps call rec.probe with the gradient of a batch that isn't trained on."
)
_MEANING = (
    "An agreement of 1 says that a gradient that many updates old points where a fresh one would; "
    "0, that it says nothing about that direction; below 0, that it points backward. It is "
    "estimated from products with probes, which are gradients of batches that were not trained on, "
    "and has a 95% interval. The workers are imagined: their updates are assumed to move the "
    "weights as those of this run did."
)


def _staleness(run: Run, lab: Any) -> str:
    rows = [_row(workers, lab.compute({**lab.params, "workers": workers})) for workers in WORKERS]
    head = (
        "workers",
        "mean staleness",
        "largest",
        f"dropped by limit {lab.params['limit']}",
        "agreement at the mean",
    )
    return (
        moving(lab, run.states)
        + paragraph(_MEANING)
        + table("By the number of workers", head, rows)
    )


def _row(workers: int, answer: Any) -> tuple[str, ...]:
    age = answer.staleness
    agreement = answer.agrees_in_words(round(answer.mean))
    return (
        str(workers),
        number(float(age.mean())),
        number(int(age.max())),
        percent(answer.dropped),
        agreement,
    )
