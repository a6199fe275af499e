"""The user's configuration of tables and features."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...engine.proto import OptimizationParameters
from .custom import CustomCombiner
from .initializers import Initializer, TruncatedNormal
from .optimizer import Optimizer, write_limits

Shape = tuple[int | None, ...]
_COMBINERS = ("mean", "sum", "sqrtn")
_DTYPES = (np.dtype(np.float32), np.dtype(np.int32))


@dataclass(repr=False)
class QuantizationConfig:
    """Simulated quantization of what is looked up: see `gl.tpu.quantize`.

    Args:
        num_buckets: the number of levels, at least 2.
        lower, upper: the first and the last level; that they are in order is checked where they are
            used.

    Raises:
        ValueError: fewer than 2 levels.

    Source: `tf.tpu.experimental.embedding.QuantizationConfig`, TensorFlow 2.21 (2026).

    >>> QuantizationConfig(16, -1.0, 1.0)
    QuantizationConfig(num_buckets=16, lower=-1.0, upper=1.0)
    """

    num_buckets: int
    lower: float
    upper: float

    def __post_init__(self) -> None:
        if self.num_buckets < 2:
            raise ValueError(f"num_buckets must be at least 2, got {self.num_buckets}")

    def __repr__(self) -> str:
        return _shown(self, "num_buckets", "lower", "upper")

    def write(self, parameters: OptimizationParameters) -> None:
        """Put it into a table's message."""
        quantization = parameters.simulated_quantization
        quantization.enabled, quantization.num_buckets = True, self.num_buckets
        write_limits(quantization.clipping_limits, (self.lower, self.upper))


class TableConfig:
    """One embedding table.

    Args:
        vocabulary_size, dim: the number of rows and their width, integers from 1.
        initializer: a function of a shape, or of a shape and a dtype, that makes the table; None
            for truncated normal numbers with standard deviation 1 / sqrt(dim).
        optimizer: None for the one that `TPUEmbedding` is given, which is then put here.
        combiner: how the rows of a sample are joined: "mean", "sum", "sqrtn" or a CustomCombiner.
        name: None for table_<number>, given by `TPUEmbedding`.
        quantization_config: a `QuantizationConfig`.
        layout: kept, without effect, as in TensorFlow's older engine.
        dtype: float32 or int32; kept, for tables hold float32, as in TensorFlow's older engine.

    Raises:
        ValueError: what is said above does not hold.

    Two tables are equal only if they are the same object. Differs from TensorFlow: a missing name
    is not logged.

    Source: `tf.tpu.experimental.embedding.TableConfig`, TensorFlow 2.21 (2026).

    >>> TableConfig(8, 4, combiner="sum", name="video")
    TableConfig(vocabulary_size=8, dim=4, initializer=None, optimizer=None, combiner='sum', name='video', \
quantization_config=None)
    """

    def __init__(
        self,
        vocabulary_size: int,
        dim: int,
        initializer: Initializer | None = None,
        optimizer: Optimizer | None = None,
        combiner: str | CustomCombiner = "mean",
        name: str | None = None,
        quantization_config: QuantizationConfig | None = None,
        layout: Any = None,
        dtype: Any = np.float32,
    ) -> None:
        _check_count("vocabulary_size", vocabulary_size, 1)
        _check_count("dim", dim, 1)
        if initializer is not None and not callable(initializer):
            raise ValueError(f"initializer must be a function or None, got {initializer!r}")
        if combiner not in _COMBINERS and not isinstance(combiner, CustomCombiner):
            raise ValueError(
                f"combiner must be one of {', '.join(_COMBINERS)}, or a CustomCombiner; got "
                f"{combiner!r}"
            )
        if dtype is None or _dtype(dtype) not in _DTYPES:
            raise ValueError(f"dtype must be float32 or int32, got {dtype!r}")
        self.vocabulary_size, self.dim = vocabulary_size, dim
        self.initializer: Initializer = initializer or TruncatedNormal(dim**-0.5)
        self.optimizer, self.combiner, self.name = optimizer, combiner, name
        self.quantization_config, self.layout, self.dtype = quantization_config, layout, dtype

    def __repr__(self) -> str:
        rest = _shown(self, "optimizer", "combiner", "name", "quantization_config").partition("(")[
            2
        ]
        initializer = (
            None if self.initializer == TruncatedNormal(self.dim**-0.5) else self.initializer
        )
        return f"{_shown(self, 'vocabulary_size', 'dim')[:-1]}, initializer={initializer!r}, {rest}"


