"""Two schedules of one gradient-descent step, stepped side by side."""

from __future__ import annotations

import functools
from typing import Any, ClassVar, Literal

import numpy as np

from ..._base.numbers import number
from ...live import Description, Menu, Slider
from ...train import GATE_GRAPH, GATE_NONE, GATE_OP, GateRace
from ...train.gate import RATE, START, product_race
from .._lab import Control, Lab, Target
from .picture import GateRaceTrace, GateView, Side

GATES = {
    GATE_NONE: ("GATE_NONE", "an update waits for its own gradient only"),
    GATE_OP: ("GATE_OP", "an update waits for the gradients of its operation"),
    GATE_GRAPH: ("GATE_GRAPH", "an update waits for all gradients"),
}
# What a scheduler would like to run, first choice first; the gate decides when it may.
_A_FIRST = ("gradient a", "update a", "gradient b", "update b")
_B_FIRST = ("gradient b", "update b", "gradient a", "update a")
_GRADIENTS_FIRST = ("gradient a", "gradient b", "update a", "update b")
SCHEDULES: dict[str, tuple[int, tuple[str, ...], str]] = {
    "none_b": (GATE_NONE, _B_FIRST, "update b overtakes"),
    "none_a": (GATE_NONE, _A_FIRST, "update a overtakes"),
    "none_lucky": (GATE_NONE, _GRADIENTS_FIRST, "lucky order"),
    "op_b": (GATE_OP, _B_FIRST, "update b must wait"),
    "op_a": (GATE_OP, _A_FIRST, "update a must wait"),
    "graph_b": (GATE_GRAPH, _B_FIRST, "update b must wait"),
}

Schedule = Literal["none_b", "none_a", "none_lucky", "op_b", "op_a", "graph_b"]


def _b_is_wrong(race: GateRaceTrace) -> tuple[bool, str]:
    wrong = race.first.raced
    return wrong == ("b",), f"Now {wrong[0]} is wrong" if wrong else "Now nothing is wrong"


def gate_race(
    *,
    step: int = 4,
    first: Schedule = "none_b",
    second: Schedule = "op_b",
    target: Literal["b_wrong"] | None = None,
) -> GateRaceLab:
    """Step through two schedules of the same gradient-descent step, and see an update overtake a gradient.

    At a glance: Without a gate an update overtakes a gradient, which then reads the new weights.

    The loss is sum(a @ b). A schedule is a scheduler, which would like to be done with one variable
    before it begins with the other, and a gate, which decides what may run.

    Args:
        step: how many of the four tasks have run, 0 to 4.
        first: the first schedule: its gate (none, op, graph) and the variable that its scheduler
            begins with (a, b); "none_lucky" runs both gradients first.
        second: the second schedule.
        target: a goal that is shown above the picture until it is reached.

    >>> gate_race(step=4).description.summary
    'Without a gate, a is wrong: its gradient read the new b; with GATE_OP, a and b are right.'
    """
    return GateRaceLab(target, step=step, first=first, second=second)


class GateRaceLab(Lab):
    """Lab of `gate_race`: two schedules of one step, task by task."""

    function = "gate_race"
    label = "The gate race"
    axis = "step"
    presets: ClassVar = {
        "TensorFlow race": {"first": "none_b", "second": "op_b", "step": 4},
        "The other race": {"first": "none_a", "second": "op_a", "step": 2},
        "Luck": {"first": "none_b", "second": "none_lucky", "step": 4},
        "Two gates": {"first": "op_b", "second": "graph_b", "step": 1},
    }
    targets: ClassVar = {
        "b_wrong": Target("make the first schedule compute a wrong b", _b_is_wrong)
    }

    def make_controls(self) -> list[Control]:
        options = [(name, _in_menu(name)) for name in SCHEDULES]
        return [
            Slider("step", "Tasks done", 0, 4, 4, scale="integer", play=True),
            Menu("first", "First schedule", options, "none_b"),
            Menu("second", "Second schedule", options, "op_b"),
        ]

    def compute(self, values: dict[str, Any]) -> GateRaceTrace:
        first, second = (_side(values[name], values["step"]) for name in ("first", "second"))
        both = ~np.isnan(first.numbers) & ~np.isnan(second.numbers)
        return GateRaceTrace(
            values["step"], first, second, both & (first.numbers != second.numbers)
        )

    def make_view(self) -> GateView:
        return GateView(np.array([*START.values()]), RATE)

    def describe(self, trace: GateRaceTrace) -> Description:
        sides, differ = _sides(trace), int(trace.differs[:, 2].sum())
        all_said = [
            f"{name.capitalize()} ({side.title}): {_aloud(side)}." for name, side in sides.items()
        ]
        return Description(
            alt=f"{trace.step} of the 4 tasks of a step on sum(a @ b) have run. "
            f"{' '.join(all_said)} {differ} of the 8 new values differ.",
            summary=_message(trace),
            table=(
                ("tasks done", f"{trace.step} of 4"),
                ("new values that differ", f"{differ} of 8"),
                *(row for name, side in sides.items() for row in _table(name, side)),
            ),
        )

    def columns(self, trace: GateRaceTrace) -> dict[str, np.ndarray]:
        row, column = np.indices((2, 2)).reshape(2, -1)
        numbers = {
            f"{name}_{what.replace(' ', '_')}": x.ravel()
            for name, side in _sides(trace).items()
            for what, x in _matrices(side).items()
        }
        return {"row": row, "column": column} | numbers


