"""How long a reader waits for the first picture: from "run all" on a fresh kernel of a warm server
to pixels.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator, Sequence

from tests.benchmarks.contestants import CONTESTANTS, Contestant
from tests.benchmarks.notebooks import Opener, each
from tests.benchmarks.table import Row

# After one that is not counted: in it the browser compiles, and files are read for the first time.
ROUNDS = 5
WHAT = "run all to first picture"
FIRST = "() => window.watched.frames[0] ?? null"


def rows(contestants: Sequence[Contestant] = CONTESTANTS) -> Iterator[Row]:
    """Measure each contestant that is installed; name the ones that are not."""
    yield from each(WHAT, contestants, lambda _, open_it: _wait(open_it), _row, rounds=1 + ROUNDS)


def _row(name: str, waits: list[float]) -> Row:
    counted = waits[1:]
    return Row(
        WHAT,
        name,
        statistics.median(counted),
        max(counted),
        note=f"{ROUNDS} rounds in turns; the worst as p95",
    )


def _wait(open_it: Opener) -> float:
    """Milliseconds for one fresh kernel."""
    with open_it() as notebook:
        page = notebook.page
        page.evaluate("() => { window.watched.frames.length = 0 }")
        start = page.evaluate("performance.now()")
        notebook.run_all()
        end = time.monotonic() + 30
        while (first := page.evaluate(FIRST)) is None:
            if time.monotonic() > end:
                return float("nan")
            time.sleep(0.02)
        return float(first - start)
