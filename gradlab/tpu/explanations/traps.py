"""Traps: what TPU embedding tables do and nobody mentions, with the numbers of a real step."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ..html_table import html_table
from .explanation import vector
from .row_arithmetic import Row


@dataclass(frozen=True, eq=False)
class Trap:
    """One thing that is easily missed; `str` says it in words. Made by `explain_missing`.

    Attributes:
        name: what it is. applies: whether it matters in this step. why: why it does, or does not.
        change: what to do to have it the other way. numbers: the step as it was and the other way, by name.
        source: who says so.

    Not in TensorFlow.

    >>> trap = Trap("Decay", False, "there is none", "set it", {}, "the proto")
    >>> print(trap)
    [ ] Decay: there is none.
    """

    name: str
    applies: bool
    why: str
    change: str
    numbers: Mapping[str, np.ndarray]
    source: str

    def __str__(self) -> str:
        first = f"[{'x' if self.applies else ' '}] {self.name}: {self.why}."
        if not self.applies:
            return first
        numbers = [f"      {name}: {vector(np.ravel(x))}" for name, x in self.numbers.items()]
        return "\n".join(
            [first, f"      To have it otherwise: {self.change}.", *numbers, f"      Source: {self.source}."]
        )


class Traps(tuple[Trap, ...]):
    """All of them; those that apply come first where they are shown. Not in TensorFlow.

    >>> [trap.name for trap in Traps([Trap("Decay", False, "there is none", "set it", {}, "the proto")]).applying]
    []
    """

    __slots__ = ()

    @property
    def applying(self) -> tuple[Trap, ...]:
        """Those that matter in this step."""
        return tuple(t for t in self if t.applies)

    def named(self, name: str) -> Trap:
        """The trap of this name; KeyError with all names if there is none."""
        for trap in self:
            if trap.name == name:
                return trap
        raise KeyError(f"no trap {name!r}; there are {', '.join(t.name for t in self)}")

    def __str__(self) -> str:
        return "\n".join(str(t) for t in sorted(self, key=lambda t: not t.applies))

    def _repr_html_(self) -> str:
        rows = [
            (t.name, "yes" if t.applies else "no", t.why, t.change, "; ".join(_shown(t.numbers)), t.source)
            for t in sorted(self, key=lambda t: not t.applies)
        ]
        head = ["trap", "applies", "why", "to have it otherwise", "numbers", "source"]
        return html_table("What is easily missed in this step", head, rows)


def _shown(numbers: Mapping[str, np.ndarray]) -> list[str]:
    return [f"{name} {vector(np.ravel(x))}" for name, x in numbers.items()]


def farthest(a: Row, b: Row) -> int:
    """The row whose weights, or else slots, differ most."""
    with np.errstate(all="ignore"):
        far = np.nan_to_num(abs(a[0] - b[0]), nan=np.inf).max(axis=1)
        if not far.any() and a[1]:
            far = np.max(
                [np.nan_to_num(abs(x - y), nan=np.inf).max(axis=1) for x, y in zip(a[1], b[1], strict=True)], axis=0
            )
    return int(np.argmax(far))


def differ(a: Row, b: Row) -> bool:
    """Whether two results are not the same in weights and slots."""
    return not all(np.array_equal(x, y, equal_nan=True) for x, y in zip((a[0], *a[1]), (b[0], *b[1]), strict=True))
