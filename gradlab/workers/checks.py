"""Refuse numbers that cannot be meant, with the name they were given under, and say briefly what was given."""

from __future__ import annotations

import reprlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from .._base.arrays import Array
from ..errors import InvalidArgumentError


def whole(name: str, x: Any, least: int | None = None) -> None:
    """Refuse all but integers of at least `least`."""
    bound = "" if least is None else f" of at least {least}"
    if isinstance(x, bool) or not isinstance(x, int | np.integer) or (least is not None and x < least):
        raise InvalidArgumentError(f"{name} must be a whole number{bound}, got {x!r}")


def finite(name: str, x: Any, least: float | None = None) -> None:
    """Refuse all but finite numbers of at least `least`."""
    if isinstance(x, bool) or not isinstance(x, int | float | np.number):
        raise TypeError(f"{name} must be a number, got {x!r}")
    if not np.isfinite(x) or (least is not None and x < least):
        bound = "" if least is None else f" and at least {least}"
        raise InvalidArgumentError(f"{name} must be finite{bound}, got {x!r}")


def flag(name: str, x: Any) -> None:
    """Refuse all but True and False."""
    if not isinstance(x, bool | np.bool_):
        raise TypeError(f"{name} must be True or False, got {x!r}")


def read_only(weights: Mapping[str, Array]) -> dict[str, Array]:
    """Return the same weights in a dictionary of its own, read-only. JAX arrays are read-only anyway."""
    return {
        name: _read_only(w) if isinstance(w, np.ndarray) and w.flags.writeable else w for name, w in weights.items()
    }


def lent(weights: Mapping[str, Array]) -> dict[str, Array]:
    """`read_only` for code that is not ours; vectors are copies, as `np.add.at` writes to them even so."""
    return read_only(
        {name: w.copy() if isinstance(w, np.ndarray) and w.ndim == 1 else w for name, w in weights.items()}
    )


def _read_only(w: np.ndarray) -> np.ndarray:
    view = w.view()
    view.flags.writeable = False
    return view


def written_to(who: str, error: ValueError) -> ValueError:
    """The error to raise where NumPy refused to write to what `read_only` gave; any other as it is."""
    if not any(word in str(error) for word in ("read-only", "writable")):
        return error
    return InvalidArgumentError(
        f"the {who} writes to the weights it was given, which are the server's and may only be read ({error}): write "
        "to a copy, as w = weights['w'].copy()"
    )


class _Brief(reprlib.Repr):
    def repr_instance(self, x: Any, level: int) -> str:
        if hasattr(x, "dtype") and hasattr(x, "shape"):
            return f"{x.dtype} {tuple(x.shape)}"
        return str(getattr(x, "__qualname__", None) or super().repr_instance(x, level))

    def repr_function(self, x: Any, level: int) -> str:
        return self.repr_instance(x, level)


_BRIEF = _Brief()
_BRIEF.maxdict = _BRIEF.maxother = 60


def brief(x: Any) -> str:
    """Arrays by dtype and shape, functions by name, and not too much of anything else. Not in TensorFlow.

    >>> import numpy as np
    >>> brief({"w": np.zeros((2, 3), np.float32), "b": np.float32(1)}), brief(brief)
    ("{'b': float32 (), 'w': float32 (2, 3)}", 'brief')
    """
    return _BRIEF.repr(x)
