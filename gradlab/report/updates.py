"""Section on updates: how far steps move each tensor, unusual tensors, and gradient noise."""

from __future__ import annotations

from functools import partial

import numpy as np

from .._base.numbers import counted, listed, number
from .._base.numbers import whole_percent as percent
from ..record.analysis.noise import known_noise
from ..record.analysis.summary import layer_of
from ..record.updates import HIGH, LOW, USUAL, Updates, sampled_updates
from ._html import Section, paragraph, picture, table
from ._run import Run
from .update_ratios import Ratios, ratios_figure

_RANGE = 10, 90  # percentiles that a line joins
# Conventions, tried on a small GPT with AdamW: at a ruinous learning rate of 0.1, one step was 5
# times the norm of the weights, and they grew 26 times, so that the median ratio looked usual.
_TOO_FAR = 0.3  # a step of this share of the norm of the weights is too large
_GROWN = 3  # times as large: weights whose growth is named
_READING = (
    "A step that changes weights by about a thousandth of their norm is usual where training goes "
    "well, ten times that in small networks and early in a run. Far below 1e-4 weights hardly "
    "move: the learning rate is too low, or the gradient vanishes. Steps of a third of the norm or "
    "more come from a learning rate that is too high; weights that have grown in such steps have "
    "small ratios later. Biases, gains and tensors that began at 0 have ratios of their own and "
    "are left out of the sentence. It is a rule of thumb."
)
_NOISE = (
    "The gradient noise scale says about how many examples a batch needs for its gradient to be as "
    "large as its noise (McCandlish et al., 2018). Much smaller batches waste steps, much larger "
    "ones examples. In their runs it grew during training."
)


def moved(run: Run) -> Section | None:
    """The ratio of update to weight of each tensor; None where no weights were recorded."""
    found = sampled_updates(run.rec)
    if found is None:
        return None
    sentence = _sentence(run, found)
    return Section(
        "updates", "How far steps move the weights", sentence, partial(_body, run, found, sentence)
    )


def _sentence(run: Run, found: Updates) -> str:
    still = f" {listed(found.still)} never moved." if found.still else ""
    if not found.enough:
        few = (
            f"Updates were measured in {found.sampled}, too few to say "
            "how far steps move the weights."
        )
        return f"{few}{still}"
    return f"{_weights_in_words(run, found)}{still}"


def _weights_in_words(run: Run, found: Updates) -> str:
    """Say how far steps move the weights, each tensor weighted by its entries, and whether that is
    too far.
    """
    low, middle, high = found.quartiles
    counts = _is_weight(run, found) & np.isfinite(middle) & ~np.isin(found.names, found.still)
    if not counts.any():
        return f"No ratio of update to weight is known in {found.sampled}."
    sizes = np.array(run.rec.sizes, float)[counts]
    typical, *quartiles = (number(_weighted_median(x[counts], sizes)) for x in (middle, low, high))
    return (
        f"After the first {counted(found.first, 'step')} the median step changes the weights by "
        f"{typical} of their norm (half of the steps by {quartiles[0]} to {quartiles[1]}), "
        f"measured in {found.sampled}. {_verdict(found, middle[counts], sizes, counts)}"
    )


def _verdict(found: Updates, middle: np.ndarray, sizes: np.ndarray, counts: np.ndarray) -> str:
    """Say whether steps are too small, too large, or as usual; `middle` are the medians of the
    tensors that count.
    """
    ratio = found.ratio[:, counts]
    known = np.isfinite(ratio).all(axis=1)
    steps, sampled = found.step[known], ratio[known]
    far = [_weighted_median(row, sizes) for row in sampled]
    if far and max(far) >= _TOO_FAR:
        most = int(np.argmax(far))
        return (
            f"At step {steps[most]:,} it was {number(far[most])} of their norm: the learning rate "
            f"is too high, at least there.{_growth(found, sizes, counts)}"
        )
    names = [name for name, is_counted in zip(found.names, counts, strict=True) if is_counted]
    below, above = (sizes[which].sum() / sizes.sum() for which in (middle < LOW, middle > HIGH))
    if below >= 0.5:
        return (
            f"For {_share(below)} it is below {LOW:g}: the learning rate is "
            "too low, or gradients vanish."
        )
    said = []
    if below:
        low = [names[k] for k in np.argsort(middle, kind="stable") if middle[k] < LOW]
        said.append(f"For {_share(below)} it is below {LOW:g}: {listed(low)}.")
    if above:
        said.append(
            f"For {_share(above)} it is above {HIGH:g}, where about {USUAL:g} is usual. Small "
            "networks and the start of a run often have that: judge by the loss whether a lower "
            "learning rate is better."
        )
    return " ".join(said) or f"For all weights it is within {LOW:g} to {HIGH:g}, as is usual."


