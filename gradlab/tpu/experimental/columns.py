"""TensorFlow 1's columns of TPU embeddings, on dicts of ids.

A column says which ids of a batch look up which table, and how. There is no framework of feature
columns here: what makes ids of words, hashes or buckets is up to the model. `feature_configs` turns
columns into what `gl.tpu.experimental.embedding` trains, and `ids_and_weights` a dict of ids.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .embedding import FeatureConfig, Optimizer, TableConfig, TruncatedNormal

DEVICES = ("cpu", "tpu_tensor_core", "tpu_embedding_core")
# Attributes of TensorFlow's columns whose ids are made of something else.
MAKES_IDS = ("vocabulary_list", "vocabulary_file", "hash_bucket_size", "boundaries", "keys")


@dataclass(frozen=True)
class IdColumn:
    """The ids of one key of a batch.

    Args:
        key: of the ids in a batch.
        num_buckets: ids are 0 to num_buckets - 1.
        weight_key: of a weight for each id; None for none.
        is_sequence: the ids of a sample are a sequence and aren't combined.

    Raises:
        ValueError: no id at all.

    TensorFlow's columns of ids are taken in its place:
    `categorical_column_with_identity`, `sequence_categorical_column_with_identity` and
    `weighted_categorical_column` of them. Not in TensorFlow.

    >>> IdColumn("words", 1000)
    IdColumn(key='words', num_buckets=1000, weight_key=None, is_sequence=False)
    """

    key: str
    num_buckets: int
    weight_key: str | None = None
    is_sequence: bool = False

    def __post_init__(self) -> None:
        if self.num_buckets < 1:
            raise ValueError(f"num_buckets must be at least 1, got {self.num_buckets}")

    @property
    def name(self) -> str:
        """The name that TensorFlow gives the column."""
        return self.key if self.weight_key is None else f"{self.key}_weighted_by_{self.weight_key}"


@dataclass(frozen=True)
class EmbeddingColumn:
    """A column whose ids look up a table: what `embedding_column` returns.

    Source: `_TPUEmbeddingColumnV2` and `_TPUSharedEmbeddingColumnV2`, TensorFlow 2.21 (2026).

    >>> column = embedding_column(IdColumn("words", 1000), 8)
    >>> column.get_embedding_table_size(), column.get_embedding_var_name()
    ((1000, 8), 'words')
    """

    categorical_column: IdColumn
    dimension: int
    combiner: str
    initializer: Callable[..., Any]
    max_sequence_length: int
    learning_rate_fn: Callable[[Any], Any] | None
    embedding_lookup_device: str | None
    tensor_core_shape: tuple[int | None, ...] | None
    use_safe_embedding_lookup: bool
    shared_embedding_collection_name: str | None = None

    @property
    def name(self) -> str:
        """The name that TensorFlow gives the column."""
        is_shared = self.shared_embedding_collection_name is not None
        return f"{self.categorical_column.name}{'_shared' if is_shared else ''}_embedding"

    def get_combiner(self) -> str:
        """Return how the rows of a sample are joined."""
        return self.combiner

    def get_embedding_table_size(self) -> tuple[int, int]:
        """Return the rows and the width of the table."""
        return (self.categorical_column.num_buckets, self.dimension)

    def get_feature_key_name(self) -> str:
        """Return the key of the ids in a batch."""
        return self.categorical_column.key

    def get_weight_key_name(self) -> str | None:
        """Return the key of the weights in a batch, None for none."""
        return self.categorical_column.weight_key

    def get_embedding_var_name(self) -> str:
        """Return the name of the table; columns of one name share it."""
        return self.shared_embedding_collection_name or self.categorical_column.name

    def get_initializer(self) -> Callable[..., Any]:
        """Return the function that makes the table."""
        return self.initializer

    def is_categorical_column_weighted(self) -> bool:
        """Tell whether each id has a weight."""
        return self.categorical_column.weight_key is not None

    def is_sequence_column(self) -> bool:
        """Tell whether the ids of a sample are a sequence."""
        return self.categorical_column.is_sequence

    def get_max_sequence_length(self) -> int:
        """Return the length of sequences, 0 where ids are combined."""
        return self.max_sequence_length

    def get_learning_rate_fn(self) -> Callable[[Any], Any] | None:
        """Return the function of the global step that is the learning rate, None for none."""
        return self.learning_rate_fn

    def get_sequence_length_feature_key_name(self) -> str:
        """Return the key under which TensorFlow puts the lengths of sequences."""
        return f"{self.get_feature_key_name()}_seq_length_"


def embedding_column(
    categorical_column: Any,
    dimension: int,
    combiner: str = "mean",
    initializer: Callable[..., Any] | None = None,
    max_sequence_length: int = 0,
    learning_rate_fn: Callable[[Any], Any] | None = None,
    embedding_lookup_device: str | None = None,
    tensor_core_shape: Sequence[int | None] | None = None,
    use_safe_embedding_lookup: bool = True,
) -> EmbeddingColumn:
    """Return a column whose ids look up a table of their own.

    Args:
        categorical_column: an `IdColumn`, or a column of ids of TensorFlow's.
        dimension: the width of the table.
        combiner: how the rows of a sample are joined: "mean", "sum" or "sqrtn".
        initializer: a function that makes the table; None for truncated normal numbers with
            standard deviation 1 / sqrt(dimension).
        max_sequence_length: the length to which a sequence is cut off or filled up with zeros; 0
            for ids that are combined.
        learning_rate_fn: a function of the global step; None for the rate of the parameters.
        embedding_lookup_device, tensor_core_shape: checked, without effect.
        use_safe_embedding_lookup: when serving, drop negative ids and useless weights.

    Raises:
        TypeError: another kind of column; it names what isn't there.
        ValueError: a dimension below 1, an unknown device, a length that doesn't fit the kind of
            column.

    Source: `tf.compat.v1.tpu.experimental.embedding_column`, TensorFlow 2.21 (2026).

    >>> embedding_column(IdColumn("words", 1000), 8, combiner="sum").get_combiner()
    'sum'
    """
    column = _read_column(categorical_column)
    _check_arguments([column], dimension, initializer, embedding_lookup_device, tensor_core_shape)
    _check_length(column, max_sequence_length)
    return EmbeddingColumn(
        column,
        dimension,
        combiner,
        TruncatedNormal(dimension**-0.5) if initializer is None else initializer,
        max_sequence_length,
        learning_rate_fn,
        embedding_lookup_device,
        None if tensor_core_shape is None else tuple(tensor_core_shape),
        use_safe_embedding_lookup,
    )


def shared_embedding_columns(
    categorical_columns: Sequence[Any],
    dimension: int,
    combiner: str = "mean",
    initializer: Callable[..., Any] | None = None,
    shared_embedding_collection_name: str | None = None,
    max_sequence_lengths: Sequence[int] | None = None,
    learning_rate_fn: Callable[[Any], Any] | None = None,
    embedding_lookup_device: str | None = None,
    tensor_core_shape: Sequence[int | None] | None = None,
    use_safe_embedding_lookup: bool = True,
) -> list[EmbeddingColumn]:
    """Return columns whose ids look up one table.

    Args:
        categorical_columns: columns as for `embedding_column`, of one number of ids.
        shared_embedding_collection_name: the name of the table; None for the sorted names of the
            columns and "shared_embedding", joined by "_".
        max_sequence_lengths: one for each column; None for zeros.

    Others: as there.

    Raises:
        TypeError: what `embedding_column` raises.
        ValueError: what it raises, no columns, other numbers of ids, or another number of lengths.

    Source: `tf.compat.v1.tpu.experimental.shared_embedding_columns`, TensorFlow 2.21 (2026).

    >>> columns = shared_embedding_columns([IdColumn("b", 9), IdColumn("a", 9)], 8)
    >>> [column.get_embedding_var_name() for column in columns]
    ['a_b_shared_embedding', 'a_b_shared_embedding']
    """
    columns = [_read_column(column) for column in categorical_columns]
    if not columns:
        raise ValueError("categorical_columns must not be empty")
    lengths = list(max_sequence_lengths or [0] * len(columns))
    if len(lengths) != len(columns):
        raise ValueError(
            "max_sequence_lengths and categorical_columns must be of the same length. "
            f"len(max_sequence_lengths)={len(lengths)} len(categorical_columns)={len(columns)}."
        )
    _check_arguments(columns, dimension, initializer, embedding_lookup_device, tensor_core_shape)
    for column, length in zip(columns, lengths, strict=True):
        if column.num_buckets != columns[0].num_buckets:
            raise ValueError(
                "To use shared_embedding_column, all categorical_columns must have the same number "
                f"of buckets; got {columns[0]} and {column}"
            )
        _check_length(column, length)
    names = sorted(column.name for column in columns)
    name = shared_embedding_collection_name or "_".join([*names, "shared_embedding"])
    first = embedding_column(
        columns[0],
        dimension,
        combiner,
        initializer,
        lengths[0],
        learning_rate_fn,
        embedding_lookup_device,
        tensor_core_shape,
        use_safe_embedding_lookup,
    )
    return [
        dataclasses.replace(
            first,
            categorical_column=column,
            max_sequence_length=length,
            shared_embedding_collection_name=name,
        )
        for column, length in zip(columns, lengths, strict=True)
    ]


def feature_configs(
    columns: Iterable[EmbeddingColumn],
    parameters: Any = None,
    global_step: Callable[[], Any] | None = None,
) -> dict[str, FeatureConfig]:
    """Return the features of columns by their keys, as `gl.tpu.experimental.embedding` takes them.

    Columns of one table share its `TableConfig`, whose name is that of TensorFlow's Estimator:
    "tbl_" and the name of the column.

    Args:
        parameters: `AdagradParameters` or one of the others; None for tables without slots.
        global_step: a function of nothing, which `learning_rate_fn` of a column is called with.

    Raises:
        ValueError: two columns of one key; columns of one table that want different tables;
            a `learning_rate_fn` without parameters or a global step.

    Not in TensorFlow, whose Estimator does it.

    >>> import gradlab as gl
    >>> words = embedding_column(IdColumn("words", 1000), 8)
    >>> features = feature_configs([words], gl.tpu.experimental.AdagradParameters(0.1))
    >>> features["words"].table.name, features["words"].table.optimizer.learning_rate
    ('tbl_words', 0.1)
    """
    tables: dict[str, tuple[EmbeddingColumn, TableConfig]] = {}
    features: dict[str, FeatureConfig] = {}
    for column in columns:
        key = column.get_feature_key_name()
        if key in features:
            raise ValueError(
                f"Feature column {key} is used with multiple embeddings and this is not supported."
            )
        name = column.get_embedding_var_name()
        if name not in tables:
            tables[name] = (column, _make_table(column, parameters, global_step))
        first, table = tables[name]
        _check_same_table(name, first, column)
        features[key] = FeatureConfig(
            table,
            max_sequence_length=column.max_sequence_length,
            validate_weights_and_indices=column.use_safe_embedding_lookup,
            name=key,
        )
    return features


def ids_and_weights(
    columns: Iterable[EmbeddingColumn], batch: Mapping[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the ids and the weights of a batch by feature, as an embedding's `enqueue` takes them.

    Args:
        batch: ids and weights by their keys; other keys are left out.

    Raises:
        KeyError: a key that the batch doesn't have.

    Not in TensorFlow, whose Estimator does it.

    >>> column = embedding_column(IdColumn("words", 1000, weight_key="counts"), 8)
    >>> ids_and_weights([column], {"words": [[3, 1]], "counts": [[2.0, 1.0]], "label": [1]})
    ({'words': [[3, 1]]}, {'words': [[2.0, 1.0]]})
    """
    ids = {}
    weights: dict[str, Any] = {}
    for column in columns:
        key = column.get_feature_key_name()
        weight_key = column.get_weight_key_name()
        ids[key] = _take(batch, key)
        weights[key] = None if weight_key is None else _take(batch, weight_key)
    return ids, weights


