"""Runs that are streamed, with everything in them that a destination might get wrong."""

from __future__ import annotations

import numpy as np

import gradlab as gl

SKIPPED, NAN = 3, 5  # steps


def go_on(rec: gl.Recorder, until: int) -> None:
    for k in range(rec.seen, until):
        g = {"a": np.float32([3.0, 4.0]) * (0.1 + k), "b": np.float32([1e-30 * k])}
        g["b"][0] = {SKIPPED: np.inf, NAN: np.nan}.get(k, g["b"][0])
        scale = 8.0 if k < NAN else None
        rec.record(g, loss=np.nan if k == NAN else 1 / (k + 3), scale=scale, skipped=k == SKIPPED)


def recorded(steps: int) -> gl.Recorder:
    rec = gl.Recorder(4, entries=2, sample_every=3)
    go_on(rec, steps)
    return rec


def resumed(rec: gl.Recorder) -> gl.Recorder:
    """As from a checkpoint of it."""
    later = gl.Recorder(4, entries=2, sample_every=3)
    later.load_state_dict(rec.state_dict())
    return later
