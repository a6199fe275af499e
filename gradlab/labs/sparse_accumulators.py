"""Sparse gradients in an accumulator: rows that some of them hold, and two ways to take their mean."""

from __future__ import annotations

import functools
from typing import Any, ClassVar, NamedTuple

import numpy as np

from .._asynchrony.accumulators import SparseConditionalAccumulator
from .._variables.graph import Graph
from ..figures.rows import MOST_GRADIENTS, MOST_ROWS, Rows, RowsView
from ..live import Description, Menu, Slider
from ._lab import Control, Lab, Target, plain

Gradient = tuple[tuple[int, ...], tuple[float, ...]]
CASES: dict[str, tuple[str, tuple[Gradient, ...]]] = {
    "two": ("two gradients that share a row", (((0, 1), (2.0, 4.0)), ((1, 3), (8.0, 6.0)))),
    "words": (
        "words of six sentences",
        (
            ((0, 2), (3.0, 6.0)), ((0, 5), (3.0, 4.0)), ((0, 1, 2), (6.0, 2.0, 3.0)), ((0, 7), (3.0, 8.0)),
            ((1, 0), (4.0, 3.0)), ((0, 2, 5), (6.0, 3.0, 4.0)),
        ),
    ),
    "twice": (
        "a row named twice in one gradient",
        (((1, 1, 4), (2.0, 3.0, 4.0)), ((1, 4), (1.0, 2.0)), ((1, 1, 4), (3.0, 3.0, 3.0))),
    ),
    "unsorted": ("indices that are not sorted", (((3, 0), (3.0, 2.0)), ((0, 3), (4.0, 5.0)), ((2, 0), (6.0, 3.0)))),
    "empty": ("an empty gradient", (((2, 6), (4.0, 6.0)), ((), ()), ((2,), (5.0,)))),
}  # fmt: skip
MERGES = {"gradlab": "merged", "tf": "as TensorFlow does"}


class Taken(NamedTuple):
    """The first gradients of a case, what a take would return, and how rows are merged."""

    case: str
    merge: str
    rows: Rows


def _three_times(trace: Taken) -> tuple[bool, str]:
    r = trace.rows
    ratios = r.by_row / r.by_gradient
    best = float(ratios.max(initial=0.0))
    return best >= 5.5, f"The two means of a row differ by {plain(best)} times at most" if best else "Nothing is there"


class sparse_accumulators(Lab):
    """Gradients of some rows come to a sparse accumulator; every row has a sum and a count, and there are two means.

    TensorFlow divides a row by the number of gradients that hold it; a dense accumulator that is given the same would
    divide by the number of all. TensorFlow also believes that the indices of a gradient are sorted and distinct.

    Controls: `event` (how many gradients have come), `case` (two, words, twice, unsorted, empty), `merge` (gradlab:
    rows of one index are one row; tf: merged as TensorFlow does).

    >>> sparse_accumulators(case="two", event=2).description.summary
    '2 gradients, 3 rows. Row 0: 2 or 1; row 1: 6 or 6; row 3: 6 or 3.'
    """

    label = "Rows in an accumulator"
    axis = "event"
    presets: ClassVar = {
        "Who holds row 3?": {"case": "two", "merge": "gradlab", "event": 2},
        "Rare and frequent words": {"case": "words", "merge": "gradlab", "event": 3},
        "Twice, in TensorFlow": {"case": "twice", "merge": "tf", "event": 3},
        "Unsorted, in TensorFlow": {"case": "unsorted", "merge": "tf", "event": 2},
    }
    targets: ClassVar = {"apart": Target("let the two means of a row be 5.5 times apart or more", _three_times)}

    def make_controls(self) -> list[Control]:
        return [
            Slider("event", "Gradients so far", 0, MOST_GRADIENTS, 5, scale="integer", play=True),
            Menu("case", "What comes", [(name, words) for name, (words, _) in CASES.items()], "words"),
            Menu("merge", "Rows of one index", list(MERGES.items()), "gradlab"),
        ]

    def compute(self, values: dict[str, Any]) -> Taken:
        case, merge = values["case"], values["merge"]
        given = CASES[case][1][: values["event"]]
        return Taken(case, merge, _held(given, merge))

    def make_view(self) -> RowsView:
        return RowsView()

    def draw(self, view: RowsView, trace: Taken) -> None:
        view.draw(trace.rows)

    def describe(self, trace: Taken) -> Description:
        r = trace.rows
        means = [f"row {i}: {plain(a)} or {plain(b)}" for i, a, b in zip(r.row, r.by_row, r.by_gradient, strict=True)]
        said = "; ".join(means) or "nothing"
        return Description(
            alt=f"{len(r.given)} sparse gradients, {CASES[trace.case][0]}, {MERGES[trace.merge]}. Mean over the "
            f"gradients that hold a row, and over all gradients: {said}.",
            summary=f"{len(r.given)} gradients, {len(r.row)} rows. {said[:1].upper()}{said[1:]}.",
            table=(
                ("gradients so far", str(len(r.given))),
                *(
                    (f"row {i}, line {k + 1}", f"sum {plain(t)} from {n} of {len(r.given)}: {plain(a)} or {plain(b)}")
                    for k, (i, t, n, a, b) in enumerate(zip(*r[1:], strict=True))
                ),
            ),
        )

    def columns(self, trace: Taken) -> dict[str, np.ndarray]:
        return {name: np.asarray(column) for name, column in trace.rows._asdict().items() if name != "given"}


@functools.lru_cache(maxsize=64)
def _held(given: tuple[Gradient, ...], merge: str) -> Rows:
    """What accumulators with the one and the other mean hold after these gradients."""
    strict = "tf" if merge == "tf" else None
    with Graph().as_default():  # where TensorFlow has them
        both = [
            SparseConditionalAccumulator(np.float32, [MOST_ROWS], mean=mean, strict=strict)
            for mean in ("row", "gradient")
        ]
    for indices, values in given:
        for accumulator in both:
            accumulator.apply_grad(np.array(indices, int), np.array(values, np.float32))
    by_row, by_gradient = (accumulator.peek() for accumulator in both)
    if by_row.sum is None:
        return Rows(given, *[np.zeros(0)] * 5)
    total, by_row_mean = by_row.sum, by_row.value
    return Rows(given, total.indices, total.values, by_row.row_counts, by_row_mean.values, by_gradient.value.values)
