"""Copies of optimizers and variables, by `copy.deepcopy` and by pickle.

The slots of an optimizer are of variables that it does not hold, so a copy has to say whose its slots are: those of the
variables that are copied with it, in either order, and of the same variables as before where these are not.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterable
from typing import Any, Protocol

from .variable import FOLLOWERS, Variable

Carried = list[tuple[str, weakref.ref[Variable]]]  # what came along in a pickle, by name


class Follower(Protocol):
    """An object that refers to variables that may still be copied."""

    def _follow(self, old: Variable, new: Variable) -> None:
        """Refer to a copy in place of the variable."""


def follow(follower: Follower, memo: dict[int, Any]) -> None:
    """Tell it of each variable that `copy.deepcopy` copies from now on."""
    memo.setdefault(id(FOLLOWERS), []).append(follower)


def in_copy(v: Variable, memo: dict[int, Any]) -> Variable:
    """The variable that a copy refers to: a copy if there is one, else the same."""
    found: Variable = memo.get(id(v), v)
    return found


def carried(variables: Iterable[Variable]) -> Carried:
    """Variables that an optimizer was unpickled with and does not hold."""
    return [(v.name, weakref.ref(v)) for v in variables]


def check_carried(found: Carried) -> None:
    """ValueError where they are gone: their slots would be of no use, and new ones be made without a word."""
    if lost := [name for name, v in found if v() is None]:
        raise ValueError(
            f"this optimizer was pickled without {', '.join(lost)}, whose slots it had: pickle both together, "
            "pickle.dumps((variables, optimizer)), or use gl.save"
        )


def refuse(what: str, instead: str) -> Any:
    """A method for `__reduce_ex__` of what cannot be copied or pickled: it says why (TypeError)."""

    def __reduce_ex__(self: Any, protocol: Any) -> Any:
        raise TypeError(f"{what} cannot be copied or pickled: {instead}")

    return __reduce_ex__
