"""The one table that all benchmarks fill."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

HEAD = ("what", "who", "median ms", "p95 ms", "ratio", "frames/s", "settle ms", "note")


@dataclass(frozen=True)
class Row:
    """One line; what was not measured stays empty. `ratio` is this row's median over gradlab's."""

    what: str
    who: str
    median: float | None = None
    p95: float | None = None
    ratio: float | None = None
    frames: float | None = None
    settle: float | None = None
    note: str = ""

    def cells(self) -> tuple[str, ...]:
        numbers = (_short(n) for n in (self.median, self.p95, self.ratio, self.frames, self.settle))
        return (self.what, self.who, *numbers, self.note)


def _short(number: float | None) -> str:
    if number is None:
        return ""
    return f"{number:.2f}" if number < 10 else f"{number:.1f}"


def percentile(values: Sequence[float], percent: float) -> float:
    """The value that `percent` % do not exceed, between neighbours if need be.

    >>> percentile([1.0, 2.0, 3.0], 50)
    2.0
    """
    ordered, place = sorted(values), (len(values) - 1) * percent / 100
    low = int(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (place - low) * (ordered[high] - ordered[low])


def line(cells: Iterable[str]) -> str:
    """One row in Markdown."""
    return f"| {' | '.join(cells)} |"


def head() -> str:
    """The two lines above the rows."""
    return f"{line(HEAD)}\n{line('---' for _ in HEAD)}"
