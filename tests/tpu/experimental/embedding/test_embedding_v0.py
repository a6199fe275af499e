"""Tables without an engine: variables that are looked up whole."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest

import gradlab as gl
from gradlab.errors import InvalidArgumentError
from gradlab.tpu.experimental.embedding import (
    Adagrad,
    FeatureConfig,
    RowIdInitializer,
    TableConfig,
    TPUEmbeddingV0,
)
from tests.differences import differs


def make(optimizer: Any = None, combiner: str = "sum", **feature: Any) -> TPUEmbeddingV0:
    """One feature of a table whose row k is k."""
    table = TableConfig(5, 2, RowIdInitializer(), combiner=combiner, name="t")
    return TPUEmbeddingV0({"f": FeatureConfig(table, **feature)}, optimizer)


def look_up(embedding: TPUEmbeddingV0, ids: Any, weights: Any = None) -> list[Any]:
    scales = None if weights is None else {"f": weights}
    return np.asarray(embedding({"f": ids}, scales)["f"])[..., 0].tolist()


@pytest.mark.parametrize(
    ("combiner", "expected"),
    [("sum", [4 * 2 + 3, 0]), ("mean", [11 / 3, 0]), ("sqrtn", [11 / 5**0.5, 0])],
)
def test_rows_are_combined(combiner: str, expected: list[float]) -> None:
    found = look_up(make(combiner=combiner), [[4, 3], []], [[2.0, 1.0], []])

    assert found == pytest.approx(expected)


def test_no_weight_is_left_out() -> None:
    assert look_up(make(combiner="mean"), [[4, 3]], [[-1.0, 2.0]]) == [2]
    assert look_up(make(combiner="mean"), [[4, 3]], [[-1.0, 1.0]]) == [0]


def test_sequences_are_cut_off_and_filled_up() -> None:
    assert look_up(make(max_sequence_length=2), [[4, 3, 2], [1]]) == [[4, 3], [1, 0]]
    assert look_up(make(output_shape=(2, 2)), [[4, 3, 2], [1]]) == [[4, 3], [1, 0]]
    assert look_up(make(output_shape=(2,)), [[4, 3, 2], [1]]) == [9, 1]


def test_sequences_of_sparse_ids_are_filled_up_with_zeros() -> None:
    embedding = make(max_sequence_length=2)
    (variable,) = embedding.embedding_tables.values()
    variable.assign(variable.numpy() + 10)
    sparse = ([[0, 0], [1, 0], [1, 1], [1, 2]], [4, 3, 2, 1], (2, 3))

    assert look_up(embedding, sparse) == [[14, 0], [13, 12]]
    assert look_up(embedding, [[4], [3, 2, 1]]) == [[14, 10], [13, 12]]


@differs(
    "`TPUEmbeddingV0`: where it runs, and its gradients",
    tensorflow="under a `TPUStrategy`; a tape watches its variables",
    gradlab="anywhere; `jax.grad` by the argument `tables` of `embedding_lookup`",
)
def test_a_variable_is_updated_by_an_optimizer_of_keras() -> None:
    embedding = make()
    (variable,) = embedding.embedding_tables.values()

    def loss(tables: Any) -> Any:
        return embedding.embedding_lookup({"f": [[4, 4], [1]]}, tables=tables)["f"].sum()

    gradients = jax.grad(loss)(embedding.table_values())
    gl.keras.SGD(0.5).apply_gradients([(gradients["t"], variable)])

    assert variable.numpy()[:, 0].tolist() == [0, 0.5, 2, 3, 3]
    assert look_up(embedding, [[4]]) == [3]
    assert embedding.variables["t"]["parameters"][:, 0].tolist() == [0, 0.5, 2, 3, 3]


def test_tables_and_slots_are_saved_and_restored(tmp_path: Path) -> None:
    embedding = make(Adagrad(0.1))
    (variable,) = embedding.embedding_tables.values()
    variable.assign(np.full((5, 2), 7, np.float32))
    embedding.save(tmp_path / "tables.npz")

    other = make(Adagrad(0.1))
    other.restore(tmp_path / "tables.npz")

    assert look_up(other, [[4]]) == [7]
    assert list(other.variables["t"]) == ["parameters", "accumulators"]


@pytest.mark.parametrize(
    ("feature", "ids", "weights", "error", "words"),
    [
        ({}, [[9]], None, InvalidArgumentError, "id 9 of feature 'f'"),
        ({}, np.array([1]), [1.0], ValueError, "'f', but input is dense"),
        ({"max_sequence_length": 2}, np.array([1]), None, ValueError, "is a sequence feature"),
        ({"max_sequence_length": 2}, [[1]], [[1.0]], ValueError, "this is a sequence feature"),
        ({"output_shape": (3,)}, [[1], [2]], None, ValueError, "should be the factor"),
    ],
)
def test_what_does_not_fit_is_refused(
    feature: Any, ids: Any, weights: Any, error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        look_up(make(**feature), ids, weights)
