"""Decisions of one long run in virtual time, beside SimPy's processes.

An event is one gradient handed in and the next one's read. SimPy is given the ticks, which gradlab draws itself, and it
keeps nothing but the step, where gradlab leaves a trace.
"""

from __future__ import annotations

import dataclasses
import importlib.util
from collections.abc import Callable, Iterator
from typing import Any

from gradlab.workers import Bowl, Experiment, simulated

from .race import race
from .table import Row

GRADIENTS, WORKERS, ROUNDS = 200_000, 16, 7
OTHERS: dict[str, dict[str, Any]] = {
    '"wait"': {"policy": "wait", "staleness": 4},
    '"backup"': {"policy": "backup", "aggregate": 12},
    "both races": {"atomic": False, "step_first": False},
}


def rows() -> Iterator[Row]:
    """The plain case, which is decided at once, beside its peer; then those that are decided one by one."""
    e = Experiment(Bowl(), workers=WORKERS, gradients=GRADIENTS, staleness=4)
    runners: dict[str, Callable[[], Any]] = {
        "gradlab": lambda: simulated.decide(e),
        "gradlab, one by one": lambda: simulated.one_by_one(e),
    }
    if importlib.util.find_spec("simpy") is not None:
        ticks = e.ticks(GRADIENTS // WORKERS + 1000).tolist()
        updates = simulated.decide(e).updates
        assert abs(_processes(e, ticks) - updates) < updates / 100  # at the same tick SimPy lets another one go first
        runners["SimPy, processes"] = lambda: _processes(e, ticks)
    else:
        yield Row("simulated run", "SimPy", note="not installed")
    yield from _with_events(race(f'{WORKERS} workers, {GRADIENTS:,} gradients, "drop"', runners, ROUNDS))
    for name, settings in OTHERS.items():
        other = e.with_(**settings)
        yield from _with_events(race(f"the same, {name}", {"gradlab": lambda e=other: simulated.decide(e)}, 3))


def _with_events(found: Iterator[Row]) -> Iterator[Row]:
    for row in found:
        assert row.median is not None
        yield dataclasses.replace(row, note=f"{GRADIENTS / row.median / 1000:.2f} M events/s; {row.note}")


def _processes(e: Experiment, ticks: list[list[int]]) -> int:
    """How many gradients SimPy's form of the same experiment accepts."""
    import simpy

    environment, done = simpy.Environment(), 0
    end, step = environment.event(), 0

    def worker(ticks: list[int]) -> Iterator[Any]:
        nonlocal done, step
        for time in ticks:
            read = step
            yield environment.timeout(time)
            if done < e.gradients:
                step += step - read <= e.staleness
                done += 1
                if done == e.gradients:
                    end.succeed()

    for of_one in ticks:
        environment.process(worker(of_one))
    environment.run(until=end)
    return step
