"""Which states of a LiveFigure are recorded when it is saved as a page.

A page holds sheets: the figure as it opens, with its axis whole and menus as far as they fit; the
axis and one more control beside it, coarser; and, for each preset that is in none of these, the
axis beside that preset. A reader goes from sheet to sheet by presets, and within a sheet by
controls.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from .controls import Button, Menu, Toggle, Valued
from .sliders import Range, Slider
from .state import FigureState

MOST_STATES = 500  # so that saving takes seconds, not minutes
FEWEST_PLACES = (
    # Of the axis, or all, if menus and toggles are to move as well: neighbors are alike, and cost
    # little.
    60
)
COARSE, BESIDE = 9, 7  # places of a second control, and of the axis beside it
PAIR = 7  # places of each of two sliders that one handle moves
MOST_OPTIONS = 12  # of a menu that is a second control

Values = dict[str, Any]


@dataclass(frozen=True)
class Sheet:
    """Every combination of the values of some controls; the others stay where they are.

    Args:
        base: of all controls.
        moving: the values of those that move, by name.
    """

    base: Values
    moving: Mapping[str, Sequence[Any]]

    @property
    def count(self) -> int:
        """The number of states."""
        return math.prod(map(len, self.moving.values()))

    def states(self) -> Iterator[Values]:
        """Give the values of all controls, state by state; the first of those that move changes fastest."""
        slowest_first = list(self.moving)[::-1]
        for chosen in itertools.product(*(self.moving[name] for name in slowest_first)):
            yield self.base | dict(zip(slowest_first, chosen, strict=True))

    def holds(self, values: Mapping[str, Any]) -> bool:
        """Tell whether a state of all controls is in it."""
        return all(
            value in self.moving.get(name, [self.base[name]]) for name, value in values.items()
        )


@dataclass(frozen=True)
class Grid:
    """The states of a page: sheets, the one in which it opens first.

    Args:
        controls: all that hold a value, as the page shows them.
        axis: the name of the main one, if there is one.
    """

    controls: Mapping[str, Valued]
    axis: str | None
    sheets: Sequence[Sheet]

    def states(self) -> list[Values]:
        """Give the values of all controls, state by state and each state once."""
        found = {
            tuple(values.values()): values for sheet in self.sheets for values in sheet.states()
        }
        return [*found.values()]

    def holds(self, values: Mapping[str, Any]) -> bool:
        """Tell whether a state of all controls is in it."""
        return any(sheet.holds(values) for sheet in self.sheets)

    @cached_property
    def moving(self) -> dict[str, list[Any]]:
        """The values between which a reader moves each control, by name; the opening sheet's come with those beside."""
        opening, *others = self.sheets
        found: dict[str, set[Any]] = {name: set(values) for name, values in opening.moving.items()}
        for sheet in others:
            for name in sheet.moving:
                if name not in found or sheet.base == opening.base:
                    found.setdefault(name, set()).update(sheet.moving[name])
        return {
            name: _in_order(self.controls[name], found[name])
            for name in self.controls
            if name in found
        }

    def specs(self) -> list[dict[str, Any]]:
        """Describe the controls for the browser: those that never change in the page are not shown."""
        moving, states = self.moving, self.states()
        return [
            _spec(c, moving.get(name), {state[name] for state in states})
            for name, c in self.controls.items()
        ]

    def key(self, values: Mapping[str, Any]) -> str:
        """Name a state as the browser does, by the places that these controls have in the page."""
        moving = self.moving
        return ",".join(
            _place(c, values[name], moving[name])
            if isinstance(c, Slider) and name in moving
            else c.key(values[name])
            for name, c in self.controls.items()
        )


def _spec(control: Valued, places: list[Any] | None, taken: set[Any]) -> dict[str, Any]:
    spec = control.spec()
    if places is None:
        return (
            spec | {"fixed": True} | ({"hidden": True, "folded": False} if len(taken) == 1 else {})
        )
    return spec | (
        {"places": places, "count": len(places) - 1} if isinstance(control, Slider) else {}
    )


def _place(slider: Slider, value: float, places: Sequence[float]) -> str:
    return str(places.index(value)) if value in places else slider.between(value)


