"""Lookups without an engine: every way to write ids, and what is refused.

Numbers are compared in conformance/.
"""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gradlab.tpu.experimental.embedding import (
    Adagrad,
    FeatureConfig,
    RowIdInitializer,
    TableConfig,
    TPUEmbeddingForServing,
)
from gradlab.tpu.experimental.embedding import serving_embedding_lookup as serve

TABLE = TableConfig(8, 1, combiner="sum", name="t")
VALUES = np.arange(8.0, dtype=np.float32)[:, None]
SPARSE = ([[0, 0], [0, 1], [2, 0]], [1, 2, 3], [4, 2])


def one(ids: Any, weights: Any = None, **more: Any) -> Any:
    return serve(ids, weights, {TABLE: VALUES}, FeatureConfig(TABLE, **more))


@pytest.mark.parametrize("ids", [SPARSE, ([0, 2, 2, 3, 3], [1, 2, 3]), [[1, 2], [], [3], []]])
def test_all_ways_to_write_ids_give_the_same(ids: Any) -> None:
    assert one(ids).ravel().tolist() == [3, 0, 3, 0]
    assert one(ids, max_sequence_length=1)[..., 0].tolist() == [[1], [0], [3], [0]]


def test_dense_ids_have_any_shape() -> None:
    assert one(np.array([[1, 2], [3, 4]])).tolist() == [[[1], [2]], [[3], [4]]]
    assert one([1, 2]).tolist() == [[1], [2]]


def test_ragged_samples_are_arranged_by_the_output_shape() -> None:
    assert one([[1, 2], [], [3], []], output_shape=[2, 2])[..., 0].tolist() == [[3, 0], [3, 0]]
    assert one([[1, 2, 7], [3]], output_shape=[2, 2])[..., 0].tolist() == [[1, 2], [3, 0]]
    with pytest.raises(ValueError, match=r"output shape \(3,\), which 2 samples cannot fill"):
        one([[1], [2]], output_shape=[3])


def test_useless_weights_and_ids_are_left_out_when_asked() -> None:
    ids = (SPARSE[0], [1, -1, 3], SPARSE[2])
    assert one(ids).ravel().tolist() == [1, 0, 3, 0]
    with pytest.raises(ValueError, match="-1"):
        one(ids, validate_weights_and_indices=False)


def test_some_features_of_a_dict_may_be_asked_alone() -> None:
    features = {"a": FeatureConfig(TABLE), "b": (FeatureConfig(TABLE), FeatureConfig(TABLE))}
    found = serve({"b": ([[1]], [[2]])}, None, {TABLE: VALUES}, features)
    assert jax.tree.map(float, jax.tree.map(jnp.sum, found)) == {"b": (1.0, 2.0)}


def test_the_first_of_a_tuple_may_be_asked_alone() -> None:
    features = (
        FeatureConfig(TABLE),
        [FeatureConfig(TABLE), FeatureConfig(TABLE)],
        FeatureConfig(TABLE),
    )
    found = serve(([[1]], [[[2]]]), None, {TABLE: VALUES}, features)
    assert jax.tree.map(lambda x: x.tolist(), found, is_leaf=lambda x: hasattr(x, "shape")) == (
        [[1]],
        [[[2]]],
    )
    with pytest.raises(
        ValueError, match=r"not a subset of feature_config: inputs must have .* got \[0, 1, 2, 3\]"
    ):
        serve(([1], [[2]], [3], [4]), None, {TABLE: VALUES}, features)


def test_tables_can_be_differentiated() -> None:
    def loss(values: Any) -> Any:
        return (
            serve([[1, 2], [2]], [[1.0, 3.0], [0.5]], {TABLE: values}, FeatureConfig(TABLE)) ** 2
        ).sum()

    assert jax.grad(loss)(jnp.asarray(VALUES)).ravel()[:4].tolist() == [0, 14, 43, 0]


@pytest.mark.parametrize(
    ("ids", "weights", "more", "told"),
    [
        ([1, 2], [1.0, 1.0], {}, "dense: each weighs 1"),
        (
            [1, 2],
            None,
            {"max_sequence_length": 2},
            "a sequence feature but a dense tensor was passed",
        ),
        (
            [[1]],
            [[1.0]],
            {"max_sequence_length": 2},
            "this is a sequence feature, whose ids are not combined",
        ),
        (
            SPARSE,
            [[1.0]],
            {},
            "of type RaggedTensor but it does not match type of the input which is SparseTensor",
        ),
        ([[8]], None, {}, "8"),
        ([8], None, {}, "id 8 of feature '' is outside its table, whose rows are 0 to 7"),
    ],
)
def test_what_is_refused(ids: Any, weights: Any, more: dict[str, Any], told: str) -> None:
    with pytest.raises(ValueError, match=told):
        one(ids, weights, **more)


def test_features_that_are_not_there_are_refused() -> None:
    features = {"a": FeatureConfig(TABLE)}
    for inputs in ({"b": [[1]]}, [[[1]]]):
        with pytest.raises(ValueError, match="like the features"):
            serve(inputs, None, {TABLE: VALUES}, features)
    with pytest.raises(ValueError, match="weights must be for the features a, c, got a"):
        serve(
            {"a": [[1]], "c": [[1]]},
            {"a": [[1.0]]},
            {TABLE: VALUES},
            {**features, "c": features["a"]},
        )
    with pytest.raises(KeyError):
        serve({"a": [[1]]}, None, {}, features)


def test_a_served_model_has_its_tables_and_slots_if_it_wants_them() -> None:
    def make(optimizer: Any) -> TPUEmbeddingForServing:
        return TPUEmbeddingForServing(
            {"x": FeatureConfig(TableConfig(4, 1, RowIdInitializer(), name="t"))}, optimizer
        )

    assert make(None).variables["t"].keys() == {"parameters"}
    served = make(Adagrad())
    served.build()
    assert served.variables["t"]["accumulators"].ravel().tolist() == [np.float32(0.1)] * 4
    assert make(None)({"x": [[3], [1, 1]]}, {"x": [[2.0], [1.0, 1.0]]})["x"].ravel().tolist() == [
        3,
        1,
    ]
    assert served.embedding_lookup({"x": np.array([2, 3])})["x"].ravel().tolist() == [2, 3]
    with pytest.raises(ValueError, match="table 't' needs an optimizer"):
        make("adagrad")
