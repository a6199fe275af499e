"""Contestants in turns, in one process."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator
from typing import Any

from tests.benchmarks.table import Row, percentile

Runner = Callable[[], Any]


def race(
    what: str,
    runners: dict[str, Runner],
    rounds: int,
    warm: int = 3,
    clock: Callable[[], float] = time.perf_counter,
) -> Iterator[Row]:
    """Run them in turns, A B A B, so that whatever disturbs the machine disturbs all; "gradlab" is
    the measure.
    """
    times: dict[str, list[float]] = {name: [] for name in runners}
    for round_ in range(rounds + warm):
        for name, run in runners.items():
            start = clock()
            run()
            if round_ >= warm:  # the first ones compile
                times[name].append(1000 * (clock() - start))
    ours = statistics.median(times["gradlab"])
    for name, found in times.items():
        median = statistics.median(found)
        yield Row(
            what,
            name,
            median,
            percentile(found, 95),
            median / ours,
            note=f"{rounds} rounds in turns",
        )
