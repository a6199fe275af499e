"""Why a row of a table moved, in a sentence and number by number."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..figures.tpu_embedding import Line, written
from ._embedding_run import LIMIT, Moved
from ._lab import plain


def in_a_sentence(trace: Moved) -> str:
    """In a sentence."""
    if trace.run.refused:
        return "Nothing is looked up and no row moves."
    if not len(trace.wanted):
        return f"No id asks for row {trace.row}, so it stands still."
    total, moved = trace.contributions.sum(axis=0), float(np.linalg.norm(trace.after - trace.before))
    times = "one lookup" if len(trace.wanted) == 1 else f"{len(trace.wanted)} lookups"
    samples = ", ".join(map(str, sorted(set(trace.lookups.samples[trace.wanted].tolist()))))
    return (
        f"Row {trace.row} moves by {plain(moved)}: {times} in sample{'s' * (',' in samples)} {samples}, gradients that "
        f"sum to ({listed(total)})."
    )


def story(trace: Moved) -> list[Line]:
    """The same, number by number."""
    if trace.run.refused:
        return [Line(words) for words in folded(trace.run.refused, 50)]
    found, s = trace.lookups, trace.settings
    lines = [
        Line(f"sample {found.samples[n]} × {written(found.weights[n])}", g)
        for n, g in zip(trace.wanted, trace.contributions, strict=True)
    ]
    if len(lines) > 6:
        lines = [*lines[:5], Line(f"{len(lines) - 5} more", trace.contributions[5:].sum(axis=0))]
    if lines:
        total = trace.contributions.sum(axis=0)
        if s["clip"] == "contribution" or not s["accumulate"]:
            total = np.clip(trace.contributions, -LIMIT, LIMIT).sum(axis=0) if s["clip"] != "none" else total
        lines += [Line("their sum" if s["accumulate"] else "their sum (not formed)", total, True)]
    else:
        lines = [Line(f"No id asks for row {trace.row}.")]
    if lines[-1].result and s["clip"] == "sum" and s["accumulate"]:
        lines += [Line(f"clipped to ±{LIMIT}", np.clip(total, -LIMIT, LIMIT), True)]
    lines += [Line(f"row {trace.row} before", trace.before), Line(f"row {trace.row} after", trace.after, True)]
    return lines + [Line(f"{name} after", x[trace.row]) for name, x in trace.slots.items()]


def listed(values: Any) -> str:
    return ", ".join(f"{v:g}" if np.issubdtype(type(v), np.integer) else f"{v:.3g}" for v in values)


def ascii_words(words: str) -> str:
    """Without what an attribute of a page cannot hold, and in ASCII."""
    return words.replace("'", "").replace("−", "-").replace("±", "+-").replace("×", "x")


def folded(words: str, width: int) -> list[str]:
    """Words in lines of fewer characters than that."""
    lines = [""]
    for word in words.split():
        if len(lines[-1]) + len(word) >= width:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    return lines
