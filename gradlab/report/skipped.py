"""Steps that were skipped: how many, when, at which loss scale, which tensors overflowed; and how many are missing."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from .._base.numbers import counted, listed, number, were
from ..record.analysis.diagnosis import frontier_in
from ._html import Section, paragraph, table
from ._run import Run
from .recorded import when

MOST = 200  # rows of the table
_MISSING = (
    "Something around the recorder, such as optax.apply_if_finite, took back the steps in which "
    "gradients held NaN or Inf, and the recorder with them. Only their number is known: not when "
    "they were, nor which tensors it was. gl.record.optax(recorder, "
    "around=optax.apply_if_finite(...)) records them as skipped steps."
)
_WHY = (
    "A loss scaler skips a step whose gradients overflow and lowers its scale. Several in a row at "
    "the start, while the scale comes down, are normal, and so is one now and then, when the scale "
    "grows again. Several in a row later, or without an end, are not: no scale helps where the "
    "loss is NaN."
)


def skipped(run: Run) -> Section | None:
    """Return how many steps changed no weight, and why; None where that never happened."""
    sentences = [*_skipped(run), *_missing(run)]
    return (
        Section("skipped", "Steps that were skipped", " ".join(sentences), partial(_body, run))
        if sentences
        else None
    )


def _missing(run: Run) -> Iterator[str]:
    if missing := run.rec.missing_steps:
        of = f"{counted(missing, 'more step')} {'is' if missing == 1 else 'are'} missing"
        yield (
            f"{of}: gradients held NaN or Inf, and nothing of {'it' if missing == 1 else 'them'} "
            "was recorded."
        )


def _skipped(run: Run) -> Iterator[str]:
    rec = run.rec
    if not rec.skipped_steps:
        return
    of = f"{number(rec.skipped_steps)} of {counted(rec.seen, 'step')}"
    where = [
        f"{rec.names[k]} ({number(rec.overflows[k])})"
        for k in np.argsort(-rec.overflows)
        if rec.overflows[k]
    ]
    why = (
        f"gradients overflowed in {listed(where)}"
        if where
        else "no tensor that was recorded held NaN or Inf"
    )
    yield (
        f"{of} {were(rec.skipped_steps)} skipped, first {_first(run)}: "
        f"{why}.{_scales(run)}{_origin(run)}"
    )


def _origin(run: Run) -> str:
    """Say where the overflow of the first of them came from, where the tensors of a single step are
    known.
    """
    if run.rec.stride > 1:
        return ""
    said = frontier_in(run.rec, int(_rows(run)[0]))
    return f" In the first of them: {said[0].lower()}{said[1:]}" if said else ""


def _rows(run: Run) -> np.ndarray:
    """Buckets with skipped steps."""
    return np.flatnonzero(run.rec["skipped"])


def _first(run: Run) -> str:
    """When the first of them was, as exactly as that is known."""
    found = np.flatnonzero(run.rec.every_step("skipped") == 1)
    return (
        f"in step {found[0]}"
        if len(found) == run.rec.skipped_steps
        else when(run, int(_rows(run)[0]))
    )


def _scales(run: Run) -> str:
    scale = run.rec.every_step("scale")
    scale = scale[np.isfinite(scale)]
    if not scale.size:
        return ""
    if (scale == scale[0]).all():
        return f" The loss scale was {number(scale[0])} throughout."
    return (
        f" The loss scale went from {number(scale[0])} to {number(scale[-1])}, with "
        f"{number(scale.min())} the least."
    )


def _body(run: Run) -> str:
    missing = paragraph(_MISSING) if run.rec.missing_steps else ""
    return (_table(run) if run.rec.skipped_steps else "") + missing


def _table(run: Run) -> str:
    """Each of them where single steps are known, else the stretches of steps that they are in."""
    rec = run.rec
    number_of, scale = np.flatnonzero(rec.every_step("skipped") == 1), rec.every_step("scale")
    if len(number_of) == rec.skipped_steps:
        buckets, head = number_of // rec.stride, "step"
        when_ = [str(int(k)) for k in number_of]
        scales = [_scale(scale[k]) for k in number_of]
    else:
        buckets, head = _rows(run), "skipped"
        when_ = [f"{int(rec['skipped'][k])} {when(run, int(k))}" for k in buckets]
        scales = [_scale(rec["scale"][k]) for k in buckets]
    rows = [
        (at, x, _overflowed(run, int(k))) for at, x, k in zip(when_, scales, buckets, strict=True)
    ][:MOST]
    cut = f", the first {MOST}" if len(buckets) > MOST else ""
    around = "" if rec.stride == 1 else f", in the {rec.stride:,} steps around it"
    return paragraph(_WHY) + table(
        f"Skipped steps{cut}", (head, "loss scale", f"NaN or Inf in{around}"), rows
    )


def _scale(x: float) -> str:
    return number(x) if np.isfinite(x) else "not recorded"


def _overflowed(run: Run, bucket: int) -> str:
    names = [run.rec.names[k] for k in np.flatnonzero(run.rec["nonfinite"][bucket])]
    return listed(names) if names else "no tensor that was recorded"