def grid(
    figure: FigureState, most: int, within: Mapping[str, tuple[float, float]] | None = None
) -> Grid:
    """Give the grid with at most so many states, but with every preset in any case.

    `within` has the ends that sliders keep, by name.
    """
    controls: dict[str, Any] = {
        name: c for name, c in figure.controls.items() if not isinstance(c, Button)
    }
    controls |= {name: replace(c, value=figure.values[name]) for name, c in controls.items()}
    controls |= {name: shortened(controls[name], *ends) for name, ends in (within or {}).items()}
    axis = figure.axis
    presets = [{**figure.values, **preset.values} for preset in figure.presets]
    wanted = [
        values
        for values in presets
        if all(_reaches(controls[name], value) for name, value in values.items())
    ]
    room = most if not wanted else max(most * 3 // 4, 1)
    sheets = [_opening(controls, axis, dict(figure.values), wanted, room)]
    for base in wanted:
        if not any(sheet.holds(base) for sheet in sheets):
            places = max((most - room) // len(wanted), 1)
            whole = _whole(sheets[0], axis)
            sheets.append(
                Sheet(base, {name: spread(whole[name], places, [base[name]]) for name in whole})
            )
    left = most - sum(sheet.count for sheet in sheets)
    for names in _seconds(controls, sheets[0], figure):
        sheet = _beside(controls, axis, sheets[0], names)
        if sheet.count <= left:
            sheets.append(sheet)
            left -= sheet.count
    return Grid(controls, axis, sheets)


def _opening(
    controls: Mapping[str, Any],
    axis: str | None,
    base: Values,
    presets: Sequence[Values],
    most: int,
) -> Sheet:
    """The sheet in which the page opens: the axis, and menus and toggles that fit beside it."""
    slider = controls[axis] if axis and isinstance(controls[axis], Slider) else None
    choices = [c for c in controls.values() if isinstance(c, Menu | Toggle)]
    choices.sort(key=lambda control: (control.name != axis, control.folded))
    reached = [base] + [
        p
        for p in presets
        if all(p[n] == base[n] for n, c in controls.items() if c not in choices and n != axis)
    ]
    count = slider.count + 1 if slider else 1
    step, menus = next(resolutions(count, [len(c.values()) for c in choices], most))
    values = (
        {slider.name: some(slider, -(-count // step), [one[slider.name] for one in reached])}
        if slider
        else {}
    )
    return Sheet(base, values | {c.name: c.values() for c in choices[:menus]})


def _seconds(
    controls: Mapping[str, Any], opening: Sheet, figure: FigureState
) -> list[tuple[str, ...]]:
    """The controls that might move beside the axis, those first that one sees first; two of one
    handle together.
    """
    pairs = [
        (d.x, d.y) for d in figure.drags if d.x and d.y and not {d.x, d.y} & opening.moving.keys()
    ]
    paired = {name for pair in pairs for name in pair}
    single = [
        c
        for name, c in controls.items()
        if name not in opening.moving
        and name not in paired
        and (
            isinstance(c, Slider | Toggle)
            or (isinstance(c, Menu) and len(c.values()) <= MOST_OPTIONS)
        )
    ]
    single.sort(key=lambda c: c.folded)
    return [*pairs, *((c.name,) for c in single)]


def _beside(
    controls: Mapping[str, Any], axis: str | None, opening: Sheet, names: tuple[str, ...]
) -> Sheet:
    """The sheet of one more control, or two, with the axis in a few places where there is room for
    them.
    """
    base, values = opening.base, {}
    if len(names) == 1 and axis not in names:
        values = {
            name: spread(places, BESIDE, [base[name]])
            for name, places in _whole(opening, axis).items()
        }
    for name in names:
        values[name] = some(controls[name], PAIR if len(names) == 2 else COARSE, [base[name]])
    return Sheet(base, values)


def _whole(opening: Sheet, axis: str | None) -> dict[str, Sequence[Any]]:
    """The axis as the opening sheet moves it; empty without one, or if it is a menu that there was
    no room for.
    """
    return {name: places for name, places in opening.moving.items() if name == axis}


def resolutions(
    places: int, choices: Sequence[int], most: int = MOST_STATES
) -> Iterator[tuple[int, int]]:
    """Give ways to lay a sheet, the best first: how many places of the axis are one step, and how many choices move.

    Args:
        places: of the axis.
        choices: options of each menu or toggle.
        most: states.

    >>> list(resolutions(241, (3, 5)))[:4]
    [(2, 1), (4, 1), (1, 0), (2, 0)]
    """
    fewest = min(FEWEST_PLACES, places)
    for moving in range(len(choices), -1, -1):
        step = 1
        while step == 1 or places // step >= (fewest if moving else 1):
            if places // step * math.prod(choices[:moving]) <= most:
                yield step, moving
            step *= 2


def some(control: Any, most: int, always: Sequence[Any]) -> list[Any]:
    """Give about so many values of a control, evenly apart, both ends and some others among them.

    >>> some(Slider("limit", "Limit", 0, 10, 5, step=1), 3, [7.0])
    [0.0, 5.0, 7.0, 10.0]
    """
    if not isinstance(control, Slider):
        return list(control.values())
    return spread(
        control.values(), most, [one for one in always if control.minimum <= one <= control.maximum]
    )


def spread(values: Sequence[Any], most: int, always: Sequence[Any]) -> list[Any]:
    """Give about so many of some values, evenly apart, both ends among them, and others.

    >>> spread(range(9), 3, [5]), spread("abc", 1, "b"), spread("abc", 5, "b")
    ([0, 4, 5, 8], ['b'], ['a', 'b', 'c'])
    """
    last = len(values) - 1
    count = min(most, last + 1)
    chosen = {values[round(k * last / (count - 1))] for k in range(count)} if count > 1 else set()
    between = chosen | set(always)
    return [one for one in values if one in between] if between <= set(values) else sorted(between)


def shortened(slider: Slider, low: float, high: float) -> Slider:
    """Give the slider with only its positions from the one at `low` to the one at `high`, and its value between them.

    >>> shortened(Slider("limit", "Limit", 1, 1000, 20.0, scale="log", step=1), 9.0, 110.0).values()
    [10.0, 100.0]
    """
    first, last = (slider.at(slider.position(slider.clamp(end))) for end in (low, high))
    return replace(slider, minimum=min(first, slider.value), maximum=max(last, slider.value))


def _reaches(control: Valued, value: Any) -> bool:
    """Tell whether a control of the page, whose ends may be nearer, can have a value."""
    return not isinstance(control, Slider) or control.minimum <= value <= control.maximum


def _in_order(control: Valued, values: set[Any]) -> list[Any]:
    if isinstance(control, Slider):
        return sorted(values)
    assert not isinstance(control, Range)
    return [value for value in control.values() if value in values]