def _take(batch: Mapping[str, Any], key: str) -> Any:
    if key not in batch:
        raise KeyError(f"the batch has no {key!r}; it has {', '.join(map(repr, batch))}")
    return batch[key]


def _make_table(
    column: EmbeddingColumn, parameters: Any, global_step: Callable[[], Any] | None
) -> TableConfig:
    rows, width = column.get_embedding_table_size()
    optimizer: Optimizer | None = None if parameters is None else parameters.optimizer
    rate = column.learning_rate_fn
    if rate is not None:
        if optimizer is None or global_step is None:
            raise ValueError(
                f"column {column.name!r} has a learning_rate_fn, which needs parameters and a "
                "global_step"
            )
        optimizer = dataclasses.replace(optimizer, learning_rate=_RateOfStep(rate, global_step))
    name = f"tbl_{column.get_embedding_var_name()}"
    return TableConfig(rows, width, column.initializer, optimizer, column.combiner, name)


@dataclass(frozen=True)
class _RateOfStep:
    """A learning rate that is asked for the global step; equal for tables that share both functions."""

    rate: Callable[[Any], Any]
    global_step: Callable[[], Any]

    def __call__(self) -> float:
        return float(self.rate(self.global_step()))


def _check_same_table(name: str, first: EmbeddingColumn, other: EmbeddingColumn) -> None:
    """Refuse columns of one table that differ in what makes the table."""
    if first.get_embedding_table_size() != other.get_embedding_table_size():
        raise ValueError(
            f"columns of table {name!r} must have one size, got "
            f"{first.get_embedding_table_size()} and {other.get_embedding_table_size()}"
        )
    for field in ("combiner", "initializer", "learning_rate_fn"):
        if getattr(first, field) != getattr(other, field):
            raise ValueError(
                f"columns of table {name!r} must have one {field}, got {getattr(first, field)!r} "
                f"and {getattr(other, field)!r}"
            )


