"""What the numbers of a report do not say."""

from __future__ import annotations

from functools import partial
from html import escape

from ._html import Section
from ._run import Run
from ._words import counted


def section(run: Run) -> Section:
    """The caveats that hold for this recording, in plain words."""
    sentence = "All of this is about the gradients of this run as it was, one step at a time."
    return Section("caveats", "What these numbers do not say", sentence, partial(_body, run))


def _body(run: Run) -> str:
    return "<ul>\n" + "".join(f"<li>{escape(line)}</li>\n" for line in _lines(run)) + "</ul>"


def _lines(run: Run) -> list[str]:
    rec = run.rec
    lines = [
        "With another limit the weights, and so all later gradients, would have been different. Read a share as: of "
        "these steps, so many. To know what a limit does to training, train with it and record again.",
        "Global norm and norm of each tensor are exact. What is said of a limit on single entries is estimated from "
        "counts by size; only which steps it fires on is exact.",
        "A suggested limit says what is unusual in this run, not what is best for the loss.",
    ]
    if rec.stride > 1:
        lines.append(
            f"The run had more steps than the recorder has buckets: {run.merged}. How often limits fire is counted "
            "over all steps, by sizes an eighth of a factor 2 apart; between two such sizes the share is an estimate."
        )
    sampled = len(rec.sampled[0])
    if 0 < sampled < sum(rec.sizes):
        lines.append(
            f"Adagrad and staleness are computed on {counted(sampled, 'entry')} of {counted(sum(rec.sizes), 'entry')}, "
            "chosen evenly over all tensors: shares of entries are estimates."
        )
    if not sampled:
        lines.append(
            "This recording holds no single entries, so nothing is said of Adagrad and staleness; "
            "gl.Recorder(entries=512), the default, keeps some."
        )
    return lines
