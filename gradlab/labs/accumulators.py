"""A conditional accumulator, gradient by gradient."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any, ClassVar, NamedTuple

import numpy as np

from .._asynchrony.accumulators import ConditionalAccumulator
from ..figures.accumulator import AccumulatorView, Arrivals, Inside
from ..live import Description, Menu, Slider
from ..workers import Speeds
from ._lab import Control, Lab, Target, plain

WORKERS, ARRIVALS = 4, 32
NOTES = {
    "read": "the accumulator's step, when it began",
    "never": "nothing: the default, 0",
    "ahead": "always 1000",
}
_SEED = 5


class Filling(NamedTuple):
    """The first `done` gradients of a story, and what the accumulator holds after them."""

    done: int
    notes: str
    reduction: str
    arrivals: Arrivals
    inside: Inside

    @property
    def so_far(self) -> Arrivals:
        columns: Any = (column[: self.done] for column in self.arrivals)
        return Arrivals(*columns)

    @property
    def kept(self) -> int:
        return sum(self.so_far.kept)


def _more_than_asked(trace: Filling) -> tuple[bool, str]:
    past = trace.so_far
    of_a = [(n, needs) for n, needs, who in zip(past.count, past.needs, past.served, strict=True) if who == "A"]
    best = max((n for n, needs in of_a if needs <= 2), default=0)
    said = f"The most that A got when it asked for 1 or 2 is {best}" if best else "A has got nothing for 1 or 2 yet"
    return best >= 5, said


def _mostly_dropped(trace: Filling) -> tuple[bool, str]:
    lost = trace.done - trace.kept
    good = trace.notes == "read" and trace.done >= 24 and lost >= 0.65 * trace.done
    return good, f"{lost} of {trace.done} are dropped now"


class accumulators(Lab):
    """Four workers hand gradients to an accumulator, and takers in a queue wait for their mean.

    Taker A asks for `needs` gradients and, once it has its mean, asks again after `pause` more have come. Taker B, if
    there is one, asks again at once. A worker notes the accumulator's step when it begins, as it should, or does not.

    Controls: `event` (how many gradients have come), `needs`, `pause`, `second` (what B asks for; 0 is nobody), `notes`
    (read, never, ahead: the local step that workers pass), `reduction` (MEAN, SUM).

    >>> accumulators(needs=3, event=3).description.summary
    'Gradient 3, worker 2, local step 0 against 0: kept; A gets the mean of 3. The step is 1, 0 are there.'
    """

    label = "Filling an accumulator"
    axis = "event"
    presets: ClassVar = {
        "Two rounds": {"needs": 4, "pause": 0, "second": 0, "notes": "read", "event": 9},
        "Forgotten step": {"needs": 3, "pause": 0, "second": 0, "notes": "never", "event": 12},
        "In line": {"needs": 3, "pause": 0, "second": 1, "notes": "read", "event": 1},
        "Steps from the future": {"needs": 4, "pause": 0, "second": 0, "notes": "ahead", "event": 16},
    }
    targets: ClassVar = {
        "more": Target("let A get the mean of 5 gradients or more while it asks for 1 or 2", _more_than_asked),
        "dropped": Target("have 65 % of 24 or more gradients dropped, though steps are noted as read", _mostly_dropped),
    }

    def make_controls(self) -> list[Control]:
        return [
            Slider("event", "Gradients so far", 0, ARRIVALS, 9, scale="integer", play=True),
            Slider("needs", "A asks for", 1, 4, 3, scale="integer"),
            Slider("pause", "A asks again after", 0, 12, 0, scale="integer"),
            Slider("second", "B asks for", 0, 3, 0, scale="integer"),
            Menu("notes", "Workers note", list(NOTES.items()), "read"),
            Menu("reduction", "Reduction", ("MEAN", "SUM"), "MEAN"),
        ]

    def compute(self, values: dict[str, Any]) -> Filling:
        story = tuple(values[name] for name in ("needs", "pause", "second", "notes", "reduction"))
        arrivals, insides = _story(*story)
        return Filling(values["event"], values["notes"], values["reduction"], arrivals, insides[values["event"]])

    def make_view(self) -> AccumulatorView:
        return AccumulatorView(WORKERS, ARRIVALS)

    def draw(self, view: AccumulatorView, trace: Filling) -> None:
        view.draw(trace.done, trace.so_far, trace.inside)

    def describe(self, trace: Filling) -> Description:
        now, last = trace.inside, _last(trace)
        queue = ", then ".join(f"{who} needs {needs}" for who, needs in now.queue) or "nobody waits"
        dropped = trace.done - trace.kept
        return Description(
            alt=f"{trace.done} gradients of {WORKERS} workers have come, {dropped} were dropped. {last} The step "
            f"of the accumulator is {now.step}; {now.count} gradients are in it. In line: {queue}.",
            summary=f"{last} The step is {now.step}, {now.count} are there.",
            table=(
                ("gradients so far", str(trace.done)),
                ("kept", str(trace.kept)),
                ("dropped", str(dropped)),
                ("accumulator's step", str(now.step)),
                ("in it now", str(now.count)),
                ("in line", queue),
                *((f"entry {k + 1}: sum, {trace.reduction.lower()}", _entry(now, k)) for k in range(4)),
            ),
        )

    def columns(self, trace: Filling) -> dict[str, np.ndarray]:
        columns = {name: np.array(column) for name, column in trace.so_far._asdict().items() if name != "gradient"}
        return columns | {"worker": np.array(trace.so_far.worker, int) + 1}


def _last(trace: Filling) -> str:
    if not trace.done:
        return "Nothing has come yet."
    past = trace.so_far
    text = f"Gradient {trace.done}, worker {past.worker[-1] + 1}, local step {past.local_step[-1]} against "
    text += f"{past.step[-1]}: {'kept' if past.kept[-1] else 'dropped'}"
    served = past.served[-1]
    return text + (f"; {served} gets the {trace.reduction.lower()} of {past.count[-1]}." if served else ".")


def _entry(now: Inside, k: int) -> str:
    return f"{plain(now.total[k])}, {plain(now.value[k])}" if now.of else "none yet"


@functools.lru_cache(maxsize=256)
def _story(needs: int, pause: int, second: int, notes: str, reduction: str) -> tuple[Arrivals, list[Inside]]:
    """All arrivals, and what is in the accumulator before the first and after each."""
    accumulator = ConditionalAccumulator(np.float32, [4], reduction_type=reduction)
    takers = Takers(accumulator, {"A": needs, "B": second}, pause)
    began, rows, insides = [0] * WORKERS, [], [_inside(accumulator, takers, _NOTHING)]
    for worker, gradient in _gradients():
        receipt = accumulator.apply_grad(gradient, {"read": began[worker], "never": 0, "ahead": 1000}[notes])
        full = _NOTHING + insides[-1].total * bool(insides[-1].count) + gradient * receipt.accepted
        who, value, asked = takers.served()
        began[worker] = accumulator.global_step
        rows.append((worker, receipt.local_step, receipt.step, receipt.accepted, receipt.count, who, asked, gradient))
        now = _inside(accumulator, takers, gradient)
        insides.append(now._replace(total=full, value=value, of=receipt.count) if who else now)
    return Arrivals(*map(list, zip(*rows, strict=True))), insides


class Takers:
    """Who waits at an accumulator, by name. All ask again at once, but A pauses first."""

    def __init__(self, accumulator: ConditionalAccumulator, wants: dict[str, int], pause: int) -> None:
        self._accumulator, self._pause, self._idle = accumulator, pause, 0
        self.wants = {who: needs for who, needs in wants.items() if needs}
        self.waiting = {who: accumulator.request(needs) for who, needs in self.wants.items()}

    def served(self) -> tuple[str, np.ndarray, int]:
        """Who has got what since the last gradient and had asked for how many; then those who are ready ask again."""
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


def _inside(accumulator: ConditionalAccumulator, takers: Takers, latest: np.ndarray) -> Inside:
    peek, names = accumulator.peek(), {id(taker): who for who, taker in takers.waiting.items()}
    queue = [(names[id(waiting.taker)], waiting.needs) for waiting in accumulator.why_waiting()]
    total, value = (_NOTHING, _NOTHING) if peek.sum is None else (peek.sum, peek.value)
    return Inside(peek.step, peek.count, queue, latest, total, value, peek.count)


def _gradients() -> Iterator[tuple[int, np.ndarray]]:
    """(worker, gradient) in the order in which they come: noise around one direction."""
    done = Speeds(median=100, spread=0.35).ticks(_SEED, WORKERS, ARRIVALS).cumsum(axis=1)
    order = np.argsort(done, axis=None, kind="stable")[:ARRIVALS] // ARRIVALS
    rng = np.random.default_rng(_SEED)
    around = np.array([2.0, -1.0, 0.5, 1.5])
    for worker in order.tolist():
        yield worker, np.round(around + rng.normal(0, 0.8, 4), 1).astype(np.float32)