def _read_column(column: Any) -> IdColumn:
    """Return a column of ids, ours or TensorFlow's.

    Raises:
        TypeError: anything else; it says what to pass.
    """
    if isinstance(column, IdColumn):
        return column
    inner = getattr(column, "categorical_column", None)
    if inner is not None:
        found = _read_column(inner)
        weight_key = getattr(column, "weight_feature_key", None)
        if weight_key is None:
            return dataclasses.replace(found, is_sequence=True)
        return dataclasses.replace(found, weight_key=str(weight_key))
    if any(hasattr(column, name) for name in MAKES_IDS):
        raise TypeError(
            f"categorical_column is a {type(column).__name__}, which makes ids of something else; "
            "gradlab has no feature columns that do that. Make the ids yourself, and pass "
            "gl.tpu.experimental.IdColumn(key, num_buckets)"
        )
    if hasattr(column, "key") and hasattr(column, "num_buckets"):
        if getattr(column, "default_value", None) is not None:
            raise TypeError(
                f"column {column.key!r} has a default_value for ids outside its range; gradlab has "
                "no feature columns that replace ids. Replace them yourself, and pass "
                "gl.tpu.experimental.IdColumn(key, num_buckets)"
            )
        return IdColumn(str(column.key), int(column.num_buckets))
    raise TypeError(
        "categorical_column for tpu embedding_column must be a gl.tpu.experimental.IdColumn(key, "
        "num_buckets) or TensorFlow's categorical_column_with_identity, as gradlab has no "
        f"tf.feature_column; got {type(column)}."
    )


