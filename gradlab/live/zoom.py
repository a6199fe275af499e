"""Looking closer at one panel, and back to where the figure started."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

LEAST = 1e-4  # the smallest part of the start that can be shown


class Zoom:
    """Moves the limits of a figure's axes and remembers where they started; what shares an axis follows.

    Limits that somebody else sets are a new start.
    """

    def __init__(self, figure: Any) -> None:
        self._figure = figure
        self._start: dict[Any, np.ndarray] = {}
        self._seen: dict[Any, np.ndarray] = {}

    def __bool__(self) -> bool:
        """Say whether anything is shown closer than at the start."""
        return bool(self.closer())

    def closer(self) -> dict[Any, tuple[bool, bool]]:
        """Give the axes that show less than at the start, and whether they do in x and in y."""
        moved = {axis for axis, now in self._limits() if not np.array_equal(self._start[axis], now)}
        each = {axes: (axes.xaxis in moved, axes.yaxis in moved) for axes in self._figure.axes}
        return {axes: directions for axes, directions in each.items() if any(directions)}

    def to(self, axes: Any, x: Sequence[float], y: Sequence[float]) -> None:
        """Show a part of what `axes` shows now, in fractions from its left and its bottom, within the start.

        Raises:
            ValueError: there is no such part.
        """
        parts = np.array([x, y], float)
        if not (np.isfinite(parts).all() and (parts[:, 0] < parts[:, 1]).all()):
            raise ValueError(
                "a zoom goes from one fraction to a larger one, to the "
                f"right and up, got {x} and {y}"
            )
        now, both = dict(self._limits()), (axes.xaxis, axes.yaxis)
        wanted = np.array(
            [
                fractions(axis, at(axis, part, now[axis]), self._start[axis])
                for axis, part in zip(both, parts, strict=True)
            ]
        )
        sizes = np.ptp(wanted, axis=1).clip(LEAST, 1)
        if axes.get_aspect() != "auto":  # else the box would change its shape
            sizes[:] = sizes.max()
        lows = (wanted.mean(axis=1) - sizes / 2).clip(0, 1 - sizes)
        for axis, low, size in zip(both, lows, sizes, strict=True):
            _show(
                axis,
                at(axis, np.array([low, low + size]), self._start[axis])
                if size < 1
                else self._start[axis],
            )
        self._seen = {axis: axis.get_view_interval().copy() for axis in now}

    def back(self) -> None:
        """Show what was shown at the start."""
        for axis, _ in list(self._limits()):
            _show(axis, self._start[axis])
        self._seen = dict(self._start)

    def _limits(self) -> Iterator[tuple[Any, np.ndarray]]:
        """Yield every axis with its limits, having noticed what somebody else has set."""
        for axes in self._figure.axes:
            for axis in (axes.xaxis, axes.yaxis):
                now = axis.get_view_interval().copy()
                if axis not in self._seen or not np.array_equal(self._seen[axis], now):
                    self._start[axis] = self._seen[axis] = now
                yield axis, now


def at(axis: Any, parts: np.ndarray, limits: np.ndarray) -> np.ndarray:
    """Give the values at fractions of the way between two limits, as an axis is scaled."""
    scale = axis.get_transform()
    first, last = scale.transform(np.asarray(limits, float))
    values: np.ndarray = scale.inverted().transform(first + parts * (last - first))
    return values


def fractions(axis: Any, values: np.ndarray | float, limits: np.ndarray) -> np.ndarray:
    """Say how far values lie along the way between two limits, as an axis is scaled."""
    scale = axis.get_transform()
    first, last = scale.transform(np.asarray(limits, float))
    along: np.ndarray = (scale.transform(np.asarray(values, float)) - first) / (last - first)
    return along


def _show(axis: Any, limits: np.ndarray) -> None:
    # `auto=None` leaves autoscaling as it was.
    getattr(axis.axes, f"set_{axis.axis_name}lim")(*limits, auto=None)
