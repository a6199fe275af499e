"""NumPy: a rule on blocks of rows that stay in the cache from the first operation of a formula to the last."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from .._base.arrays import CACHED, Array, detect_denormals, flush_denormals, sum_segments
from .._base.indices import find_distinct
from .._base.slices import IndexedSlices
from . import dense_and_sparse
from .pure import Sparse
from .rule import Rule, Slots

# Entries of a block. Half as many cost more in calls than they save in the cache. With twice as many
# Adam's temporary arrays are so large that malloc gives them back to the system, which at times
# makes every block pay for new pages.
BLOCK = 2 * CACHED
BLOCKS_PER_THREAD = 4  # fewer are done before a thread has started


def step(rule: Rule, w: Array, slots: Slots, g: Array, lr: Any, out: tuple[Array, Slots]) -> None:
    """The bits of `rule(w, slots, g, lr)`, written into `out`, which may be w and slots themselves.

    Large arrays are shared among the cores: NumPy lets other threads work while it computes.
    """
    if w.ndim == 0:
        new_w, new_slots = rule(w, slots, g, lr)
        _write((new_w, *new_slots), (out[0], *out[1]), ())
        return
    settled, rate, targets = rule._in(w.dtype), np.asarray(lr, w.dtype), (out[0], *out[1])

    def run(blocks: Sequence[slice]) -> None:
        with detect_denormals() as has_denormals:
            for block in blocks:
                old = (w[block], *(s[block] for s in slots))
                gradient = _flushed(np.asarray(g[block], w.dtype), has_denormals)
                new_w, new_slots = settled.step(old[0], old[1:], gradient, rate)
                new = tuple(
                    _flushed(np.asarray(x, w.dtype), has_denormals) for x in (new_w, *new_slots)
                )
                _write(new, targets, block)

    blocks = _blocks(w)
    shares = min(os.cpu_count() or 1, len(blocks) // BLOCKS_PER_THREAD)
    if shares < 2:
        run(blocks)
        return
    with ThreadPoolExecutor(shares) as pool:
        for done in [pool.submit(run, blocks[k::shares]) for k in range(shares)]:
            done.result()


def check(rule: Rule, w: Array, slots: Slots, g: Array, lr: Any) -> None:
    """Raise what `step` would raise of dtypes and hyperparameters, by a step of one entry."""
    first = (slice(1),) * w.ndim
    rule(w[first], tuple(s[first] for s in slots), g[first], lr)


def _flushed(x: np.ndarray, has_denormals: Callable[[Array], bool]) -> np.ndarray:
    return flush_denormals(x.copy()) if has_denormals(x) else x


def _write(new: Slots, targets: Slots, block: Any) -> None:
    # A rule may hand an input on as another output. It is a view of a target then, which must not
    # be written over before it is read.
    safe = [x if x.base is None else x.copy() for x in new]
    for target, x in zip(targets, safe, strict=True):
        target[block] = x


def _blocks(w: Array) -> list[slice]:
    rows = max(1, BLOCK * w.shape[0] // max(1, w.size))
    return [slice(start, start + rows) for start in range(0, w.shape[0], rows)]


def new_rows(
    rule: Rule, w: Array, slots: Slots, g: IndexedSlices, lr: Any, way: Sparse
) -> tuple[np.ndarray, Slots]:
    """The distinct rows named, and what stands in them after the step, in w and every slot.

    Nothing is written to.
    """
    named, place = find_distinct(np.asarray(g.indices), w.shape[0])
    old, values = tuple(x[named] for x in (w, *slots)), np.asarray(g.values)
    if way is not dense_and_sparse.rows:
        new_w, new_slots = way(rule, old[0], old[1:], IndexedSlices(values, place), lr)
        return named, (new_w, *new_slots)
    sums = sum_segments(values, place, named.size)
    step(rule, old[0], old[1:], sums, lr, (old[0], old[1:]))
    return named, old
