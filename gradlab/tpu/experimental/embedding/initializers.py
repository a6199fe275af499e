"""The content of a table before the first step."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...._base.arrays import Array, as_real_numbers
from ...._base.jax_or_numpy import HAS_JAX, jax, jnp

_BLOCK = 65536  # rows drawn at a time

Initializer = Callable[..., Any]  # of (shape) or (shape, dtype)


@dataclass(frozen=True)
class TruncatedNormal:
    """Normal numbers around 0, drawn again beyond two standard deviations; the same ones for the same seed.

    This is what a table gets that names no initializer, with `stddev` 1 / sqrt(dim) and a seed of
    its own from `TPUEmbedding`. The numbers are not TensorFlow's, whose generator is another one,
    nor without JAX those of JAX.

    Source: `tf.tpu.experimental.embedding.TableConfig`, TensorFlow 2.21 (2026).

    >>> TruncatedNormal(0.5, seed=3)((2, 3), np.float32).shape
    (2, 3)
    """

    stddev: float
    seed: int | None = None

    def __call__(self, shape: Sequence[int], dtype: Any = np.float32) -> np.ndarray:
        if not HAS_JAX:
            return (self.stddev * _truncated(np.random.default_rng(self.seed or 0), shape)).astype(
                dtype
            )
        key, (rows, *rest) = jax.random.key(self.seed or 0), shape
        made = np.empty(shape, dtype)
        for start in range(0, rows, _BLOCK):  # a large table is never whole on a device
            size = (min(_BLOCK, rows - start), *rest)
            block = jax.random.truncated_normal(jax.random.fold_in(key, start), -2.0, 2.0, size)
            made[start : start + size[0]] = self.stddev * block
        return made


@dataclass(frozen=True)
class RowIdInitializer:
    """Row i of a table is filled with offset + i, so that what is looked up tells which rows it came from.

    It sees the shape of a shard only: over several hosts each shard begins at the offset again, as
    in TensorFlow.

    Source: `tf.tpu.experimental.embedding.RowIdInitializer`, TensorFlow 2.21 (2026).

    >>> RowIdInitializer(3)((2, 2), np.float32).tolist()
    [[3.0, 3.0], [4.0, 4.0]]
    """

    offset: int = 0

    def __call__(self, shape: Sequence[int], dtype: Any = np.float32) -> Array:
        rows = jnp.arange(self.offset, self.offset + shape[0], dtype=dtype)
        return jnp.broadcast_to(rows.reshape(-1, *[1] * (len(shape) - 1)), tuple(shape))


@dataclass(frozen=True)
class Constant:
    """One number everywhere, which is how slots begin.

    Source: `tf.constant_initializer`, TensorFlow 2.21 (2026).

    >>> Constant(0.1)((1, 2)).tolist()
    [[0.10000000149011612, 0.10000000149011612]]
    """

    value: float

    def __call__(self, shape: Sequence[int], dtype: Any = np.float32) -> Array:
        return jnp.full(tuple(shape), self.value, dtype)


def initial_values(initializer: Initializer, shape: tuple[int, int], name: str) -> np.ndarray:
    """Return a table or slot as its initializer makes it, float32.

    Raises:
        ValueError: it made another shape; names the table.
    """
    made = initializer(shape, np.float32) if _takes_dtype(initializer) else initializer(shape)
    values = np.asarray(as_real_numbers(made, f"what the initializer of {name} makes"), np.float32)
    if values.shape != shape:
        raise ValueError(
            f"the initializer of {name} must make shape {shape}, it made {values.shape}"
        )
    return values


def _takes_dtype(initializer: Initializer) -> bool:
    """Tell whether the initializer takes a dtype beside the shape; one that can't tell gets a
    dtype.
    """
    try:
        parameters = inspect.signature(initializer).parameters
    except (TypeError, ValueError):
        return True
    positional = [
        p for p in parameters.values() if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
    ]
    variadic = any(p.kind is p.VAR_POSITIONAL for p in parameters.values())
    return variadic or len(positional) > 1


def _truncated(rng: np.random.Generator, shape: Sequence[int]) -> np.ndarray:
    numbers: np.ndarray = rng.standard_normal(tuple(shape))
    while (far := np.abs(numbers) > 2).any():
        numbers[far] = rng.standard_normal(int(far.sum()))
    return numbers
