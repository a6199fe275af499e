"""Columns of ids; `tests/conformance/test_live_tpu_columns.py` compares them with TensorFlow's."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

from gradlab.tpu.experimental import (
    AdagradParameters,
    IdColumn,
    StochasticGradientDescentParameters,
    embedding,
    embedding_column,
    feature_configs,
    ids_and_weights,
    shared_embedding_columns,
)

SGD = StochasticGradientDescentParameters


def row_ids(shape: Any, dtype: Any = None) -> np.ndarray:
    return np.broadcast_to(np.arange(shape[0], dtype=np.float32)[:, None], shape)


def test_columns_train_one_table() -> None:
    columns = shared_embedding_columns(
        [IdColumn("watched", 8), IdColumn("liked", 8, weight_key="times")],
        2,
        combiner="sum",
        initializer=row_ids,
    )
    features = feature_configs(columns, SGD(0.5))
    tables = embedding.TPUEmbedding(features)
    batch = {"watched": [[7, 3], [7]], "liked": [[1], []], "times": [[2.0], []], "label": [0, 1]}

    tables.enqueue(*ids_and_weights(columns, batch))
    activations = tables.dequeue()
    tables.apply_gradients({key: jnp.ones((2, 2)) for key in features})

    assert activations["watched"][:, 0].tolist() == [10, 7]
    assert activations["liked"][:, 0].tolist() == [2, 0]
    (table,) = tables.embedding_tables.values()
    assert table[[1, 3, 7], 0].tolist() == [0, 2.5, 6]


def test_a_sequence_is_not_combined() -> None:
    column = embedding_column(
        IdColumn("words", 8, is_sequence=True), 2, initializer=row_ids, max_sequence_length=3
    )
    tables = embedding.TPUEmbeddingForServing(feature_configs([column]))

    assert tables({"words": [[7, 3], [1]]})["words"][..., 0].tolist() == [[7, 3, 0], [1, 0, 0]]


def test_a_rate_is_a_function_of_the_step() -> None:
    step = [0]

    def decay(global_step: int) -> float:
        return 0.5 / (1 + global_step)

    columns = [embedding_column(IdColumn(key, 8), 2, learning_rate_fn=decay) for key in ("a", "b")]
    features = feature_configs(columns, AdagradParameters(9.0), lambda: step[0])
    rates = [feature.table.optimizer.learning_rate for feature in features.values()]

    assert rates[0] == rates[1]
    assert rates[0]() == 0.5
    step[0] = 4
    assert rates[0]() == pytest.approx(0.1)


def test_rows_of_a_table_are_drawn_with_one_over_the_root_of_its_width() -> None:
    (feature,) = feature_configs([embedding_column(IdColumn("a", 8), 4)]).values()

    rows = feature.table.initializer((5000, 4), np.float32)
    assert float(jnp.std(rows)) == pytest.approx(0.88 / 2, rel=0.02)  # cut off at two deviations


def test_shared_columns_have_lengths_of_their_own_and_a_sorted_name() -> None:
    columns = shared_embedding_columns(
        [IdColumn("b", 8, is_sequence=True), IdColumn("a", 8)],
        2,
        max_sequence_lengths=[3, 0],
        use_safe_embedding_lookup=False,
    )

    assert [x.get_embedding_var_name() for x in columns] == ["a_b_shared_embedding"] * 2
    features = feature_configs(columns)
    assert features["b"].max_sequence_length == 3
    assert features["a"].max_sequence_length == 0
    assert not features["a"].validate_weights_and_indices


def column(**attributes: Any) -> Any:
    return SimpleNamespace(**attributes)


def test_columns_of_tensorflow_are_read() -> None:
    identity = column(key="k", num_buckets=9)
    weighted = column(categorical_column=identity, weight_feature_key="w")
    sequence = column(categorical_column=weighted)

    found = embedding_column(sequence, 4, max_sequence_length=2).categorical_column

    assert found == IdColumn("k", 9, weight_key="w", is_sequence=True)


def test_lengths_are_for_sequences_only() -> None:
    sequence = IdColumn("a", 8, is_sequence=True)

    with pytest.raises(ValueError, match="must be greater than 0 for sequence columns"):
        embedding_column(sequence, 4)
    with pytest.raises(ValueError, match="max_seq_length=2 specified for non sequence column a"):
        embedding_column(IdColumn("a", 8), 4, max_sequence_length=2)
    with pytest.raises(ValueError, match="does not support sequence columns"):
        embedding_column(
            sequence,
            4,
            max_sequence_length=2,
            embedding_lookup_device="tpu_tensor_core",
            tensor_core_shape=[2, 4],
        )


def test_shared_columns_have_one_number_of_ids() -> None:
    with pytest.raises(ValueError, match="must have the same number of buckets"):
        shared_embedding_columns([IdColumn("a", 8), IdColumn("b", 9)], 4)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("words", "gradlab has no tf.feature_column; got <class 'str'>"),
        (column(key="k", hash_bucket_size=9, num_buckets=9), "makes ids of something else"),
        (column(key="k", vocabulary_list=["a"], num_buckets=1), "Make the ids yourself"),
        (column(key="k", num_buckets=9, default_value=0), "no feature columns that replace ids"),
    ],
)
def test_what_is_not_there_is_named(given: Any, words: str) -> None:
    with pytest.raises(TypeError, match=words):
        embedding_column(given, 4)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"combiner": "sum"}, "must have one combiner, got 'mean' and 'sum'"),
        ({"dimension": 3}, r"must have one size, got \(8, 4\) and \(8, 3\)"),
        ({"learning_rate_fn": abs}, "must have one learning_rate_fn"),
    ],
)
def test_columns_of_one_table_must_agree(changes: dict[str, Any], words: str) -> None:
    ids = [IdColumn("a", 8), IdColumn("b", 8)]
    arguments: dict[str, Any] = {"dimension": 4, "shared_embedding_collection_name": "t"}
    first, _ = shared_embedding_columns(ids, **arguments)
    _, second = shared_embedding_columns(ids, **{**arguments, **changes})

    with pytest.raises(ValueError, match=words):
        feature_configs([first, second], SGD(0.1))


def test_a_key_has_one_column() -> None:
    columns = [embedding_column(IdColumn("a", 8), 4), embedding_column(IdColumn("a", 8), 2)]

    with pytest.raises(ValueError, match="Feature column a is used with multiple embeddings"):
        feature_configs(columns)


@pytest.mark.parametrize(("parameters", "step"), [(None, lambda: 0), (SGD(0.1), None)])
def test_a_rate_needs_parameters_and_a_step(parameters: Any, step: Any) -> None:
    columns = [embedding_column(IdColumn("a", 8), 4, learning_rate_fn=abs)]

    with pytest.raises(ValueError, match="needs parameters and a global_step"):
        feature_configs(columns, parameters, step)


def test_a_batch_must_have_the_keys() -> None:
    columns = [embedding_column(IdColumn("a", 8, weight_key="w"), 4)]

    with pytest.raises(KeyError, match="the batch has no 'w'; it has 'a'"):
        ids_and_weights(columns, {"a": [[1]]})


def test_there_must_be_ids() -> None:
    with pytest.raises(ValueError, match="num_buckets must be at least 1, got 0"):
        IdColumn("a", 0)
    with pytest.raises(ValueError, match="categorical_columns must not be empty"):
        shared_embedding_columns([], 4)
