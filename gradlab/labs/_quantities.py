"""Numbers that a lab shows in its tooltip and writes to a .csv file, each declared once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np


class Quantity(NamedTuple):
    """A number of every step, row or entry.

    Attributes:
        column: its name in the .csv file; None if the file does not have it.
        values: its values, of a trace.
        label: its name in the tooltip, with the unit; None if the tooltip does not show it.
        scale: of the tooltip, 100 for a share that it shows in percent.
    """

    column: str | None
    values: Callable[[Any], np.ndarray]
    label: str | None = None
    scale: float = 1


def csv_columns(quantities: Sequence[Quantity], trace: Any) -> dict[str, np.ndarray]:
    """Return the columns of the .csv file.

    >>> halves = Quantity("half", lambda trace: trace / 2, "half (%)", scale=100)
    >>> csv_columns([halves], np.array([1.0, 3.0]))
    {'half': array([0.5, 1.5])}
    """
    return {q.column: q.values(trace) for q in quantities if q.column is not None}


def tooltip_values(quantities: Sequence[Quantity], trace: Any) -> dict[str, np.ndarray]:
    """Return the values of the tooltip by label.

    >>> halves = Quantity("half", lambda trace: trace / 2, "half (%)", scale=100)
    >>> tooltip_values([halves], np.array([1.0, 3.0]))
    {'half (%)': array([ 50., 150.])}
    """
    return {q.label: q.scale * q.values(trace) for q in quantities if q.label is not None}
