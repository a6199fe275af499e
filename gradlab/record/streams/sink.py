"""The interface of a stream's destinations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np

PREFIX = "gradlab/"  # of the names in a client, which has those of others, too
FLAG, OPTIONAL = "skipped", "scale"  # a column that says yes or no, and one that not every step has


@dataclass(frozen=True)
class Steps:
    """Consecutive steps, the first of them number `first`; columns are (n,) by name, float32."""

    first: int
    columns: Mapping[str, np.ndarray]

    def __len__(self) -> int:
        return len(self.columns[FLAG]) if self.columns else 0

    def __iter__(self) -> Iterator[tuple[int, dict[str, float]]]:
        """Number and values of each step, as Python numbers with as few digits as say which float32 they are."""
        shortest = {
            name: x.astype("U").astype(np.float64).tolist() for name, x in self.columns.items()
        }
        for k, values in enumerate(zip(*shortest.values(), strict=True)):
            named = dict(zip(shortest, values, strict=True))
            yield (
                self.first + k,
                {name: x for name, x in named.items() if name != OPTIONAL or x == x},
            )


class Sink(Protocol):
    """A destination of steps.

    Attributes:
        name: in messages.
        most: steps that it takes at once.
    """

    name: str
    most: int

    def begin(self, steps: Steps) -> int | None:
        """Return how many steps it has already; None if it cannot tell.

        `steps` are those of the recorder so far.

        Raises:
            ValueError: it has those of another run.
        """

    def write(self, steps: Steps) -> None:
        """Take these steps, all or none of them."""

    def flush(self) -> None:
        """Make all of them visible there."""

    def close(self) -> None:
        """Let go of what was opened for this."""
