"""Weights that are handed out read-only, because the server and other workers hold the same arrays."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from .._base.arrays import Array
from ..errors import InvalidArgumentError


def make_read_only(weights: Mapping[str, Array]) -> dict[str, Array]:
    """Return a new dictionary of read-only views. JAX arrays are read-only anyway."""
    return {
        name: _read_only_view(w) if isinstance(w, np.ndarray) else w for name, w in weights.items()
    }


def lend(weights: Mapping[str, Array]) -> dict[str, Array]:
    """Make weights read-only for a problem's own code.

    Vectors are copied: `np.add.at` of older NumPy writes to a read-only vector.
    """
    return make_read_only(
        {
            name: w.copy() if isinstance(w, np.ndarray) and w.ndim == 1 else w
            for name, w in weights.items()
        }
    )


def explain_write(writer: str, error: ValueError) -> ValueError:
    """The error to raise where NumPy refused to write to lent weights; any other error as it is."""
    if not any(word in str(error) for word in ("read-only", "writable")):
        return error
    return InvalidArgumentError(
        f"the {writer} writes to the weights it was given, which are the server's and may only be "
        f"read ({error}): write to a copy, as w = weights['w'].copy()"
    )


def _read_only_view(w: np.ndarray) -> np.ndarray:
    if not w.flags.writeable:
        return w
    view = w.view()
    view.flags.writeable = False
    return view
