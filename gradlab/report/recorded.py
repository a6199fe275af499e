"""What was recorded: steps, tensors, entries, and the norm of every tensor over time."""

from __future__ import annotations

from functools import partial

import numpy as np

from ..figures.report_map import map_figure
from ._html import Section, picture, table
from ._run import Run
from ._words import counted, number


def section(run: Run) -> Section:
    """The size of the run, a map of its norms, and a table of its tensors."""
    rec = run.rec
    entries = sum(rec.sizes)
    sentence = f"{counted(rec.seen, 'step')} of {counted(len(rec.names), 'tensor')} with {counted(entries, 'entry')}"
    kept = (
        "every step has a bucket of its own" if rec.stride == 1 else f"in {counted(len(rec), 'bucket')}: {run.merged}"
    )
    return Section("recorded", "What was recorded", f"{sentence}; {kept}.", partial(_body, run))


def _body(run: Run) -> str:
    rec = run.rec
    norm = rec["norm"].astype(float)
    typical = np.nan_to_num(np.median(norm, axis=0))
    loud = int(typical.argmax())
    alt = (
        f"Map of the norm of {counted(len(rec.names), 'tensor')} over {counted(rec.seen, 'step')}; the loudest is "
        f"{rec.names[loud]} with a median norm of {number(typical[loud])}."
    )
    return picture("map", partial(map_figure, norm, rec.step, rec.seen, rec.names), alt) + _tensors(run, typical)


def _tensors(run: Run, typical: np.ndarray) -> str:
    rec = run.rec
    largest, bad = rec["largest"].max(axis=0), (rec["nonfinite"] > 0).sum(axis=0)
    order = np.argsort(-typical, kind="stable")
    rows = [
        (
            rec.names[k],
            " × ".join(map(str, rec.shapes[k])) or "one number",
            number(rec.sizes[k]),
            number(typical[k]),
            number(largest[k]),
            number(bad[k]),
        )
        for k in order
    ]
    of = "buckets" if rec.stride > 1 else "steps"
    head = ("tensor", "shape", "entries", "median norm", "largest entry", f"{of} with NaN or Inf")
    return table("Tensors, the loudest first", head, rows)
