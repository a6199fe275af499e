"""Section on limits: how often they would have fired, overall and by tensor, and the suggested one."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from .._base.numbers import counted, in_full, number
from .._base.numbers import percent_of_many as percent
from .._base.numbers import percent_of_many_within as percent_within
from ..figures.report import Shares, shares_figure
from ..record import WhatIf
from ..record.summary import points, shows
from ._html import Section, moving, paragraph, picture, table
from ._run import Run

CURVE = 49  # limits along the curve
_ALIKE = "All norms are nearly the same: none stands out, and none needs a limit."


def limits(run: Run) -> Section:
    """The share of steps at the limit asked about, the curve over all limits, and the tensors it would fire on."""
    limit, title = run.limit, "How often a limit would have fired"
    if limit is None:
        return Section("limits", title, "No limit can be suggested: no step has a finite gradient that is not 0.")
    answer = run.rec.what_if(clip_global_norm=limit)
    steps = counted(answer.steps, "step") + (f" that were taken, {answer.skipped:,} were not" if answer.skipped else "")
    sentence = f"{_who(run)} {in_full(limit)} on the global norm fires on {_fires(answer)} of {steps}."
    return Section("limits", title, sentence, partial(_body, run, limit, answer, sentence))


def _fires(answer: WhatIf) -> str:
    """The share of steps, with its bounds where it is an estimate."""
    return percent_within(answer.fraction_fired, *answer.bounds)


def _body(run: Run, limit: float, answer: WhatIf, sentence: str) -> str:
    rec, by_tensor = run.rec, run.rec.what_if(clip_norm=limit).share_by_tensor
    order = np.argsort(-by_tensor, kind="stable")
    if not run.finite_norms.size:
        return _tables(run, order)
    curve = _curve(run, limit)
    fired = np.array([rec.what_if(clip_global_norm=x).fraction_fired for x in curve])
    shares = Shares(curve, fired, limit, answer.fraction_fired, [rec.names[k] for k in order], by_tensor[order])
    alt = f"Share of steps on which a limit fires, falling as the limit grows. {sentence}"
    return picture("shares", partial(shares_figure, shares), alt) + _reason(run, answer) + _tables(run, order)


def _who(run: Run) -> str:
    return "The suggested limit" if run.asked is None else "Your limit"


def _curve(run: Run, limit: float) -> np.ndarray:
    """Limits from below the smallest norm to above the largest, and the one asked about, rising."""
    low, high = run.finite_norms.min() / 1.5, run.finite_norms.max() * 1.5
    return np.unique([*np.geomspace(min(low, limit / 1.5), max(high, limit * 1.5), CURVE), limit])


def _reason(run: Run, answer: WhatIf) -> str:
    """Why this limit, in words."""
    summary = run.summary
    if summary is None:
        return ""
    suggested = in_full(summary.suggested)
    top = run.finite_norms.max() / summary.suggested
    tail = f"What is above is the tail, up to {number(top)} times the limit." if top > 1 else _ALIKE
    about = "" if run.rec.known.all() else "about "
    why = (
        f"Why {suggested}: {about}nine of ten recorded steps have a smaller norm and stay as they are. {tail} A limit "
        f"near the median, {run.median_in_words}, would scale down half of the steps, a smaller learning rate by "
        f"another name; one far above {in_full(summary.limits[-1])}, the 99th percentile, would hardly ever act."
    )
    asked = "" if run.asked is None else f" Your limit fires on {_fires(answer)}; the suggested one is {suggested}."
    return paragraph(why + asked)


def _tables(run: Run, order: np.ndarray) -> str:
    rec, summary = run.rec, run.summary
    limits = {*(summary.limits if summary else ()), *([run.limit] if run.limit else ())}
    some = sorted(limits)
    overall = [(in_full(x), _fires(rec.what_if(clip_global_norm=x)), _is(run, x)) for x in some]
    each = [rec.what_if(clip_norm=x) for x in some]
    by_tensor = [(rec.names[k], *(percent(float(e.share_by_tensor[k])) for e in each)) for k in order]
    return (
        table("Limits on the global norm", ("limit", "fires on", ""), overall)
        + table(
            "Limits on the norm of each tensor alone, by effect",
            ("tensor", *(f"limit {in_full(x)}" for x in some)),
            by_tensor,
        )
        + _doubt(each)
    )


def _doubt(each: list[WhatIf]) -> str:
    """By how much the shares by tensor can be wrong, if that shows."""
    doubt = max((float(np.abs(e.bounds_by_tensor - e.share_by_tensor).max(initial=0)) for e in each), default=0.0)
    said = f"Shares by tensor are estimates here, at most {points(doubt)} points from the true ones."
    return paragraph(said) if shows(doubt) else ""


def _is(run: Run, limit: float) -> str:
    """Return what a limit is, in words."""
    named = dict(zip(run.summary.limits, (50, 75, 90, 95, 99), strict=True)) if run.summary else {}
    said = [f"{named[limit]}th percentile" if limit in named else "", "asked about" if limit == run.limit else ""]
    return ", ".join(filter(None, said))


def _slider(lab: Any, name: str) -> Any:
    """Give a control of the lab by its name."""
    return next(control for control in lab.controls if control.name == name)


def other_limit(run: Run) -> Section | None:
    """The clipping lab on this run."""
    if run.limit is None or not run.finite_norms.size:
        return None
    title, sentence = "What another limit would have done", _neighbors(run, run.limit)
    return Section("other", title, sentence, partial(_clipping, run, run.limit))


def _clipping(run: Run, limit: float) -> str:
    from ..labs import clipping

    lab = clipping(run.rec)
    lab.set(limit=_slider(lab, "limit").clamp(limit))
    within = float(run.finite_norms.min()) / 2, float(run.finite_norms.max()) * 2
    drag = "Drag the green line, or move the slider, and see what every step would have become."
    return paragraph(drag) + moving(lab, run.states, {"limit": within})


def by_layer(run: Run) -> Section | None:
    """The lab that shows a limit on every tensor."""
    if run.limit is None or not run.finite_norms.size:
        return None
    answer = run.rec.what_if(clip_norm=run.limit)
    share, (_, high) = answer.share_by_tensor, answer.bounds_by_tensor
    most, never = int(share.argmax()), int((high == 0).sum())
    sentence = f"{in_full(run.limit)} on the norm of each tensor alone "
    if share[most]:
        sentence += f"fires most on {run.rec.names[most]}, on {_of(answer, most)} of the steps"
        sentence += f"; on {number(never)} of {counted(len(share), 'tensor')} it never does." if never else "."
    else:
        sentence += "never fires."
    return Section("layers", "Layer by layer", sentence, partial(_layers, run, run.limit))


def _of(answer: WhatIf, tensor: int) -> str:
    low, high = answer.bounds_by_tensor[:, tensor].tolist()
    return percent_within(float(answer.share_by_tensor[tensor]), low, high)


def _layers(run: Run, limit: float) -> str:
    from ..labs import run_layers

    lab = run_layers(run.rec)
    lab.set(limit=_slider(lab, "limit").clamp(limit))
    return moving(lab, run.states)


def _neighbors(run: Run, limit: float) -> str:
    half, double = (float(f"{limit * by:.3g}") for by in (0.5, 2))  # as they are printed
    low, high = (_fires(run.rec.what_if(clip_global_norm=x)) for x in (half, double))
    alone = _fires(run.rec.what_if(clip_norm=limit))
    return (
        f"Half that limit, {number(half)}, would fire on {low} of the steps, and double, {number(double)}, on {high}; "
        f"{in_full(limit)} on the norm of each tensor alone on {alone}."
    )
