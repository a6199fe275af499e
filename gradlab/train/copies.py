"""Copies of optimizers and variables, by `copy.deepcopy` and by pickle.

The slots of an optimizer are of variables that it does not hold, so a copy has to say whose its
slots are: those of the variables that are copied with it, in either order, and of the same
variables as before where these are not.
"""

from __future__ import annotations

import copy
import weakref
from collections.abc import Iterable
from typing import Any, Protocol, cast

from .variable import FOLLOWERS, Variable

Carried = list[tuple[str, weakref.ref[Variable]]]  # what came along in a pickle, by name


class Follower(Protocol):
    """An object that refers to variables that may still be copied."""

    def _follow(self, old: Variable, new: Variable) -> None:
        """Refer to a copy in place of the variable."""


def follow(follower: Follower, memo: dict[int, Any]) -> None:
    """Call `follower._follow` for each variable that this `copy.deepcopy` copies from now on."""
    memo.setdefault(id(FOLLOWERS), []).append(follower)


def get_copy(v: Variable, memo: dict[int, Any]) -> Variable:
    """Return the copy of a variable that this `copy.deepcopy` has made, else the variable itself."""
    return cast(Variable, memo.get(id(v), v))


def copy_part(x: Any, memo: dict[int, Any]) -> Any:
    """Return a copy of what an optimizer holds, with the copies of variables for variables."""
    if isinstance(x, Variable):
        return get_copy(x, memo)
    if isinstance(x, dict):
        return {name: copy_part(value, memo) for name, value in x.items()}
    return copy.deepcopy(x, memo)


def list_carried(variables: Iterable[Variable]) -> Carried:
    """Return names of and weak references to variables that an optimizer was unpickled with and doesn't hold."""
    return [(v.name, weakref.ref(v)) for v in variables]


def check_carried(carried: Carried) -> None:
    """Raise ValueError if a variable is gone: its slots could never be used, and new ones would be made silently."""
    lost = [name for name, v in carried if v() is None]
    if lost:
        raise ValueError(
            f"this optimizer was pickled without {', '.join(lost)}, whose slots it had: pickle "
            "both together, pickle.dumps((variables, optimizer)), or use gl.save"
        )


def refuse_copies(what: str, instead: str) -> Any:
    """Return a `__reduce_ex__` for a class that cannot be copied or pickled; it raises TypeError and says why."""

    def __reduce_ex__(self: Any, protocol: Any) -> Any:
        raise TypeError(f"{what} cannot be copied or pickled: {instead}")

    return __reduce_ex__
