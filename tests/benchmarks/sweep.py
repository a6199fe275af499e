"""Phase diagrams: events a second beside engines that run one experiment after another, and the
lab's diagram.

An event is one gradient handed in.
"""

from __future__ import annotations

import dataclasses
import importlib.util
import itertools
import math
from collections.abc import Callable, Iterator
from typing import Any

from gradlab.workers import Bowl, Experiment, Speeds, simulated, sweep
from tests.benchmarks.race import race
from tests.benchmarks.table import Row
from tests.benchmarks.workers import processes

GRADIENTS, ROUNDS, MOVES = 1000, 7, 40
LIMITS, WORKERS, SPREADS = range(16), range(1, 17), (0.0, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 1.5)
GOAL = 16  # ms: a frame of a browser


def rows() -> Iterator[Row]:
    """Four measurements."""
    e = Experiment(Bowl(), gradients=GRADIENTS)
    places = [
        e.with_(staleness=limit, workers=workers)
        for limit, workers in itertools.product(LIMITS, WORKERS)
    ]
    runners: dict[str, Callable[[], Any]] = {
        "gradlab": lambda: sweep(e, staleness=LIMITS, workers=WORKERS),
        "gradlab, simulated engine": lambda: [simulated.decide(place) for place in places],
    }
    if importlib.util.find_spec("simpy") is not None:
        runners["SimPy, processes"] = lambda: [
            processes(place, place.ticks().tolist()) for place in places
        ]
    else:
        yield Row("phase diagram", "SimPy", note="not installed")
    what = f"{len(places)} configurations x {GRADIENTS:,} gradients"
    yield from _with_events(race(what, runners, ROUNDS), len(places))
    yield from _slider("drop", {"staleness": LIMITS, "workers": WORKERS})
    yield from _slider("wait", {"staleness": LIMITS, "workers": WORKERS})
    yield from _slider("drop", {"staleness": LIMITS, "workers": WORKERS, "spread": SPREADS})


def _with_events(found: Iterator[Row], configurations: int) -> Iterator[Row]:
    for row in found:
        assert row.median is not None
        rate = configurations * GRADIENTS / row.median / 1000
        yield dataclasses.replace(row, note=f"{rate:.3g} M events/s; {row.note}")


def _slider(policy: str, axes: dict[str, Any]) -> Iterator[Row]:
    """The diagram with a straggler who is slower at every call, so that ticks are made anew."""
    slower = itertools.count(1)
    shape = " x ".join(f"{len(values)} {name}" for name, values in axes.items())

    def move() -> None:
        speeds = Speeds(slow={0: 1 + next(slower) / 100})
        sweep(Experiment(Bowl(), policy=policy, gradients=GRADIENTS, speeds=speeds), **axes)

    configurations = math.prod(len(values) for values in axes.values())
    (row,) = _with_events(
        race(f'a slider moves: "{policy}", {shape}', {"gradlab": move}, MOVES), configurations
    )
    goal = f"{GOAL} ms is a frame; " if len(axes) == 2 else ""
    yield dataclasses.replace(row, note=f"{goal}{row.note}")
