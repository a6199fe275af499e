"""The types of arrays and numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeVar

import numpy as np

if TYPE_CHECKING:
    import jax

    Array: TypeAlias = np.ndarray | jax.Array
else:
    Array = Any  # JAX may be missing

# A number or an array of shape (), such as a hyperparameter.
Number: TypeAlias = float | np.number | Array
A = TypeVar("A", bound=Array)  # one kind of array in, the same kind out
# The same, for functions that mypy has to check once for each kind.
EachA = TypeVar("EachA", np.ndarray, "jax.Array")
MaybeA = TypeVar("MaybeA", bound=Array | None)


class Namespace(Protocol):
    """`numpy` or `jax.numpy`: the functions that both have, from arrays to arrays."""

    def __getattr__(self, name: str) -> Callable[..., Array]: ...
