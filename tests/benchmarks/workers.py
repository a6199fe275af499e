"""Decisions of one long run in virtual time, beside SimPy's processes.

An event is one gradient handed in and the next one's read. SimPy is given the ticks, which gradlab
draws itself, and it keeps nothing but the step, where gradlab leaves a trace.
"""

from __future__ import annotations

import dataclasses
import importlib.util
from collections.abc import Callable, Iterator
from typing import Any

from gradlab.workers import Bowl, Experiment, simulated
from tests.benchmarks.race import race
from tests.benchmarks.table import Row

GRADIENTS, WORKERS, ROUNDS = 200_000, 16, 7
OTHERS: dict[str, dict[str, Any]] = {
    '"wait"': {"policy": "wait"},
    '"backup"': {"policy": "backup", "aggregate": 12},
    '"drop" with both races': {"atomic": False, "step_first": False, "gradients": GRADIENTS // 10},
}


def rows() -> Iterator[Row]:
    """Plain runs, the first beside its peer; then one with races, which is decided move by move."""
    e = Experiment(Bowl(), workers=WORKERS, gradients=GRADIENTS, staleness=4)
    runners: dict[str, Callable[[], Any]] = {"gradlab": lambda: simulated.decide(e)}
    if importlib.util.find_spec("simpy") is not None:
        ticks = e.ticks(GRADIENTS // WORKERS + 1000).tolist()
        updates = simulated.decide(e).updates
        # At the same tick SimPy lets another one go first.
        assert abs(processes(e, ticks) - updates) < updates / 100
        runners["SimPy, processes"] = lambda: processes(e, ticks)
    else:
        yield Row("simulated run", "SimPy", note="not installed")
    yield from _with_events(race(_what(e, '"drop"'), runners, ROUNDS), e)
    for name, settings in OTHERS.items():
        other = e.with_(**settings)
        yield from _with_events(
            race(_what(other, name), {"gradlab": lambda e=other: simulated.decide(e)}, ROUNDS),
            other,
        )


def _what(e: Experiment, name: str) -> str:
    return f"{e.workers} workers, {e.gradients:,} gradients, {name}"


def _with_events(found: Iterator[Row], e: Experiment) -> Iterator[Row]:
    for row in found:
        assert row.median is not None
        yield dataclasses.replace(
            row, note=f"{e.gradients / row.median / 1000:.2f} M events/s; {row.note}"
        )


def processes(e: Experiment, ticks: list[list[int]]) -> int:
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