def _share(share: float) -> str:
    return "all weights" if share == 1 else f"{percent(share)} of the weights"


def _growth(found: Updates, sizes: np.ndarray, counts: np.ndarray) -> str:
    """Say that weights have grown, which makes later ratios small; nothing where they haven't."""
    first, last = found.weight[0, counts], found.weight[-1, counts]
    grown = (
        _weighted_median(last / first, sizes)
        if (first > 0).all() and np.isfinite(last).all()
        else 0.0
    )
    if grown < _GROWN:
        return ""
    return (
        f" The weights have grown {number(grown)} times since step {found.step[0]:,}, which makes "
        "later ratios smaller."
    )


def _is_weight(run: Run, found: Updates) -> np.ndarray:
    """Return (tensors,) whether each has 2 dimensions or more and didn't begin at 0; if none has,
    only the latter.
    """
    is_matrix = np.array([len(shape) > 1 for shape in run.rec.shapes])
    began_above_0 = found.weight[0] > 0
    is_weight: np.ndarray = is_matrix & began_above_0
    return is_weight if is_weight.any() else began_above_0


def _weighted_median(values: np.ndarray, sizes: np.ndarray) -> float:
    """Return the median of values, each weighted by the size of its tensor.

    >>> _weighted_median(np.array([1.0, 2.0, 3.0]), np.array([1, 1, 10]))
    3.0
    """
    order = np.argsort(values, kind="stable")
    passed = np.cumsum(sizes[order]) / sizes.sum()
    return float(values[order][np.searchsorted(passed, 0.5)])


def _body(run: Run, found: Updates, sentence: str) -> str:
    median = found.median
    order = [k for k in np.argsort(-np.nan_to_num(median), kind="stable") if median[k] > 0]
    shown = ""
    if order:
        ratio = np.where(np.isfinite(found.ratio) & (found.ratio > 0), found.ratio, np.nan)[
            found.later
        ][:, order]
        low, high = np.nanpercentile(ratio, _RANGE, axis=0)
        drawn = Ratios([found.names[k] for k in order], low, median[order], high, USUAL, LOW, HIGH)
        alt = (
            "Ratio of update to weight of each tensor, on a log scale, "
            f"with 1e-3 marked. {sentence}"
        )
        shown = picture("updates", partial(ratios_figure, drawn), alt)
    return shown + paragraph(_READING) + _tables(found)


def _tables(found: Updates) -> str:
    groups: dict[str, list[str]] = {}
    for name in found.names:
        groups.setdefault(layer_of(name), []).append(name)
    several = len(groups) < len(found.names)
    layers = _table("Update and weight by layer", found.by_group(groups)) if several else ""
    return _table("Update and weight by tensor", found) + layers


def _table(caption: str, found: Updates) -> str:
    median = found.median
    order = np.argsort(-np.nan_to_num(median), kind="stable")
    weight, update = (np.median(x, axis=0) for x in (found.weight, found.update))
    rows = [
        (
            found.names[k],
            number(float(median[k])) if np.isfinite(median[k]) else "not known",
            number(float(update[k])),
            number(float(weight[k])),
        )
        for k in map(int, order)
    ]
    head = ("tensor", "median ratio", "median norm of the update", "median norm of the weights")
    return table(f"{caption}, in {found.sampled}", head, rows)


def noise(run: Run) -> Section | None:
    """The gradient noise scale; None where no norms of micro-batches were recorded."""
    found = known_noise(run.rec)
    if found is None:
        return None
    said = str(found)
    return Section(
        "noise",
        "How noisy gradients are",
        f"{said[0].upper()}{said[1:]}.",
        lambda: paragraph(_NOISE),
    )
