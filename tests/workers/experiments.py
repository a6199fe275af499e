"""Experiments of every kind, for Hypothesis and for tables."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

import gradlab as gl
from gradlab.workers import Bowl, Crash, Experiment, Speeds, Trace

# One of each policy, in a shape in which it has something to do.
POLICIES: dict[str, dict[str, Any]] = {
    "apply": {"policy": "apply"},
    "drop": {"policy": "drop", "staleness": 1},
    "wait": {"policy": "wait", "staleness": 1},
    "damp": {"policy": "damp"},
    "compensate": {"policy": "compensate", "strength": 0.5},
    "compensate, adaptive": {"policy": "compensate", "strength": 0.5, "mean_square_decay": 0.9},
    "backup": {"policy": "backup", "aggregate": 2},
}


def speeds(workers: int, crashes: bool) -> st.SearchStrategy[Speeds]:
    """Slow, even, erratic; ties are likely, and every worker that dies returns."""
    who = st.integers(0, workers - 1)
    crash = st.builds(Crash, who, st.integers(0, 4), st.integers(0, 30))
    all_crashes = st.lists(crash, max_size=3, unique_by=lambda c: (c.worker, c.number)).map(tuple)
    return st.builds(
        Speeds,
        median=st.sampled_from([1, 2, 5, 100]),
        spread=st.sampled_from([0.0, 0.3, 1.5]),
        slow=st.dictionaries(who, st.sampled_from([0.5, 3, 20]), max_size=2),
        stall=st.sampled_from([0.0, 0.2]),
        crashes=all_crashes if crashes else st.just(()),
        gap=st.integers(0, 6),
    )


@st.composite
def experiments(draw: st.DrawFn, policy: str | None = None, is_fast: bool = False) -> Experiment:
    """With any policy or the one named; `is_fast`: no races and no crashes, so that `decide_fast`
    can handle it.
    """
    workers = draw(st.integers(1, 6))
    policy = policy or draw(st.sampled_from(gl.workers.POLICIES))
    return Experiment(
        Bowl(condition=3.0, noise=0.2),
        gl.rules.Momentum(0.5),
        0.05,
        workers=workers,
        policy=policy,
        staleness=draw(st.integers(0, 4)),
        aggregate=draw(st.integers(1, workers)),
        gradients=draw(st.integers(0, 40)),
        seed=draw(st.integers(0, 5)),
        speeds=draw(speeds(workers, not is_fast)),
        atomic=is_fast or draw(st.booleans()),
        step_first=is_fast or draw(st.booleans()),
    )


def same(a: Trace, b: Trace) -> None:
    """The same moves, times and rounds."""
    for x, y in (
        (a.moves, b.moves),
        (a.times, b.times),
        *((a.rounds[n], b.rounds[n]) for n in a.rounds | b.rounds),
    ):
        np.testing.assert_array_equal(x, y, strict=True)
