"""Types that everything speaks of."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeVar

import numpy as np

if TYPE_CHECKING:
    import jax

    Array: TypeAlias = np.ndarray | jax.Array
else:
    Array = Any  # JAX need not be there

# A hyperparameter, say: a number, or an array of shape ().
Number: TypeAlias = float | np.number | Array
A = TypeVar("A", bound=Array)  # one kind of array in, the same kind out
# The same, for code that is checked with each of them.
EachA = TypeVar("EachA", np.ndarray, "jax.Array")
MaybeA = TypeVar("MaybeA", bound=Array | None)


class Namespace(Protocol):
    """`numpy` or `jax.numpy`, as far as both make arrays of arrays."""

    def __getattr__(self, name: str) -> Callable[..., Array]: ...
