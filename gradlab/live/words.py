"""What a picture says: its state in words, and the things in it that can be pointed at."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Items:
    """Things that several panels show: pointing at one marks it in all of them.

    Args:
        name: what one of them is called, "step".
        places: for each Axes the data coordinates (x, y) of every item; NaN where the Axes does not show it.
        values: columns of numbers for the tooltip, by label.
        names: what each of them is called; by default its number, "step 4".

    Raises:
        ValueError: columns of different lengths.

    >>> len(Items("step", {}, {"norm": [3.0, 4.0]}))
    2
    """

    name: str
    places: Mapping[Any, tuple[Any, Any]]
    values: Mapping[str, Any] = field(default_factory=dict)
    names: Sequence[str] = ()

    def __post_init__(self) -> None:
        lengths = {np.size(column) for pair in self.places.values() for column in pair}
        lengths |= {np.size(column) for column in self.values.values()} | ({len(self.names)} if self.names else set())
        if len(lengths) > 1:
            raise ValueError(f"the columns of items must have one length, got {', '.join(map(str, sorted(lengths)))}")

    def __len__(self) -> int:
        columns = [*self.values.values(), *(x for x, _ in self.places.values())]
        return int(np.size(columns[0])) if columns else 0


@dataclass(frozen=True)
class Description:
    """The current state in words, for readers who do not see the picture and for those who do.

    Args:
        alt: one sentence that states the key number.
        summary: the short visible read-out.
        table: rows of (name, value).
        goal: what to aim for, and how far away it is.
        items: what can be pointed at.

    >>> Description("The norm is 2.", "norm 2", (("norm", "2"),)).summary
    'norm 2'
    """

    alt: str
    summary: str
    table: tuple[tuple[str, str], ...] = ()
    goal: str = ""
    items: Items | None = field(default=None, repr=False, compare=False)

    def words(self) -> dict[str, Any]:
        """The texts, as the browser reads them."""
        return {"alt": self.alt, "summary": self.summary, "table": self.table, "goal": self.goal}