def _check_arguments(
    columns: Sequence[IdColumn],
    dimension: Any,
    initializer: Any,
    device: str | None,
    tensor_core_shape: Sequence[int | None] | None,
) -> None:
    """Refuse what TensorFlow refuses, with its words."""
    if dimension is None or dimension < 1:
        raise ValueError(f"Invalid dimension {dimension}.")
    if tensor_core_shape and len(tensor_core_shape) != 2:
        raise ValueError(f"tensor_core_shape must be size 2. Got {tensor_core_shape}.")
    if initializer is not None and not callable(initializer):
        raise ValueError(
            "initializer must be callable if specified. Embedding of column_name: "
            f"{columns[0].name}"
        )
    if device is not None and device not in DEVICES:
        raise ValueError(f"If set, embedding_lookup_device must be in {list(DEVICES)}")
    if device == "tpu_tensor_core":
        if not tensor_core_shape:
            raise ValueError(
                "Using embedding_lookup_device=tpu_tensor_core requires tensor_core_shape to be "
                "set."
            )
        if any(column.is_sequence for column in columns):
            raise ValueError(
                "embedding_lookup_device=tpu_tensor_core currently does not support sequence "
                "columns."
            )


def _check_length(column: IdColumn, length: int) -> None:
    """Refuse a sequence without a length, and a length without a sequence, with TensorFlow's words."""
    if column.is_sequence and length < 1:
        raise ValueError(
            "max_sequence_length must be greater than 0 for sequence columns. Got "
            f"max_sequence_length={length} for sequence column {column.name}."
        )
    if not column.is_sequence and length:
        raise ValueError(
            f"Non zero max_seq_length={length} specified for non sequence column {column.name}."
        )
