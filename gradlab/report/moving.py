"""Labs that move in the page: without a kernel, at states recorded when the page was made."""

from __future__ import annotations

from functools import partial
from typing import Any

from ..live.page import parts
from ._html import Section, paragraph, picture, table
from ._run import Run
from ._words import counted, number, percent

MOST_BYTES = 1_000_000  # of one lab


def moving(run: Run, lab: Any, within: dict[str, tuple[float, float]] | None = None) -> str:
    """Give the lab as a part of the page, or its picture and values where nothing is to move."""
    if not run.states:
        return _still(lab)
    for part in parts(lab.live, run.states, within):
        if len(part.encode()) <= MOST_BYTES:
            break
    return part


def _still(lab: Any) -> str:
    """The lab as a picture and its values."""

    def draw(narrow: bool) -> Any:
        view = lab.make_view()
        if hasattr(view, "arrange"):
            view.arrange(narrow)
        lab.draw(view, lab.compute(lab.params))
        for artist in view.figure.findobj():
            artist.set_animated(False)
        return view.figure

    words = lab.description
    return (
        picture(type(lab).__name__, draw, words.alt) + paragraph(words.summary) + table("Values", ("", ""), words.table)
    )


def slider(lab: Any, name: str) -> Any:
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
    lab.set(limit=slider(lab, "limit").clamp(limit))
    within = float(run.finite_norms.min()) / 2, float(run.finite_norms.max()) * 2
    drag = "Drag the green line, or move the slider, and see what every step would have become."
    return paragraph(drag) + moving(run, lab, {"limit": within})


def by_layer(run: Run) -> Section | None:
    """The lab that shows a limit on every tensor."""
    if run.limit is None or not run.finite_norms.size:
        return None
    share = run.rec.what_if(clip_norm=run.limit).share_by_tensor
    most, never = int(share.argmax()), int((share == 0).sum())
    sentence = f"{number(run.limit)} on the norm of each tensor alone "
    if share[most]:
        sentence += f"fires most on {run.rec.names[most]}, on {percent(share[most])} of the steps"
        sentence += f"; on {never} of {counted(len(share), 'tensor')} it never does." if never else "."
    else:
        sentence += "never fires."
    return Section("layers", "Layer by layer", sentence, partial(_layers, run, run.limit))


def _layers(run: Run, limit: float) -> str:
    from ..labs import run_layers

    lab = run_layers(run.rec)
    lab.set(limit=slider(lab, "limit").clamp(limit))
    return moving(run, lab)


def _neighbors(run: Run, limit: float) -> str:
    half, double = (percent(run.rec.what_if(clip_global_norm=limit * by).fraction_fired) for by in (0.5, 2))
    alone = run.rec.what_if(clip_norm=limit)
    return (
        f"Half that limit, {number(limit / 2)}, would fire on {half} of the steps, and double, {number(2 * limit)}, on "
        f"{double}; {number(limit)} on the norm of each tensor alone on {percent(alone.fraction_fired)}."
    )
