"""What a fault is: something that is done to a file, a process or a message, and what it must not
cost.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple


class Measured(NamedTuple):
    """What a try found that has a figure to show: what is lost, "" for nothing, and the figure."""

    lost: str
    figure: str


class Fault(NamedTuple):
    """One line of the bench.

    Attributes:
        name: what happens, to what.
        once: does it in an empty folder with a seed that says when and where; "" if nothing is
            lost, doubled or changed, else what is. It raises nothing.
        short: how many tries CI makes; 0 of what differs little from another line.
        allowed: the share of tries that may lose something, with its reason in the name; 0 where
            that is a promise.
        long: what `python -m tests.faults` does in place of `once`, where what the name says takes
            too long for CI.
    """

    name: str
    once: Once
    short: int
    allowed: float = 0.0
    long: Once | None = None


Once = Callable[[Path, int], str | Measured]


def tried(once: Once, folder: Path, seed: int) -> Measured:
    """One try, with its figure if it has one."""
    found = once(folder, seed)
    return found if isinstance(found, Measured) else Measured(found, "")
