"""Which states of a LiveFigure are recorded when it is saved as a page."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from .controls import Menu, Toggle
from .sliders import Slider
from .state import FigureState

MOST_STATES = 500  # so that saving takes seconds, not minutes
FEWEST_PLACES = 60  # of the axis, if menus and toggles are to move as well; fewer where there are fewer states

Values = dict[str, Any]


@dataclass(frozen=True)
class Grid:
    """Every combination of the values of some controls; the others stay where they are.

    Args:
        controls: all controls as the page shows them, at the state in which it opens.
        values: of the ones that move, by name.
    """

    controls: Mapping[str, Any]
    values: Mapping[str, Sequence[Any]]

    @property
    def count(self) -> int:
        """The number of states."""
        return math.prod(map(len, self.values.values()))

    def states(self) -> Iterator[Values]:
        """Give the values of all moving controls, state by state."""
        return (dict(zip(self.values, chosen, strict=True)) for chosen in itertools.product(*self.values.values()))

    def holds(self, values: Mapping[str, Any]) -> bool:
        """Tell whether the page can show these values."""
        return all(value in self.values.get(name, [self.controls[name].value]) for name, value in values.items())

    def specs(self) -> list[dict[str, Any]]:
        """Describe the controls for the browser."""
        return [c.spec() | ({} if name in self.values else {"fixed": True}) for name, c in self.controls.items()]


def resolutions(places: int, choices: Sequence[int], most: int = MOST_STATES) -> Iterator[tuple[int, int]]:
    """Give ways to lay a grid, the best first: how many places of the axis are one step, and how many choices move.

    Args:
        places: of the axis. choices: options of each menu or toggle. most: states.

    >>> list(resolutions(241, (3, 5)))[:4]
    [(2, 1), (4, 1), (1, 0), (2, 0)]
    """
    fewest = min(FEWEST_PLACES, max(1, FEWEST_PLACES * most // MOST_STATES))
    for moving in range(len(choices), -1, -1):
        step = 1
        while step == 1 or places // step >= (fewest if moving else 1):
            if places // step * math.prod(choices[:moving]) <= most:
                yield step, moving
            step *= 2


def grids(
    figure: FigureState, most: int = MOST_STATES, within: Mapping[str, tuple[float, float]] | None = None
) -> Iterator[Grid]:
    """Give the grids that a page might have, the best first; the last is small.

    `most` is how many states the first may have, `within` the ends that sliders keep, by name.
    """
    controls: dict[str, Any] = dict(figure.controls)
    controls |= {name: replace(controls[name], value=value) for name, value in figure.values.items()}
    controls |= {name: shortened(controls[name], *ends) for name, ends in (within or {}).items()}
    axis = controls.get(figure.axis or "")
    slider = axis if isinstance(axis, Slider) else None
    choices = [c for c in controls.values() if isinstance(c, Menu | Toggle)]
    choices.sort(key=lambda control: control is not axis)  # the axis first
    for step, moving in resolutions(slider.count + 1 if slider else 1, [len(c.values()) for c in choices], most):
        values = {c.name: c.values() for c in choices[:moving]}
        if slider is None:
            yield Grid(controls, values)
        else:
            coarse = thinned(slider, step)
            wanted = {figure.values[coarse.name], *(p.values.get(coarse.name, coarse.value) for p in figure.presets)}
            reached = {value for value in wanted if coarse.minimum <= value <= coarse.maximum}
            values = {coarse.name: sorted({*coarse.values(), *reached}), **values}
            yield Grid({**controls, coarse.name: coarse}, values)


def thinned(slider: Slider, step: int) -> Slider:
    """Give the slider with only every `step`-th of its positions.

    >>> thinned(Slider("limit", "Limit", 0, 10, 5, step=1), 4).values()
    [0.0, 4.0, 8.0, 10.0]
    """
    per_step = slider.spec()["step"]  # on a log scale, positions per decade
    return replace(slider, step=per_step / step if slider.scale == "log" else per_step * step)


def shortened(slider: Slider, low: float, high: float) -> Slider:
    """Give the slider with only its positions from the one at `low` to the one at `high`, and its value between them.

    >>> shortened(Slider("limit", "Limit", 1, 1000, 20.0, scale="log", step=1), 9.0, 110.0).values()
    [10.0, 100.0]
    """
    first, last = (slider.at(slider.position(slider.clamp(end))) for end in (low, high))
    return replace(slider, minimum=min(first, slider.value), maximum=max(last, slider.value))
