"""Section on updates: how far steps move each tensor, unusual tensors, and gradient noise."""

from __future__ import annotations

from functools import partial

import numpy as np

from .._base.numbers import are, counted, listed, number
from ..figures.update_ratios import Ratios, ratios_figure
from ..record.noise import known_noise
from ..record.summary import layer_of
from ..record.updates import HIGH, LOW, USUAL, Updates, sampled_updates
from ._html import Section, paragraph, picture, table
from ._run import Run

_RANGE = 10, 90  # percentiles that a line joins
_READING = (
    "A step that changes the weights of a tensor by about a thousandth of their norm is usual where training goes "
    "well. Far below 1e-4 the tensor hardly moves: its learning rate is too low, or its gradient vanishes. "
    "Far above 1e-2 the learning rate is too high for it, or the tensor is still near the zero it began at, "
    "as biases are. It is a rule of thumb, no law."
)
_NOISE = (
    "The gradient noise scale says about how many examples a batch needs for its gradient to be as large as its noise "
    "(McCandlish et al., 2018). Much smaller batches waste steps, much larger ones examples. It grows during training."
)


def moved(run: Run) -> Section | None:
    """The ratio of update to weight of each tensor; None where no weights were recorded."""
    found = sampled_updates(run.rec)
    if found is None:
        return None
    sentence = _sentence(found)
    return Section("updates", "How far steps move the weights", sentence, partial(_body, run, found, sentence))


def _sentence(found: Updates) -> str:
    median = found.median[np.isfinite(found.median) & (found.median > 0)]
    if not median.size:
        return f"No ratio of update to weight is known in {found.sampled}."
    middle = f"The median ratio of update to weight is {number(float(np.median(median)))}, measured in {found.sampled}"
    still = f" {listed(found.still)} never moved." if found.still else ""
    if not found.outside:
        return f"{middle}; no tensor is outside of {LOW:g} to {HIGH:g}.{still}"
    of = f"{len(found.outside)} of {counted(len(found.names), 'tensor')}"
    return f"{middle}; {of} {are(len(found.outside))} outside of {LOW:g} to {HIGH:g}: {listed(found.outside)}.{still}"


def _body(run: Run, found: Updates, sentence: str) -> str:
    median = found.median
    order = [k for k in np.argsort(-np.nan_to_num(median), kind="stable") if median[k] > 0]
    shown = ""
    if order:
        ratio = np.where(np.isfinite(found.ratio) & (found.ratio > 0), found.ratio, np.nan)[:, order]
        low, high = np.nanpercentile(ratio, _RANGE, axis=0)
        drawn = Ratios([found.names[k] for k in order], low, median[order], high, USUAL, LOW, HIGH)
        alt = f"Ratio of update to weight of each tensor, on a log scale, with 1e-3 marked. {sentence}"
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
    return Section("noise", "How noisy gradients are", f"{said[0].upper()}{said[1:]}.", lambda: paragraph(_NOISE))
