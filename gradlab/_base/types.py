"""Types that everything speaks of."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    import jax
    import numpy as np

    Array: TypeAlias = np.ndarray | jax.Array
else:
    Array = Any
