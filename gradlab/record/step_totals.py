"""A few numbers over all tensors of a step, for every single step of a run of any length.

They are float32 arrays (numbers, steps) whose rows are `names`. On the host they grow; traced
code carries a ring of the last steps, which `Recorder.absorb` takes. What a ring has forgotten
is `lost`: its global norm is -1.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from .._base.arrays import namespace
from .._base.types import EachA as A

GLOBAL, LEADING, LARGEST, SKIPPED, SCALE, SCALARS = range(6)
# Norm over all tensors, largest norm of any of them, largest |entry| with Inf where one is not
# finite, whether the step was skipped, its loss scale, and then the scalars of a recording.
NAMES = ("global_norm", "leading_norm", "largest", "skipped", "scale")
# Places in the column "norm" of buckets: after those of the tensors.
GLOBAL_NORM, LEADING_NORM = -2, -1
RING = 1 << 13  # steps
LOST = -1.0
MOST = 2**31 - 1  # steps of a recording: what a traced state can count, and 50 GB of these numbers
_ROOM = 1024


def names(scalars: tuple[str, ...]) -> tuple[str, ...]:
    """Of the rows."""
    return (*NAMES, *scalars)


def of_steps(steps: Mapping[str, A]) -> A:
    """(numbers, n) those of n buckets of one step each, with "scale" (n,) beside their columns."""
    xp: Any = namespace(steps["norm"])
    finite = ~(steps["nonfinite"] > 0).any(axis=1)
    largest = xp.where(finite, steps["largest"].max(axis=1), np.float32(np.inf))
    skipped = (steps["taken"] == 0).astype(np.float32)
    norm = steps["norm"]
    head = xp.stack([norm[:, GLOBAL_NORM], norm[:, LEADING_NORM], largest, skipped, steps["scale"]])
    found: A = xp.concatenate([head, steps["mean"][:, 1:].T])
    return found


def put(every: np.ndarray, new: np.ndarray, seen: int) -> np.ndarray:
    """The numbers of steps, with those of n more from number `seen` on, in place while there is room."""
    end = seen + new.shape[1]
    if end > every.shape[1]:
        room = max(_ROOM, end, every.shape[1] * 3 // 2)
        every = np.concatenate(
            [every[:, :seen], np.zeros((len(new), room - seen), np.float32)], axis=1
        )
    every[:, seen:end] = new
    return every


def lost(every: np.ndarray) -> np.ndarray:
    """(steps,) whose numbers are not known any more."""
    found: np.ndarray = every[GLOBAL] == LOST
    return found


def unknown(rows: int, steps: int) -> np.ndarray:
    """Numbers of steps that were lost."""
    found = np.full((rows, steps), np.nan, np.float32)
    found[GLOBAL] = LOST
    return found


def ring(every: np.ndarray, seen: int, size: int) -> np.ndarray:
    """The last of `seen` steps, each at its number modulo `size`."""
    found, last = unknown(len(every), size), np.arange(max(0, seen - size), seen)
    found[:, last % size] = every[:, last]
    return found


def unrolled(ring: np.ndarray, seen: int) -> np.ndarray:
    """Of all steps those that a ring still has."""
    size = ring.shape[1]
    found, last = unknown(len(ring), seen), np.arange(max(0, seen - size), seen)
    found[:, last] = ring[:, last % size]
    return found


def continued(found: np.ndarray, before: np.ndarray) -> np.ndarray:
    """The steps of a run, those that were lost from what was known of its first ones."""
    n = before.shape[1]
    start = np.where(lost(found[:, :n]), before, found[:, :n])
    return np.concatenate([start, found[:, n:]], axis=1)