@functools.cache
def _ran(schedule: str) -> tuple[GateRace, list[str | None]]:
    """The race of a schedule, run to its end, and what the gate held back after 0, 1, ... tasks."""
    gate, wishes, _ = SCHEDULES[schedule]
    race, waits = product_race(gate), []
    while race.ready:
        wish = next(task for task in wishes if task not in race.done)
        waits.append(None if wish in race.ready else wish)
        race.run(next(task for task in wishes if task in race.ready))
    return race, [*waits, None]


def _side(schedule: str, step: int) -> Side:
    """A schedule after `step` tasks."""
    race, waits = _ran(schedule)
    numbers, reads = np.full((2, 3, 2, 2), np.nan, np.float32), {}
    numbers[:, 0] = list(START.values())
    for event in race.events[:step]:
        kind, v = event.task.split()
        numbers["ab".index(v), ("gradient", "update").index(kind) + 1] = event.result
        if kind == "gradient":
            (other,) = race.reads[v]
            reads[v] = other, other in event.saw_updated
    last_gradient = max(race.done.index(f"gradient {v}") for v in START)
    side = Side(
        title=_title(schedule),
        rule=GATES[race.gate_gradients][1],
        order=race.done,
        done=step,
        waits=waits[step],
        gate_opens=None if race.gate_gradients == GATE_NONE else last_gradient + 1,
        reads=reads,
        numbers=numbers,
        told="",
        outcome="",
        alarm=False,
    )
    outcome, alarm = _outcome(side)
    return side._replace(told=_told(side), outcome=outcome, alarm=alarm)


def _told(side: Side) -> str:
    """Return what the last task did, with its first entry as an example."""
    if not side.done:
        return f"the scheduler begins with {side.order[0]}"
    task = side.order[side.done - 1]
    v = task[-1]
    before, gradient, after = (number(x) for x in side.numbers["ab".index(v), :, 0, 0])
    if task.startswith("update"):
        return f"{task} gives {after} = {before} - {RATE:g} * {gradient}"
    other, new = side.reads[v]
    read = side.numbers["ab".index(other), 2 if new else 0]
    terms = " + ".join(number(x) for x in (read[0] if v == "a" else read[:, 0]))
    return f"{task} is {gradient} = {terms}, from the {'new' if new else 'old'} {other}"


def _outcome(side: Side) -> tuple[str, bool]:
    """Return what is good or bad about it, and whether it is bad."""
    if side.waits:
        return f"{side.waits} waits at the gate", False
    to_come = side.order[side.done :]
    if not to_come:
        wrong = [f"{v} is wrong, its gradient read the new {side.reads[v][0]}" for v in side.raced]
        return (wrong[0], True) if wrong else ("a and b are right", False)
    late = [task for task in to_come if task.startswith("gradient")]
    if late and side.done and side.order[side.done - 1].startswith("update"):
        return f"but {late[0]} has not been computed yet", True
    return "", False


def _title(schedule: str) -> str:
    gate, _, words = SCHEDULES[schedule]
    return f"{GATES[gate][0]}, {words}"


def _in_menu(schedule: str) -> str:
    """The title, shortened for a menu."""
    return _title(schedule).replace(GATES[GATE_NONE][0], "No gate").replace("update ", "")


def _message(trace: GateRaceTrace) -> str:
    """Say what happens in both schedules, or in which it goes otherwise."""
    sides = trace.first, trace.second
    first, second = map(_status, sides)
    if first == second:
        return f"Either way, {first}."
    if not trace.step:
        return (
            f"The first schedule begins with {trace.first.order[0]}, the second with "
            f"{trace.second.order[0]}."
        )
    gates = [side.title.partition(", ")[0] for side in sides]
    where = ["in the first", "in the second"]
    if gates[0] != gates[1]:
        where = [
            "without a gate" if gate == GATES[GATE_NONE][0] else f"with {gate}" for gate in gates
        ]
    said = f"{where[0]}, {first}; {where[1]}, {second}."
    return said[0].upper() + said[1:]


def _status(side: Side) -> str:
    """Say in a few words where a schedule is."""
    if not side.done:
        return f"the scheduler begins with {side.order[0]}"
    if side.waits or side.done == len(side.order):
        return side.outcome.replace(", its", ": its")
    task = side.order[side.done - 1]
    if task.startswith("gradient"):
        other, new = side.reads[task[-1]]
        return f"{task} reads the {'new' if new else 'old'} {other}"
    late = next((name for name in side.order[side.done :] if name.startswith("gradient")), None)
    return f"{task} overtakes {late}" if late else f"{task} comes after both gradients"


def _sides(trace: GateRaceTrace) -> dict[str, Side]:
    return {"first": trace.first, "second": trace.second}


def _aloud(side: Side) -> str:
    """The lines below a panel as one."""
    return ", ".join(filter(None, (side.told, side.outcome)))


def _matrices(side: Side) -> dict[str, np.ndarray]:
    """The variables as they are now and the gradients so far, by name."""
    before, gradient, after = np.moveaxis(side.numbers, 1, 0)
    now = np.where(np.isnan(after), before, after)
    return {"a": now[0], "b": now[1], "gradient a": gradient[0], "gradient b": gradient[1]}


def _table(name: str, side: Side) -> list[tuple[str, str]]:
    rows = [
        (f"{name} schedule", side.title),
        (f"{name} has run", ", ".join(side.order[: side.done]) or "nothing"),
    ]
    for what, x in _matrices(side).items():
        shown = "; ".join(" ".join(map(number, row)) for row in x)
        rows.append((f"{name} {what}", "not computed yet" if np.isnan(x).any() else shown))
    return rows