class FeatureConfig:
    """One column of ids, and the table it reads.

    Args:
        table: a `TableConfig`.
        max_sequence_length: above 0 the rows of a sample are not combined but stand in a row of
            this length, cut off or filled up with zeros.
        validate_weights_and_indices: when serving, drop negative ids and useless weights.
        output_shape: of the activations of one core, without the last axis; None to take it from
            `build` or from the first input. Entries may be None, too.
        name: what errors call it, and the configuration.

    Raises:
        ValueError: another type of table, a length that isn't an integer from 0,
            `validate_weights_and_indices` that is no bool, a negative size.
        TypeError: sizes that aren't integers.

    Source: `tf.tpu.experimental.embedding.FeatureConfig`, TensorFlow 2.21 (2026).

    >>> FeatureConfig(TableConfig(8, 4), output_shape=[2, 3]).output_shape
    (2, 3)
    """

    def __init__(
        self,
        table: TableConfig,
        max_sequence_length: int = 0,
        validate_weights_and_indices: bool = True,
        output_shape: Sequence[int | None] | int | None = None,
        name: str | None = None,
    ) -> None:
        if not isinstance(table, TableConfig):
            raise ValueError(f"table must be a TableConfig, got {type(table).__name__}")
        _check_count("max_sequence_length", max_sequence_length, 0)
        if not isinstance(validate_weights_and_indices, bool):
            raise ValueError(
                "validate_weights_and_indices must be True or False, got "
                f"{validate_weights_and_indices!r}"
            )
        self.table, self.name = table, name
        self.max_sequence_length = max_sequence_length
        self.validate_weights_and_indices = validate_weights_and_indices
        self.output_shape = None if output_shape is None else shape_of(output_shape)

    @property
    def is_sequence(self) -> bool:
        """Tell whether the ids form a sequence; an output shape takes precedence."""
        return self.max_sequence_length > 0 and self.output_shape is None

    def __repr__(self) -> str:
        return _shown(
            self,
            "table",
            "max_sequence_length",
            "validate_weights_and_indices",
            "output_shape",
            "name",
        )


def shape_of(given: Any) -> Shape:
    """Return sizes, None where unknown, from an integer, integers, or an object with `as_list`.

    >>> shape_of([None, 3]), shape_of(5)
    ((None, 3), (5,))
    """
    if hasattr(given, "as_list"):
        given = given.as_list()
    if isinstance(given, str):
        raise TypeError(f"a shape is made of integers, got {given!r}")
    sizes = given if isinstance(given, Sequence | np.ndarray) else [given]
    shape = tuple(None if n is None else operator.index(n) for n in sizes)
    if negative := [n for n in shape if n is not None and n < 0]:
        raise ValueError(f"the sizes of a shape must be at least 0, got {negative[0]}")
    return shape


def _check_count(name: str, given: Any, least: int) -> None:
    """Check like TensorFlow, which accepts no NumPy integers here."""
    if not isinstance(given, int) or given < least:
        raise ValueError(f"{name} must be an integer of at least {least}, got {given!r}")


def _dtype(given: Any) -> Any:
    try:
        return np.dtype(getattr(given, "as_numpy_dtype", given))
    except TypeError:
        return None


def _shown(x: Any, *names: str) -> str:
    return f"{type(x).__name__}({', '.join(f'{n}={getattr(x, n)!r}' for n in names)})"
