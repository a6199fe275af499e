"""Why a row of a table moved, in a sentence and number by number."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..figures.tpu_embedding import Line, written
from ._embedding_run import LIMIT, Moved
from ._lab import plain

MOST = 6  # contributions that are told one by one


def in_a_sentence(trace: Moved) -> str:
    """In a sentence or two; the first is the library's."""
    if trace.run.refused:
        return "Nothing is looked up and no row moves."
    why = trace.why
    if not why.contributions:
        return why.headline
    samples = ", ".join(map(str, dict.fromkeys(one.sample for one in why.contributions)))
    where = f"sample{'s' * (',' in samples)} {samples}"
    return f"{why.headline} Gradients of {where} sum to ({listed(trace.total)}) and move it by {plain(trace.distance)}."


def story(trace: Moved) -> list[Line]:
    """The same, number by number."""
    if trace.run.refused:
        return [Line(words) for words in folded(trace.run.refused, 50)]
    why, row = trace.why, f"row {trace.row}"
    lines = [Line(f"sample {one.sample} × {written(one.gain)}", one.product) for one in why.contributions]
    if len(lines) > MOST:
        rest = np.sum([one.product for one in why.contributions[MOST - 1 :]], axis=0)
        lines = [*lines[: MOST - 1], Line(f"{len(lines) - MOST + 1} more", rest)]
    if not lines:
        lines = [Line(f"No id asks for {row}.")]
    elif len(why.runs) > 1:
        lines += [Line(f"one update for each, {len(why.runs)} in all")]
    else:
        lines += [Line("their sum", why.runs[0].total, True)]
    for run in why.runs[:1] if len(why.runs) == 1 else ():
        lines += [Line(f"clipped to ±{LIMIT}", run.gradient, True)] * run.clipped
        lines += [Line("decay takes", run.decay)] * bool(run.decay.any())
    lines += [Line(f"{row} before", why.weights_before), Line(f"{row} after", why.weights_after, True)]
    return lines + [Line(f"{name} after", x) for name, x in why.slots_after.items()]


def listed(values: Any) -> str:
    """Numbers in a row."""
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
