"""How often each of several limits would have fired, overall and by tensor, and why one of them is suggested."""

from __future__ import annotations

from functools import partial

import numpy as np

from ..figures.report_shares import Shares, shares_figure
from ._html import Section, paragraph, picture, table
from ._run import Run
from ._words import counted, number, percent

CURVE = 49  # limits along the curve
_ALIKE = "The norms differ by less than the sizes by which steps were counted: none stands out, and none needs a limit."


def section(run: Run) -> Section:
    """The share of steps at the limit asked about, the curve over all limits, and the tensors it would fire on."""
    limit, title = run.limit, "How often a limit would have fired"
    if limit is None:
        return Section("limits", title, "No limit can be suggested: no step has a finite gradient that is not 0.")
    rec = run.rec
    share = rec.what_if(clip_global_norm=limit).fraction_fired
    sentence = (
        f"{_who(run)} {number(limit)} on the global norm fires on {percent(share)} of {counted(rec.seen, 'step')}."
    )
    return Section("limits", title, sentence, partial(_body, run, limit, share, sentence))


def _body(run: Run, limit: float, share: float, sentence: str) -> str:
    rec, by_tensor = run.rec, run.rec.what_if(clip_norm=limit).share_by_tensor
    order = np.argsort(-by_tensor, kind="stable")
    if not run.finite_norms.size:
        return _tables(run, order)
    curve = _curve(run, limit)
    fired = np.array([rec.what_if(clip_global_norm=x).fraction_fired for x in curve])
    shares = Shares(curve, fired, limit, share, [rec.names[k] for k in order], by_tensor[order])
    alt = f"Share of steps on which a limit fires, falling as the limit grows. {sentence}"
    return picture("shares", partial(shares_figure, shares), alt) + _reason(run, share) + _tables(run, order)


def _who(run: Run) -> str:
    return "The suggested limit" if run.asked is None else "Your limit"


def _curve(run: Run, limit: float) -> np.ndarray:
    """Limits from below the smallest norm to above the largest, and the one asked about, rising."""
    low, high = run.finite_norms.min() / 1.5, run.finite_norms.max() * 1.5
    return np.unique([*np.geomspace(min(low, limit / 1.5), max(high, limit * 1.5), CURVE), limit])


def _reason(run: Run, share: float) -> str:
    """Why this limit, in words."""
    summary = run.summary
    if summary is None:
        return ""
    suggested = number(summary.suggested)
    top = run.finite_norms.max() / summary.suggested
    tail = f"What is above is the tail, up to {number(top)} times the limit." if top > 1 else _ALIKE
    why = (
        f"Why {suggested}: nine of ten recorded steps have a smaller norm and stay as they are. {tail} A limit near "
        f"the median, {number(run.median)}, would scale down every other step, a smaller learning rate by another "
        f"name; one far above {number(summary.limits[-1])}, the 99th percentile, would hardly ever act."
    )
    asked = "" if run.asked is None else f" Your limit fires on {percent(share)}; the suggested one is {suggested}."
    return paragraph(why + asked)


def _tables(run: Run, order: np.ndarray) -> str:
    rec, summary = run.rec, run.summary
    limits = {*(summary.limits if summary else ()), *([run.limit] if run.limit else ())}
    some = sorted(limits)
    overall = [(number(x), percent(rec.what_if(clip_global_norm=x).fraction_fired), _is(run, x)) for x in some]
    each = [rec.what_if(clip_norm=x).share_by_tensor for x in some]
    by_tensor = [(rec.names[k], *(percent(float(shares[k])) for shares in each)) for k in order]
    return table("Limits on the global norm", ("limit", "fires on", ""), overall) + table(
        "Limits on the norm of each tensor alone, by effect",
        ("tensor", *(f"limit {number(x)}" for x in some)),
        by_tensor,
    )


def _is(run: Run, limit: float) -> str:
    """What a limit is."""
    named = dict(zip(run.summary.limits, (50, 75, 90, 95, 99), strict=True)) if run.summary else {}
    said = [f"{named[limit]}th percentile" if limit in named else "", "asked about" if limit == run.limit else ""]
    return ", ".join(filter(None, said))
