"""NumPy: a rule on blocks of rows that stay in the cache from the first operation of a formula to the last."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .. import apply
from .._arrays import CACHED, flushed, quiet
from ..rules import Rule
from ..rules._rule import Slots
from ..slices import IndexedSlices

Tables = tuple[np.ndarray, Slots]  # weights and slots


@quiet
def step(rule: Rule, w: np.ndarray, slots: Slots, g: np.ndarray, lr: Any, out: Tables) -> None:
    """The bits of `rule(w, slots, g, lr)`, written into `out`, which may be w and slots themselves."""
    if w.ndim == 0:
        new_w, new_slots = rule(w, slots, g, lr)
        _write((new_w, *new_slots), (), (out[0], *out[1]), ())
        return
    settled, rate = rule._in(w.dtype), np.asarray(lr, w.dtype)
    targets = (out[0], *out[1])
    for block in _blocks(w):
        old = (w[block], *(s[block] for s in slots))
        new_w, new_slots = settled.step(old[0], old[1:], flushed(np.asarray(g[block], w.dtype)), rate)
        new = tuple(flushed(np.asarray(x, w.dtype)) for x in (new_w, *new_slots))
        _write(new, old, targets, block)


def _write(new: Slots, old: Slots, targets: Slots, block: Any) -> None:
    """A rule may hand an input on as another output, which must not be written over before it is read."""
    safe = [x.copy() if any(np.may_share_memory(x, y) for y in old) else x for x in new]
    for target, x in zip(targets, safe, strict=True):
        target[block] = x


def _blocks(w: np.ndarray) -> Iterator[slice]:
    rows = max(1, CACHED * w.shape[0] // max(1, w.size))
    return (slice(start, start + rows) for start in range(0, w.shape[0], rows))


def new_rows(
    rule: Rule, w: np.ndarray, slots: Slots, g: IndexedSlices, lr: Any, each: bool
) -> tuple[np.ndarray, Slots]:
    """The distinct rows named, and what stands in them after the step, in w and every slot. Nothing is written to."""
    named, place = distinct(np.asarray(g.indices), w.shape[0])
    old, values = tuple(x[named] for x in (w, *slots)), np.asarray(g.values)
    if each:
        new_w, new_slots = apply.each(rule, old[0], old[1:], IndexedSlices(values, place), lr)
        return named, (new_w, *new_slots)
    sums = np.zeros(old[0].shape, values.dtype)
    np.add.at(sums, place, values)
    step(rule, old[0], old[1:], sums, lr, (old[0], old[1:]))
    return named, old


def distinct(indices: np.ndarray, rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Distinct indices of a table of `rows` rows, in no order, and for each entry the place of its index among them."""
    if rows > 64 * indices.size:  # a scratch table would cost more than sorting
        unique, inverse = np.unique(indices, return_inverse=True)
        return unique, inverse.reshape(-1)
    position = np.arange(indices.size, dtype=np.int32)
    scratch = np.empty(rows, np.int32)
    scratch[indices] = position  # of equal indices one wins, no matter which
    winner = scratch[indices]
    wins = winner == position
    return indices[wins], (np.cumsum(wins, dtype=np.int32) - 1)[winner]
