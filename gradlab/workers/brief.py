"""Short descriptions of what may hold large arrays."""

from __future__ import annotations

import reprlib
from typing import Any


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
