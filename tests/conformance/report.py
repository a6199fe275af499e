"""How exactly gradlab repeats the golden files, as a table in Markdown.

    python -m tests.conformance.report                  the project's own files
    python -m tests.conformance.report --golden DIR     the files in DIR
    python -m tests.conformance.report --no-jit         without JAX, which compiles for half a minute

One line for each optimizer: the scenarios that run, the arrays they compare, how many of these are
equal to the bit, and the worst deviation of any entry in units in the last place of its array's
largest entry (float32 or whatever it is). A scenario that no adapter can run is not counted; one
that fails shows in the number of those that passed.
"""

from __future__ import annotations

import argparse
import logging
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

import gradlab as gl
from tests.conformance import compare, runner
from tests.conformance.adapters import clip, ops
from tests.conformance.lines import LINES, line
from tests.conformance.scenarios import OWN_GOLDEN, Scenario, Unsupported, load_directory

HEAD = (
    (
        "| what | scenarios | arrays | NumPy: equal bits | worst ulp | jit: "
        "arrays | equal bits | worst ulp |"
    ),
    "|---|---|---|---|---|---|---|---|",
)


@dataclass
class Tally:
    """What was compared on one path."""

    arrays: int = 0
    equal: int = 0
    worst: float = 0.0

    def add(self, pairs: Iterable[compare.Pair]) -> None:
        for want, got in pairs:
            self.arrays += 1
            self.equal += bool(compare.bitwise(want, got).all())
            self.worst = max(self.worst, deviation(want, got))

    def cells(self) -> list[str]:
        if not self.arrays:
            return ["-", "-"]
        return [_share(self.equal, self.arrays), f"{self.worst:.2g}" if self.worst else "0"]


@dataclass
class Row:
    """One line of the table."""

    scenarios: int = 0
    passed: int = 0
    numpy: Tally = field(default_factory=Tally)
    jit: Tally = field(default_factory=Tally)

    def text(self, name: str) -> str:
        count = (
            str(self.passed)
            if self.passed == self.scenarios
            else f"{self.passed} of {self.scenarios}"
        )
        jit = [str(self.jit.arrays or "-"), *self.jit.cells()]
        return f"| {' | '.join([name, count, str(self.numpy.arrays), *self.numpy.cells(), *jit])} |"


def _share(part: int, whole: int) -> str:
    """Rounded down, so that 100 % means all."""
    return f"{np.floor(1000 * part / whole) / 10:g} %"


def deviation(want: np.ndarray, got: np.ndarray) -> float:
    """The largest distance, in ulp of the largest entry; infinite where only one is NaN or
    infinite.
    """
    if want.dtype.kind in "iub" or not want.size:
        return 0.0 if np.array_equal(want, got) else np.inf
    wide = np.complex128 if want.dtype.kind == "c" else np.float64
    a, b = want.astype(wide), got.astype(wide)
    with np.errstate(invalid="ignore"):  # infinity - infinity, where both are
        apart = np.where((a == b) | (np.isnan(a) & np.isnan(b)), 0.0, np.abs(a - b))
    unit = compare.units(np.abs(want)).max()
    worst = np.where(np.isnan(apart), np.inf, apart).max()
    return float(worst) / float(unit)


def table(scenarios: Iterable[Scenario], jit: bool = True) -> list[str]:
    """The table, line by line."""
    rows: dict[str, Row] = {}
    for scenario in scenarios:
        name = line(scenario)
        row = rows.setdefault(name, Row())
        if not _run(lambda: runner.differences(scenario), row, row.numpy):  # noqa: B023
            continue
        if jit and ops.on_jax(scenario):
            _run(lambda: runner.quietly(ops.jax_differences, scenario), Row(), row.jit)  # noqa: B023
        elif jit and clip.on_jax(scenario):
            _run(lambda: runner.quietly(clip.jax_differences, scenario, True), Row(), row.jit)  # noqa: B023
    known = sorted((name for name, row in rows.items() if row.scenarios), key=LINES.index)
    total = Row()
    for name in known:
        _join(total, rows[name])
    return [*HEAD, *(rows[name].text(name) for name in known), total.text("all")]


def _run(differences: Callable[[], list[str]], row: Row, tally: Tally) -> bool:
    """Count one run; False where nobody can run it."""
    with compare.watched() as pairs, gl.variable_collection():
        try:
            found = differences()
        except Unsupported:
            return False
    row.scenarios += 1
    row.passed += not found
    tally.add(pairs)
    return True


def _join(total: Row, row: Row) -> None:
    total.scenarios += row.scenarios
    total.passed += row.passed
    for mine, other in ((total.numpy, row.numpy), (total.jit, row.jit)):
        mine.arrays += other.arrays
        mine.equal += other.equal
        mine.worst = max(mine.worst, other.worst)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.conformance.report", description=__doc__.splitlines()[0]
    )
    parser.add_argument(
        "--golden", metavar="DIR", type=Path, default=OWN_GOLDEN, help="run the files in DIR"
    )
    parser.add_argument("--no-jit", action="store_true", help="leave JAX out")
    options = parser.parse_args(arguments)
    # What it says is compared, not printed.
    logging.getLogger("gradlab").addHandler(logging.NullHandler())
    print("\n".join(table(load_directory(options.golden), jit=not options.no_jit)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
