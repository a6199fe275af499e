"""NumPy: a rule on blocks of rows that stay in the cache from the first operation to the last.

A formula is about ten operations, and each reads and writes arrays as large as its inputs. On whole
arrays that is ten passes through memory, on blocks one. Rules work row by row, so a block is a step
of its own, and the cores share the blocks of a large array.
"""

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

# Entries of a block; half as many cost more in calls than they save in the cache.
BLOCK = 4 * CACHED
_KEPT_BYTES = 8 << 20
BLOCKS_PER_THREAD = 4  # fewer are done before a thread has started


def step(rule: Rule, w: Array, slots: Slots, g: Array, lr: Any, out: tuple[Array, Slots]) -> None:
    """Write the bits of `rule(w, slots, g, lr)` into `out`, which may be w and slots themselves.

    Large arrays are shared among the cores: NumPy lets other threads work while it computes.
    """
    targets = (out[0], *out[1])
    if w.ndim == 0:
        # Copies, because a rule may hand an input on as another output, as in `_write`. Nothing
        # tells an input that is a whole array from a new one.
        new_w, new_slots = rule(w.copy(), tuple(s.copy() for s in slots), g, lr)
        _write((new_w, *new_slots), targets, ())
        return
    settled = rule._in(w.dtype)
    rate = np.asarray(lr, w.dtype)

    def step_blocks(blocks: Sequence[slice]) -> None:
        # As `Rule.__call__` does, but all blocks share one error state.
        with detect_denormals() as has_denormals:
            for block in blocks:
                gradient = _flushed(np.asarray(g[block], w.dtype), has_denormals)
                old_slots = tuple(s[block] for s in slots)
                new_w, new_slots = settled.step(w[block], old_slots, gradient, rate)
                new = [np.asarray(x, w.dtype) for x in (new_w, *new_slots)]
                _write([_flushed(x, has_denormals) for x in new], targets, block)

    blocks = _blocks(w)
    _keep_freed_memory()
    shares = min(os.cpu_count() or 1, len(blocks) // BLOCKS_PER_THREAD)
    if shares < 2:
        step_blocks(blocks)
        return
    with ThreadPoolExecutor(shares) as pool:
        for done in [pool.submit(step_blocks, blocks[k::shares]) for k in range(shares)]:
            done.result()


def check(rule: Rule, w: Array, slots: Slots, g: Array, lr: Any) -> None:
    """Raise what `step` would raise of dtypes and hyperparameters, by a step of one entry."""
    first = (slice(1),) * w.ndim
    rule(w[first], tuple(s[first] for s in slots), g[first], lr)


def _keep_freed_memory() -> None:
    """Let malloc keep the temporary arrays of a block for the next one.

    glibc gives memory back to the system once more is free than twice the largest array that was
    freed so far (mallopt(3), M_MMAP_THRESHOLD). A block's arrays would go back after most blocks,
    and new pages for them cost as much as the step. Freeing one larger array, which is never
    touched, moves that limit. With other allocators it does nothing.
    """
    np.empty(_KEPT_BYTES, np.uint8)


def _flushed(x: np.ndarray, has_denormals: Callable[[Array], bool]) -> np.ndarray:
    return flush_denormals(x.copy()) if has_denormals(x) else x


def _write(new: Sequence[Any], targets: Sequence[Any], block: Any) -> None:
    # A rule may hand an input on as another output. It is a view of a target then, which must not
    # be written over before it is read.
    safe = [x if x.base is None else x.copy() for x in new]
    for target, x in zip(targets, safe, strict=True):
        target[block] = x


def _blocks(w: Array) -> list[slice]:
    rows = max(1, BLOCK * w.shape[0] // max(1, w.size))
    return [slice(start, start + rows) for start in range(0, w.shape[0], rows)]


def new_rows(
    rule: Rule, w: Array, slots: Slots, g: IndexedSlices, lr: Any, sparse: Sparse
) -> tuple[np.ndarray, Slots]:
    """Return the distinct rows named, and their new values in w and every slot.

    `sparse` is `dense_and_sparse.rows` or a function that gives the same result on the named rows
    alone. Nothing is written to.
    """
    rows, row_of_slice = find_distinct(np.asarray(g.indices), w.shape[0])
    values = np.asarray(g.values)
    old_w = w[rows]
    old_slots = tuple(s[rows] for s in slots)
    if sparse is not dense_and_sparse.rows:
        slices = IndexedSlices(values, row_of_slice)
        new_w, new_slots = sparse(rule, old_w, old_slots, slices, lr)
        return rows, (new_w, *new_slots)
    sums = sum_segments(values, row_of_slice, rows.size)
    step(rule, old_w, old_slots, sums, lr, (old_w, old_slots))
    return rows, (old_w, *old_slots)
