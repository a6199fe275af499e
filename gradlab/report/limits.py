"""Section on limits: how often they would have fired, overall and by tensor, and the suggested one."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from .._base.numbers import counted, in_full, number
from .._base.numbers import percent_of_many as percent
from .._base.numbers import percent_of_many_within as percent_within
from .._base.numbers import whole_percent as whole
from ..record import WhatIf
from ..record.analysis.summary import points, shows
from ._html import Section, moving, paragraph, picture, table
from ._run import Run
from .picture import Shares, shares_figure

CURVE = 49  # limits along the curve
_ALIKE = "All norms are nearly the same: none stands out."
# What is left of the median step under a limit of 1% of the median norm: rules of gl.rules with
# their defaults (RMSProp from mean squares of 0) on 300 random gradients with entries around 1,
# without their first 100 steps. A test computes these again.
LEFT_OF_A_STEP = {
    "StochasticGradientDescent": 0.01,
    "Momentum": 0.01,
    "Adagrad": 0.49,
    "RMSProp": 1.15,
    "Adam": 1.02,
    "Lion": 1.0,
}
LEFT_OF_ADAGRADS_STEP = {0.01: 0.01, 1.0: 0.49, 10.0: 1.19}  # by the factor on those gradients
_PURPOSE = (
    "How often a limit fires doesn't say how good it is. A limit serves one of two purposes. As "
    "insurance, it catches rare steps that would spoil the run: set above the norms of healthy "
    "steps, it leaves those alone. As a bound on the length of a step, it may fire on any share of "
    "the steps, even on all: then limit and learning rate are tuned together."
)
_OPTIMIZERS = (
    "What a limit that fires on every step does depends on the optimizer. For SGD and momentum it "
    "is a smaller learning rate: under a limit of 1% of the median norm, {descent} of their step "
    "is left. Adagrad with an initial accumulator of 0.1 kept {adagrad} of its step on random "
    "gradients with entries around 1, {small} on gradients a hundredth as large, and all of it on "
    "gradients ten times as large. RMSProp and Adam divide by the size of their own past "
    "gradients, and Lion takes signs: all of their step is left. In RMSProp and Adam one very "
    "large gradient shortens later steps; in Lion it holds their direction. A limit makes that "
    "gradient count less."
)
_SICK = (
    "Limits are computed from norms, and many of these norms are of a run that had already gone "
    "wrong. Look for the first step that did, in the other parts of this page; limits of a healthy "
    "run say more."
)


def limits(run: Run) -> Section:
    """The share of steps at the limit asked about, the curve over all limits, and the tensors it would fire on."""
    limit, title = run.limit, "How often a limit would have fired"
    if limit is None:
        if run.summary is None:
            return Section(
                "limits",
                title,
                "No limit can be suggested: no step has a finite gradient that is not 0.",
            )
        reason = run.summary.reason
        return Section(
            "limits", title, f"{reason[0].upper()}{reason[1:]}.", partial(_sick_body, run)
        )
    answer = run.rec.what_if(clip_global_norm=limit)
    sentence = (
        f"{_who(run)} {in_full(limit)} on the global norm fires on {_fires(answer)} of "
        f"{_steps(answer)}."
    )
    if run.summary is not None and run.summary.suggested is None:
        reason = run.summary.reason
        sentence += f" {reason[0].upper()}{reason[1:]}."
    return Section("limits", title, sentence, partial(_body, run, limit, answer, sentence))


def _sick_body(run: Run) -> str:
    if run.rec.norms_only:
        return paragraph(_SICK) + _tables(run, np.zeros(0, int))
    order = np.argsort(-run.rec.what_if(clip_norm=run.median).of_finite_by_tensor, kind="stable")
    return paragraph(_SICK) + _tables(run, order)


def _fires(answer: WhatIf) -> str:
    """The share of the finite steps, with its bounds where it is an estimate."""
    return percent_within(answer.of_finite, *answer.bounds_of_finite)


def _steps(answer: WhatIf) -> str:
    """The steps that the share is of, and how many others there are."""
    finite = answer.steps - answer.nonfinite
    steps = counted(finite, "finite step" if answer.nonfinite else "step")
    if answer.skipped:
        steps += f" that were taken, while {answer.skipped:,} were skipped"
    if answer.nonfinite:
        steps += f"; {counted(answer.nonfinite, 'more step')} held NaN or Inf, which no limit mends"
    return steps


def _body(run: Run, limit: float, answer: WhatIf, sentence: str) -> str:
    rec = run.rec
    by_tensor = np.zeros(0)
    if not rec.norms_only:
        by_tensor = rec.what_if(clip_norm=limit).of_finite_by_tensor
    order = np.argsort(-by_tensor, kind="stable")
    if not run.finite_norms.size:
        return _tables(run, order)
    curve = _curve(run, limit)
    fired = np.array([rec.what_if(clip_global_norm=x).of_finite for x in curve])
    shares = Shares(
        curve, fired, limit, answer.of_finite, [rec.names[k] for k in order], by_tensor[order]
    )
    alt = f"Share of steps on which a limit fires, falling as the limit grows. {sentence}"
    return (
        picture("shares", partial(shares_figure, shares), alt)
        + _reason(run, answer)
        + _tables(run, order)
    )


def _who(run: Run) -> str:
    return "The suggested limit" if run.asked is None else "Your limit"


def _curve(run: Run, limit: float) -> np.ndarray:
    """Limits from below the smallest norm to above the largest, and the one asked about, rising."""
    low, high = run.finite_norms.min() / 1.5, run.finite_norms.max() * 1.5
    return np.unique([*np.geomspace(min(low, limit / 1.5), max(high, limit * 1.5), CURVE), limit])


def _reason(run: Run, answer: WhatIf) -> str:
    """What the suggested limit is, what limits are for, and what one that always fires does, in
    words.
    """
    return (
        paragraph(_what_it_is(run, answer)) + paragraph(_PURPOSE) + paragraph(optimizers_in_words())
    )


def optimizers_in_words() -> str:
    """What is left of the step of an optimizer under a limit that always fires."""
    left = LEFT_OF_A_STEP
    return _OPTIMIZERS.format(
        descent=whole(left["StochasticGradientDescent"]),
        adagrad=whole(left["Adagrad"]),
        small=whole(LEFT_OF_ADAGRADS_STEP[0.01]),
    )


def _what_it_is(run: Run, answer: WhatIf) -> str:
    summary = run.summary
    if summary is None or summary.suggested is None:
        return ""
    suggested, top = in_full(summary.suggested), run.finite_norms.max() / summary.suggested
    tail = f"The largest norm is {number(top)} times the limit." if top > 1 else _ALIKE
    about = "" if run.rec.known.all() else "about "
    finite = "finite" if run.rec.nonfinite_steps else "recorded"
    above = in_full(summary.limits[-1])
    said = (
        f"Why {suggested}: {about}nine of ten {finite} steps have a smaller norm and stay as they "
        f"are. The limit is chosen so in any run, good or bad. {tail} The median norm is "
        f"{run.median_in_words}; a limit of {above}, the 99th percentile, leaves all but about 1% "
        f"of the {finite} steps alone."
    )
    asked = (
        ""
        if run.asked is None
        else f" Your limit fires on {_fires(answer)}; the suggested one is {suggested}."
    )
    return said + asked


def _tables(run: Run, order: np.ndarray) -> str:
    rec, summary = run.rec, run.summary
    limits = {*(summary.limits if summary else ()), *([run.limit] if run.limit else ())}
    some = sorted(limits)
    overall = [(in_full(x), _fires(rec.what_if(clip_global_norm=x)), _is(run, x)) for x in some]
    on_all = table("Limits on the global norm", ("limit", "fires on", ""), overall)
    if rec.norms_only:
        return on_all
    each = [rec.what_if(clip_norm=x) for x in some]
    by_tensor = [
        (rec.names[k], *(percent(float(e.of_finite_by_tensor[k])) for e in each)) for k in order
    ]
    return (
        on_all
        + table(
            "Limits on the norm of each tensor alone, by effect",
            ("tensor", *(f"limit {in_full(x)}" for x in some)),
            by_tensor,
        )
        + _doubt(each)
    )


def _doubt(each: list[WhatIf]) -> str:
    """By how much the shares by tensor can be wrong, if that shows."""
    doubt = max(
        (
            float(np.abs(e.bounds_of_finite_by_tensor - e.of_finite_by_tensor).max(initial=0))
            for e in each
        ),
        default=0.0,
    )
    said = (
        f"Shares by tensor are estimates here, at most {points(doubt)} points from the true ones."
    )
    return paragraph(said) if shows(doubt) else ""


def _is(run: Run, limit: float) -> str:
    """Return what a limit is, in words."""
    named = dict(zip(run.summary.limits, (50, 75, 90, 95, 99), strict=True)) if run.summary else {}
    said = [
        f"{named[limit]}th percentile" if limit in named else "",
        "asked about" if limit == run.limit else "",
    ]
    return ", ".join(filter(None, said))


def _slider(lab: Any, name: str) -> Any:
    """Give a control of the lab by its name."""
    return next(control for control in lab.controls if control.name == name)


def other_limit(run: Run) -> Section | None:
    """The clipping lab on this run."""
    if run.limit is None or not run.finite_norms.size:
        return None
    title, sentence = (
        "What another limit does to the recorded gradients",
        _neighbors(run, run.limit),
    )
    return Section("other", title, sentence, partial(_clipping, run, run.limit))


def _clipping(run: Run, limit: float) -> str:
    from ..labs import clipping

    lab = clipping(run.rec)
    lab.set(limit=_slider(lab, "limit").clamp(limit))
    within = float(run.finite_norms.min()) / 2, float(run.finite_norms.max()) * 2
    drag = "Drag the green line, or move the slider, and see what every recorded gradient becomes."
    return paragraph(drag) + moving(lab, run.states, {"limit": within})


def by_layer(run: Run) -> Section | None:
    """The lab that shows a limit on every tensor."""
    if run.limit is None or not run.finite_norms.size or run.rec.norms_only:
        return None
    answer = run.rec.what_if(clip_norm=run.limit)
    share, (_, high) = answer.of_finite_by_tensor, answer.bounds_of_finite_by_tensor
    most, never = int(share.argmax()), int((high == 0).sum())
    sentence = f"{in_full(run.limit)} on the norm of each tensor alone "
    if share[most]:
        sentence += (
            f"fires most on {run.rec.names[most]}, on {_of(answer, most)} of {_finite(answer)}"
        )
        sentence += (
            f"; on {number(never)} of {counted(len(share), 'tensor')} it never does."
            if never
            else "."
        )
    else:
        sentence += "never fires."
    return Section("layers", "Layer by layer", sentence, partial(_layers, run, run.limit))


def _of(answer: WhatIf, tensor: int) -> str:
    low, high = answer.bounds_of_finite_by_tensor[:, tensor].tolist()
    return percent_within(float(answer.of_finite_by_tensor[tensor]), low, high)


def _finite(answer: WhatIf) -> str:
    return "its finite steps" if answer.nonfinite else "the steps"


def _layers(run: Run, limit: float) -> str:
    from ..labs import run_layers

    lab = run_layers(run.rec)
    lab.set(limit=_slider(lab, "limit").clamp(limit))
    return moving(lab, run.states)


def _neighbors(run: Run, limit: float) -> str:
    half, double = (float(f"{limit * by:.3g}") for by in (0.5, 2))  # as they are printed
    low, high = (_fires(run.rec.what_if(clip_global_norm=x)) for x in (half, double))
    steps = "the finite steps" if run.rec.nonfinite_steps else "the steps"
    sentence = (
        f"Half that limit, {number(half)}, would fire on {low} of {steps}, and double, "
        f"{number(double)}, on {high}"
    )
    if run.rec.norms_only:
        return f"{sentence}."
    alone = _fires(run.rec.what_if(clip_norm=limit))
    return f"{sentence}; {in_full(limit)} on the norm of each tensor alone on {alone}."
