"""Numbers that a lab shows in its tooltip and writes to a .csv file, each declared once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np


class TraceQuantity(NamedTuple):
    """A number of every step, row or entry.

    Attributes:
        column: its name in the .csv file.
        values: its values, of a trace.
        label: its name in the tooltip, with the unit; None if the tooltip does not show it.
    """

    column: str
    values: Callable[[Any], np.ndarray]
    label: str | None = None


def csv_columns(quantities: Sequence[TraceQuantity], trace: Any) -> dict[str, np.ndarray]:
    """Return the columns of the .csv file.

    >>> half = TraceQuantity("half", lambda trace: trace / 2, "half (ms)")
    >>> csv_columns([half], np.array([1.0, 3.0]))
    {'half': array([0.5, 1.5])}
    """
    return {quantity.column: quantity.values(trace) for quantity in quantities}


def tooltip_values(quantities: Sequence[TraceQuantity], trace: Any) -> dict[str, np.ndarray]:
    """Return the values of the tooltip by label.

    >>> half = TraceQuantity("half", lambda trace: trace / 2, "half (ms)")
    >>> tooltip_values([half, TraceQuantity("twice", lambda trace: 2 * trace)], np.array([1.0, 3.0]))
    {'half (ms)': array([0.5, 1.5])}
    """
    return {q.label: q.values(trace) for q in quantities if q.label is not None}
