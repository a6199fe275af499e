"""Steps that a loss scaler skipped: how many, when, at which scale, and which tensors overflowed."""

from __future__ import annotations

from functools import partial

import numpy as np

from .._base.numbers import counted, listed, number
from ._html import Section, paragraph, table
from ._run import Run
from .recorded import when

MOST = 200  # rows of the table
_WHY = (
    "A loss scaler skips a step whose gradients overflow and lowers its scale. Some at the start of a run, and one now "
    "and then when the scale grows again, are normal. Many in a row are not: no scale helps where the loss is NaN."
)


def skipped(run: Run) -> Section | None:
    """How many steps changed no weight, and why; None where that never happened."""
    rec = run.rec
    if not rec.skipped_steps:
        return None
    of = f"{number(rec.skipped_steps)} of {counted(rec.seen, 'step')}"
    where = [f"{rec.names[k]} ({number(rec.overflows[k])})" for k in np.argsort(-rec.overflows) if rec.overflows[k]]
    why = f"gradients overflowed in {listed(where)}" if where else "no tensor that was recorded held NaN or Inf"
    verb = "was" if rec.skipped_steps == 1 else "were"
    sentence = f"{of} {verb} skipped, first {when(run, int(_rows(run)[0]))}: {why}.{_scales(run)}"
    return Section("skipped", "Steps that were skipped", sentence, partial(_body, run))


def _rows(run: Run) -> np.ndarray:
    """Buckets with skipped steps."""
    return np.flatnonzero(run.rec["skipped"])


def _scales(run: Run) -> str:
    scale = run.rec.every_step("scale")
    scale = scale[np.isfinite(scale)]
    if not scale.size:
        return ""
    ends = f"from {number(scale[0])} to {number(scale[-1])}" if scale[0] != scale[-1] else f"at {number(scale[0])}"
    return f" The loss scale went {ends}, with {number(scale.min())} the least."


def _body(run: Run) -> str:
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
    rows = [(at, x, _overflowed(run, int(k))) for at, x, k in zip(when_, scales, buckets, strict=True)][:MOST]
    cut = f", the first {MOST}" if len(buckets) > MOST else ""
    around = "" if rec.stride == 1 else f", in the {rec.stride:,} steps around it"
    return paragraph(_WHY) + table(f"Skipped steps{cut}", (head, "loss scale", f"NaN or Inf in{around}"), rows)


def _scale(x: float) -> str:
    return number(x) if np.isfinite(x) else "not recorded"


def _overflowed(run: Run, bucket: int) -> str:
    names = [run.rec.names[k] for k in np.flatnonzero(run.rec["nonfinite"][bucket])]
    return listed(names) if names else "no tensor that was recorded"
