"""Conditional accumulators, gradient by gradient: of whole tensors, and of rows."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from ..._base.numbers import are, counted, listed, number, were
from ...live import Description, Menu, Slider
from ...train.accumulators import ConditionalAccumulator, SparseConditionalAccumulator
from ...train.graph import Graph
from ...workers import Speeds
from .._lab import Control, Lab, Target
from .accumulator_picture import AccumulatorView
from .bucket_picture import Arrivals, BucketState
from .rows_picture import MOST_GRADIENTS, MOST_ROWS, RowSums, RowsView

WORKERS, ARRIVALS = 4, 32
NOTES = {
    "read": "the step as they began",
    "never": "nothing: the default, 0",
    "ahead": "always 1,000",
}
_SEED = 5


class Filling(NamedTuple):
    """The first `done` gradients of a story, and what the accumulator holds after them."""

    done: int
    notes: str
    reduction: str
    arrivals: Arrivals
    inside: BucketState

    @property
    def so_far(self) -> Arrivals:
        columns: Any = (column[: self.done] for column in self.arrivals)
        return Arrivals(*columns)

    @property
    def accepted(self) -> int:
        return sum(self.so_far.accepted)


def _more_than_asked(trace: Filling) -> tuple[bool, str]:
    past = trace.so_far
    of_a = [
        (n, needs)
        for n, needs, who in zip(past.count, past.needs, past.served, strict=True)
        if who == "A"
    ]
    best = max((n for n, needs in of_a if needs <= 2), default=0)
    return best >= 5, f"Now the largest of these is of {best}" if best else "Now A has none"


def _mostly_dropped(trace: Filling) -> tuple[bool, str]:
    lost = trace.done - trace.accepted
    good = trace.notes == "read" and trace.done >= 24 and lost >= 0.65 * trace.done
    but = "" if trace.notes == "read" else ", but workers do not note the step they read"
    return good, f"Now {lost} of {trace.done} are dropped{but}"


def accumulators(
    *,
    event: int = 15,
    needs: int = 4,
    pause: int = 0,
    second: int = 2,
    notes: Literal["read", "never", "ahead"] = "read",
    reduction: Literal["MEAN", "SUM"] = "MEAN",
    target: Literal["more", "dropped"] | None = None,
) -> AccumulatorsLab:
    """Four workers hand gradients to an accumulator, and takers in a queue wait for their mean.

    At a glance: A bucket fills until the first taker leaves with the mean; stale gradients fall
    out.

    Taker A asks for `needs` gradients and, once it has its mean, asks again after `pause` more have
    come. Taker B, if there is one, asks again at once. A worker notes the accumulator's step when
    it begins, as it should, or does not.

    Args:
        event: how many gradients have come, 0 to 32.
        needs: how many gradients A asks for, 1 to 4.
        pause: how many gradients come before A asks again, 0 to 12.
        second: how many gradients B asks for, 0 to 3; with 0 there is no B.
        notes: the local step that workers pass: the one that they "read" as they began, "never"
            one, which counts as 0, or always one "ahead", 1,000.
        reduction: what a take gives, the "MEAN" or the "SUM".
        target: a goal that is shown above the picture until it is reached.

    >>> accumulators().description.summary
    'A waits for one more gradient: 3 of 4 are in; 6 of 15 were stale and were dropped.'
    """
    return AccumulatorsLab(
        target,
        event=event,
        needs=needs,
        pause=pause,
        second=second,
        notes=notes,
        reduction=reduction,
    )


class AccumulatorsLab(Lab):
    """Lab of `accumulators`: one accumulator, gradient by gradient."""

    function = "accumulators"
    label = "Filling an accumulator"
    axis = "event"
    presets: ClassVar = {
        "Two rounds": {"needs": 4, "pause": 0, "second": 0, "notes": "read", "event": 11},
        "Forgotten step": {"needs": 3, "pause": 0, "second": 0, "notes": "never", "event": 12},
        "In line": {"needs": 3, "pause": 0, "second": 1, "notes": "read", "event": 1},
        "Steps from the future": {
            "needs": 4,
            "pause": 0,
            "second": 0,
            "notes": "ahead",
            "event": 16,
        },
    }
    targets: ClassVar = {
        "more": Target(
            "give A the mean of at least 5 gradients when it asks for 1 or 2", _more_than_asked
        ),
        "dropped": Target(
            "drop 65% of at least 24 gradients, even though workers note the step they read",
            _mostly_dropped,
        ),
    }

    def make_controls(self) -> list[Control]:
        return [
            Slider("event", "Gradients so far", 0, ARRIVALS, 15, scale="integer", play=True),
            Slider("needs", "A asks for", 1, 4, 4, scale="integer"),
            Slider("pause", "A asks again after", 0, 12, 0, scale="integer", folded=True),
            Slider("second", "B asks for", 0, 3, 2, scale="integer"),
            Menu("notes", "Workers note", list(NOTES.items()), "read"),
            Menu("reduction", "Reduction", ("MEAN", "SUM"), "MEAN", folded=True),
        ]

    def compute(self, values: dict[str, Any]) -> Filling:
        story = tuple(values[name] for name in ("needs", "pause", "second", "notes", "reduction"))
        arrivals, insides = _story(*story)
        return Filling(
            values["event"],
            values["notes"],
            values["reduction"],
            arrivals,
            insides[values["event"]],
        )

    def make_view(self) -> AccumulatorView:
        return AccumulatorView(WORKERS, ARRIVALS)

    def draw(self, view: AccumulatorView, trace: Filling) -> None:
        view.draw(trace.done, trace.so_far, trace.inside, trace.reduction.lower())

    def describe(self, trace: Filling) -> Description:
        now, last = trace.inside, _last(trace)
        queue = ", then ".join(f"{who} needs {needs}" for who, needs in now.queue) or "nobody waits"
        dropped = trace.done - trace.accepted
        return Description(
            alt=f"{counted(trace.done, 'gradient')} of {WORKERS} workers came, {dropped} dropped. "
            f"{last} The step of the accumulator is {now.step}; in it: "
            f"{counted(now.count, 'gradient')}. In line: {queue}.",
            summary=_message(trace),
            table=(
                ("gradients so far", str(trace.done)),
                ("accepted", str(trace.accepted)),
                ("dropped", str(dropped)),
                ("latest gradient", last),
                ("accumulator's step", str(now.step)),
                ("in it now", str(now.count)),
                ("in line", queue),
                *(
                    (f"entry {k + 1}: sum, {trace.reduction.lower()}", _entry(now, k))
                    for k in range(4)
                ),
            ),
        )

    def columns(self, trace: Filling) -> dict[str, np.ndarray]:
        past = trace.so_far
        columns = {"worker": np.array(past.worker, int) + 1, "accepted": np.array(past.accepted)}
        return columns | {
            name: np.array(getattr(past, name))
            for name in ("local_step", "step", "count", "served", "needs")
        }


def _message(trace: Filling) -> str:
    """The first taker, what it waits for or gets, and how many gradients were dropped, if any."""
    now, past = trace.inside, trace.so_far
    lost = trace.done - trace.accepted
    noted = "noted a step that is over and" if trace.notes == "never" else f"{were(lost)} stale and"
    fell = f"; {lost} of {trace.done} {noted} {were(lost)} dropped." if lost else "."
    if trace.done and past.served[-1]:
        return (
            f"{past.served[-1]} gets the {trace.reduction.lower()} of "
            f"{counted(past.count[-1], 'gradient')}{fell}"
        )
    if not now.queue:
        held = (
            f"{counted(now.count, 'gradient')} {are(now.count)} in"
            if now.count
            else "no gradient is in"
        )
        return f"No taker waits: {held}{fell}"
    who, needs = now.queue[0]
    if not now.count:
        return (
            f"{who} waits for {'one gradient' if needs == 1 else f'{needs} gradients'}: none is "
            f"in yet{fell}"
        )
    more = needs - now.count
    missing = "one more gradient" if more == 1 else f"{more} more gradients"
    return f"{who} waits for {missing}: {now.count} of {needs} {are(now.count)} in{fell}"


def _last(trace: Filling) -> str:
    if not trace.done:
        return "Nothing has come yet."
    past = trace.so_far
    text = (
        f"Gradient {trace.done}, worker {past.worker[-1] + 1}, local step "
        f"{past.local_step[-1]} against "
    )
    text += f"{past.step[-1]}: {'accepted' if past.accepted[-1] else 'dropped'}"
    served = past.served[-1]
    return text + (
        f"; {served} gets the {trace.reduction.lower()} of {past.count[-1]}." if served else "."
    )


def _entry(now: BucketState, k: int) -> str:
    return f"{number(now.total[k])}, {number(now.value[k])}" if now.of else "none yet"


@functools.lru_cache(maxsize=256)
def _story(
    needs: int, pause: int, second: int, notes: str, reduction: str
) -> tuple[Arrivals, list[BucketState]]:
    """All arrivals, and what is in the accumulator before the first and after each."""
    accumulator = ConditionalAccumulator(np.float32, [4], reduction_type=reduction)
    takers = Takers(accumulator, {"A": needs, "B": second}, pause)
    began, insides = [0] * WORKERS, [_inside(accumulator, takers, _NOTHING)]
    rows: list[tuple[Any, ...]] = []
    members: list[int] = []
    lost: list[int] = []
    for worker, gradient in _gradients():
        receipt = accumulator.apply_grad(
            gradient, {"read": began[worker], "never": 0, "ahead": 1000}[notes]
        )
        full = _NOTHING + insides[-1].total * bool(insides[-1].count) + gradient * receipt.accepted
        who, value, asked = takers.served()
        began[worker] = accumulator.global_step
        (members if receipt.accepted else lost).append(len(rows))
        rows.append(
            (
                worker,
                receipt.local_step,
                receipt.step,
                receipt.accepted,
                receipt.count,
                who,
                asked,
                gradient,
            )
        )
        now = _inside(accumulator, takers, gradient)._replace(members=(*members,), lost=(*lost,))
        insides.append(now._replace(total=full, value=value, of=receipt.count) if who else now)
        if who:
            members.clear()
            lost.clear()
    return Arrivals(*map(list, zip(*rows, strict=True))), insides


class Takers:
    """Takers that wait at an accumulator, by name. All ask again at once, but A pauses first."""

    def __init__(
        self, accumulator: ConditionalAccumulator, wants: dict[str, int], pause: int
    ) -> None:
        self._accumulator, self._pause, self._idle = accumulator, pause, 0
        self.wants = {who: needs for who, needs in wants.items() if needs}
        self.waiting = {who: accumulator.request(needs) for who, needs in self.wants.items()}

    def served(self) -> tuple[str, np.ndarray, int]:
        """Return who took what since the last gradient, and for how many asked; then let the ready ones ask again."""
        self._idle -= 1
        found = self._done()
        for who, needs in self.wants.items():
            if who not in self.waiting and (who != "A" or self._idle <= 0):
                self.waiting[who] = self._accumulator.request(needs)
        return found if found[0] else self._done()  # A may find enough when it comes back

    def _done(self) -> tuple[str, np.ndarray, int]:
        for who, taker in self.waiting.items():
            if taker.done:
                del self.waiting[who]
                self._idle = self._pause if who == "A" else self._idle
                return who, taker.result(), self.wants[who]
        return "", _NOTHING, 0


_NOTHING = np.zeros(4, np.float32)


def _inside(accumulator: ConditionalAccumulator, takers: Takers, latest: np.ndarray) -> BucketState:
    peek, names = accumulator.peek(), {id(taker): who for who, taker in takers.waiting.items()}
    queue = [(names[id(waiting.taker)], waiting.needs) for waiting in accumulator.why_waiting()]
    total, value = (_NOTHING, _NOTHING) if peek.sum is None else (peek.sum, peek.value)
    return BucketState(peek.step, peek.count, queue, latest, total, value, peek.count)


def _gradients() -> Iterator[tuple[int, np.ndarray]]:
    """(worker, gradient) in the order in which they come: noise around one direction."""
    done = Speeds(median=100, spread=0.35).ticks(_SEED, WORKERS, ARRIVALS).cumsum(axis=1)
    order = np.argsort(done, axis=None, kind="stable")[:ARRIVALS] // ARRIVALS
    rng = np.random.default_rng(_SEED)
    around = np.array([2.0, -1.0, 0.5, 1.5])
    for worker in order.tolist():
        yield worker, np.round(around + rng.normal(0, 0.8, 4), 1).astype(np.float32)


Gradient = tuple[tuple[int, ...], tuple[float, ...]]
CASES: dict[str, tuple[str, tuple[Gradient, ...]]] = {
    "two": ("two that share a row", (((0, 1), (2.0, 4.0)), ((1, 3), (8.0, 6.0)))),
    "words": (
        "words of six sentences",
        (
            ((0, 2), (3.0, 6.0)),
            ((0, 5), (3.0, 4.0)),
            ((0, 1, 2), (6.0, 2.0, 3.0)),
            ((0, 7), (3.0, 8.0)),
            ((1, 0), (4.0, 3.0)),
            ((0, 2, 5), (6.0, 3.0, 4.0)),
        ),
    ),
    "twice": (
        "a row named twice",
        (((1, 1, 4), (2.0, 3.0, 4.0)), ((1, 4), (1.0, 2.0)), ((1, 1, 4), (3.0, 3.0, 3.0))),
    ),
    "unsorted": (
        "unsorted indices",
        (((3, 0), (3.0, 2.0)), ((0, 3), (4.0, 5.0)), ((2, 0), (6.0, 3.0))),
    ),
    "empty": ("an empty gradient", (((2, 6), (4.0, 6.0)), ((), ()), ((2,), (5.0,)))),
}
MERGES = {"gradlab": "merged", "tf": "as TensorFlow does"}


class Taken(NamedTuple):
    """The first gradients of a case, what a take would return, and how rows are merged."""

    case: str
    merge: str
    rows: RowSums


def _three_times(trace: Taken) -> tuple[bool, str]:
    r = trace.rows
    ratios = r.by_row / r.by_gradient
    best = float(ratios.max(initial=0.0))
    return (
        best >= 5.5,
        f"Now they differ by a factor of at most {number(best)}" if best else "Now no row is there",
    )


def sparse_accumulators(
    *,
    event: int = 5,
    case: Literal["two", "words", "twice", "unsorted", "empty"] = "words",
    merge: Literal["gradlab", "tf"] = "gradlab",
    target: Literal["apart"] | None = None,
) -> SparseAccumulatorsLab:
    """Gradients of some rows come to a sparse accumulator; every row has a sum and a count, and there are two means.

    At a glance: A row that few gradients hold has two means, far apart: over those few, or over
    all.

    TensorFlow divides a row by the number of gradients that hold it; a dense accumulator that is
    given the same would divide by the number of all. TensorFlow also assumes that the indices of a
    gradient are sorted and distinct.

    Args:
        event: how many gradients have come, 0 to 6.
        case: which gradients come.
        merge: "gradlab" makes one row of rows with one index, "tf" merges them as TensorFlow does.
        target: a goal that is shown above the picture until it is reached.

    >>> sparse_accumulators(case="two", event=2).description.summary
    'Row 3 is in 1 of 2 gradients: its mean is 6 over that one, 3 over both.'
    """
    return SparseAccumulatorsLab(target, event=event, case=case, merge=merge)


class SparseAccumulatorsLab(Lab):
    """Lab of `sparse_accumulators`: the rows of one accumulator."""

    function = "sparse_accumulators"
    label = "Rows in an accumulator"
    axis = "event"
    presets: ClassVar = {
        "Which gradients have row 3?": {"case": "two", "merge": "gradlab", "event": 2},
        "Rare and frequent words": {"case": "words", "merge": "gradlab", "event": 3},
        "Twice, in TensorFlow": {"case": "twice", "merge": "tf", "event": 3},
        "Unsorted, in TensorFlow": {"case": "unsorted", "merge": "tf", "event": 2},
    }
    targets: ClassVar = {
        "apart": Target(
            "make the two means of one row differ by a factor of at least 5.5", _three_times
        )
    }

    def make_controls(self) -> list[Control]:
        return [
            Slider("event", "Gradients so far", 0, MOST_GRADIENTS, 5, scale="integer", play=True),
            Menu(
                "case",
                "Incoming gradients",
                [(name, words) for name, (words, _) in CASES.items()],
                "words",
            ),
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
        means = [
            f"row {i}: {number(a)} or {number(b)}"
            for i, a, b in zip(r.row, r.by_row, r.by_gradient, strict=True)
        ]
        said = "; ".join(means) or "nothing"
        return Description(
            alt=f"{counted(len(r.given), 'sparse gradient')}, {CASES[trace.case][0]}, "
            f"{MERGES[trace.merge]}. Mean over the gradients that hold a row, and over all "
            f"gradients: {said}.",
            summary=_two_means(r),
            table=(
                ("gradients so far", str(len(r.given))),
                *(
                    (
                        f"row {i}, line {k + 1}",
                        f"sum {number(t)} from {n} of {len(r.given)}: {number(a)} or {number(b)}",
                    )
                    for k, (i, t, n, a, b) in enumerate(zip(*r[1:], strict=True))
                ),
            ),
        )

    def columns(self, trace: Taken) -> dict[str, np.ndarray]:
        return {
            name: np.asarray(column)
            for name, column in trace.rows._asdict().items()
            if name != "given"
        }


def _all(count: int) -> str:
    return "both" if count == 2 else f"all {count}"


def _two_means(r: RowSums) -> str:
    """A row that is returned more than once; else the row whose two means differ most."""
    given = len(r.given)
    if not len(r.row):
        return "No row is there: no gradient has come yet." if not given else "No row is there."
    row = r.row[r.told]
    if r.twice.size:
        values = listed([number(x) for x in r.by_row[r.row == row]], MOST_ROWS)
        return (
            f"TensorFlow returns row {row} more than once, as {values}: it "
            "expects sorted, unique rows."
        )
    held = int(r.held_by[r.told])
    if held == given:
        where = f"Each row is in {_all(given)} gradients" if given > 1 else "There is one gradient"
        return f"{where}: the two means of a row are the same."
    over = "that one" if held == 1 else f"those {held}"
    means = (
        f"its mean is {number(r.by_row[r.told])} over {over}, {number(r.by_gradient[r.told])} "
        f"over {_all(given)}"
    )
    return f"Row {row} is in {held} of {given} gradients: {means}."


@functools.lru_cache(maxsize=64)
def _held(given: tuple[Gradient, ...], merge: str) -> RowSums:
    """Contents of two accumulators, one for each kind of mean, after these gradients."""
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
        return RowSums(given, *[np.zeros(0)] * 5)
    total, by_row_mean = by_row.sum, by_row.value
    return RowSums(
        given,
        total.indices,
        total.values,
        by_row.row_counts,
        by_row_mean.values,
        by_gradient.value.values,
    )
