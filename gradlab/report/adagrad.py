"""Adagrad on the sampled entries of the run: which it would have frozen, which never moved, which overflowed."""

from __future__ import annotations

from functools import partial

import numpy as np

from ..record.frozen import Frozen
from ._html import Section, table
from ._run import Run
from ._words import counted, listed, number, percent
from .moving import moving


def section(run: Run) -> Section | None:
    """How many entries end up frozen, and where most of them are."""
    if not len(run.rec.sampled[0]):
        return None
    found = run.rec.frozen()
    count = f"{number(found.frozen.sum())} of {counted(len(found.frozen), 'sampled entry')}"
    sentence = (
        f"Adagrad with the defaults of Keras would have frozen {count}, below a tenth of their first rate"
        f"{_most(found)}.{_kinds(found)}"
    )
    return Section("adagrad", "What Adagrad would have frozen", sentence, partial(_body, run, found))


def _most(found: Frozen) -> str:
    share = np.nan_to_num(found.share_by_tensor)
    return f", most of all in {found.names[share.argmax()]} ({percent(share.max())})" if found.frozen.any() else ""


def _kinds(found: Frozen) -> str:
    kinds = ((found.still, "never moved"), (found.overflowed, "overflowed"), (found.spoiled, "became NaN"))
    said = [f"{number(mask.sum())} {words} ({listed(found.named(mask))})" for mask, words in kinds if mask.any()]
    return f" {'; '.join(said)}." if said else " All of them moved, and none overflowed."


def _body(run: Run, found: Frozen) -> str:
    from ..labs import run_adagrad

    return moving(run, run_adagrad(run.rec)) + _tensors(found) + _entries(found)


def _tensors(found: Frozen) -> str:
    order = np.argsort(-np.nan_to_num(found.share_by_tensor), kind="stable")
    rows = [
        (found.names[k], number(found.sampled_by_tensor[k]), percent(float(np.nan_to_num(found.share_by_tensor[k]))))
        for k in order
    ]
    return table("Frozen by tensor", ("tensor", "entries sampled", "frozen"), rows)


def _entries(found: Frozen) -> str:
    """Those of which there is something to say, the slowest first."""
    states = np.select(
        [found.overflowed, found.spoiled, found.still, found.frozen], ["overflowed", "NaN", "never moved", "frozen"], ""
    )
    order = [k for k in np.argsort(np.nan_to_num(found.share), kind="stable") if states[k]]
    rows = [(found.entries[k], states[k], percent(float(np.nan_to_num(found.share[k])))) for k in order]
    return table("Entries that stand still", ("entry", "", "of its first rate"), rows) if rows else ""
