"""Columns of TPU embeddings beside TensorFlow's: what they say, what they refuse, and a step."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import jax
import numpy as np
import pytest

from gradlab.tpu import experimental as ours
from tests.conformance.compare import Raised
from tests.conformance.runner import attempt
from tests.golden.tensorflow_values import tensorflow

pytestmark = [
    pytest.mark.tensorflow,
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]

ASKED = [
    "get_combiner",
    "get_embedding_table_size",
    "get_feature_key_name",
    "get_weight_key_name",
    "get_embedding_var_name",
    "is_categorical_column_weighted",
    "is_sequence_column",
    "get_max_sequence_length",
    "get_learning_rate_fn",
    "get_sequence_length_feature_key_name",
]


def theirs() -> Any:
    return tensorflow().compat.v1.tpu.experimental


def column(name: str) -> tuple[Any, Any]:
    """A column of ids, ours and TensorFlow's."""
    fc = tensorflow().feature_column
    identity = fc.categorical_column_with_identity
    return {
        "a": (ours.IdColumn("a", 10), identity("a", 10)),
        "b": (ours.IdColumn("b", 10), identity("b", 10)),
        "other": (ours.IdColumn("c", 11), identity("c", 11)),
        "weighted": (
            ours.IdColumn("a", 10, weight_key="w"),
            fc.weighted_categorical_column(identity("a", 10), "w"),
        ),
        "sequence": (
            ours.IdColumn("s", 10, is_sequence=True),
            fc.sequence_categorical_column_with_identity("s", 10),
        ),
    }[name]


@pytest.mark.parametrize("name", ["embedding_column", "shared_embedding_columns"])
def test_signatures(name: str) -> None:
    mine, original = (inspect.signature(getattr(lib, name)) for lib in (ours, theirs()))

    assert list(mine.parameters) == list(original.parameters)
    for parameter, p in original.parameters.items():
        assert mine.parameters[parameter].default == p.default


@pytest.mark.parametrize(
    ("name", "more"),
    [
        ("a", {}),
        ("weighted", {"combiner": "sum"}),
        ("sequence", {"max_sequence_length": 3}),
        ("a", {"embedding_lookup_device": "tpu_tensor_core", "tensor_core_shape": [None, 3]}),
    ],
)
def test_a_column_says_what_tensorflows_does(name: str, more: dict[str, Any]) -> None:
    own, other = column(name)
    expected = theirs().embedding_column(other, 4, **more)

    for given in (own, other):
        check_same(ours.embedding_column(given, 4, **more), expected)


@pytest.mark.parametrize("more", [{}, {"shared_embedding_collection_name": "shared"}])
@pytest.mark.parametrize("names", [["a", "b"], ["b", "weighted"], ["b", "sequence"]])
def test_shared_columns_say_what_tensorflows_do(names: list[str], more: dict[str, Any]) -> None:
    own, other = zip(*map(column, names), strict=True)
    lengths = [3 if name == "sequence" else 0 for name in names]
    found = ours.shared_embedding_columns(own, 4, max_sequence_lengths=lengths, **more)
    expected = theirs().shared_embedding_columns(
        list(other), 4, max_sequence_lengths=lengths, **more
    )

    for mine, original in zip(found, expected, strict=True):
        check_same(mine, original)


def check_same(mine: Any, original: Any) -> None:
    for question in ASKED:
        assert getattr(mine, question)() == getattr(original, question)(), question
    assert mine.name == original.name


Make = Callable[[Any, Callable[[str], Any]], Any]
REFUSED: list[Make] = [
    lambda lib, c: lib.embedding_column(c("a"), 0),
    lambda lib, c: lib.embedding_column("a", 4),
    lambda lib, c: lib.embedding_column(c("a"), 4, initializer=3),
    lambda lib, c: lib.embedding_column(c("sequence"), 4),
    lambda lib, c: lib.embedding_column(c("a"), 4, max_sequence_length=2),
    lambda lib, c: lib.embedding_column(c("a"), 4, max_sequence_length=-1),
    lambda lib, c: lib.embedding_column(c("a"), 4, embedding_lookup_device="gpu"),
    lambda lib, c: lib.embedding_column(c("a"), 4, embedding_lookup_device="tpu_tensor_core"),
    lambda lib, c: lib.embedding_column(c("a"), 4, tensor_core_shape=[3]),
    lambda lib, c: lib.embedding_column(
        c("sequence"),
        4,
        max_sequence_length=2,
        embedding_lookup_device="tpu_tensor_core",
        tensor_core_shape=[None, 3],
    ),
    lambda lib, c: lib.shared_embedding_columns([c("a"), c("b")], 4, max_sequence_lengths=[1]),
    lambda lib, c: lib.shared_embedding_columns([c("a"), c("other")], 4),
    lambda lib, c: lib.shared_embedding_columns([c("a"), "b"], 4),
    lambda lib, c: lib.shared_embedding_columns([c("a"), c("b")], None),
    lambda lib, c: lib.shared_embedding_columns([c("a"), c("b")], 4, max_sequence_lengths=[1, 0]),
]


@pytest.mark.parametrize("make", REFUSED)
def test_both_refuse(make: Make) -> None:
    original = attempt(lambda: make(theirs(), lambda name: column(name)[1]))

    assert isinstance(original, Raised)
    with pytest.raises(type(original.error)):
        make(ours, lambda name: column(name)[0])


def test_a_column_that_makes_ids_of_words_is_refused() -> None:
    fc = tensorflow().feature_column
    for made in (
        fc.categorical_column_with_vocabulary_list("k", ["a", "b"]),
        fc.categorical_column_with_hash_bucket("k", 9),
        fc.categorical_column_with_identity("k", 9, default_value=0),
    ):
        with pytest.raises(TypeError, match="gradlab has no feature columns"):
            ours.embedding_column(made, 4)


WORDS = [[3, 1, 3], [], [2]]
MOVIES = [[0], [5, 4], [5]]


def test_a_step_is_that_of_tensorflows_columns_on_a_cpu() -> None:
    values = np.random.default_rng(0).normal(size=(10, 4)).astype(np.float32)
    targets = np.random.default_rng(1).normal(size=(3, 4)).astype(np.float32)

    # What a program of TensorFlow 1 has, but for the parts that run it.
    def columns_of(lib: Any, c: Callable[[str], Any]) -> list[Any]:
        def initializer(shape: Any, dtype: Any = None, partition_info: Any = None) -> Any:
            return values if lib is ours else tensorflow().constant(values)

        return [
            lib.embedding_column(c("a"), 4, combiner="sqrtn", initializer=initializer),
            lib.embedding_column(c("b"), 4, initializer=initializer),
        ]

    columns = columns_of(ours, lambda name: column(name)[0])
    features = ours.feature_configs(columns, ours.AdagradParameters(0.5))
    embedding = ours.embedding.TPUEmbedding(features)
    embedding.enqueue(*ours.ids_and_weights(columns, {"a": WORDS, "b": MOVIES}))
    activations = embedding.dequeue()

    def loss(activations: Any) -> Any:
        return ((activations["a"] * activations["b"] - targets) ** 2).sum()

    value, gradients = jax.value_and_grad(loss)(activations)
    embedding.apply_gradients(gradients)
    tables = [embedding.embedding_tables[features[key].table] for key in ("a", "b")]

    expected = step_of_tensorflow(columns_of(theirs(), lambda name: column(name)[1]), targets)
    np.testing.assert_allclose(activations["a"], expected["a"], rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(activations["b"], expected["b"], rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(value, expected["loss"], rtol=1e-5)
    for found, table in zip(tables, expected["tables"], strict=True):
        np.testing.assert_allclose(found, table, rtol=1e-5, atol=1e-6)


def step_of_tensorflow(columns: list[Any], targets: np.ndarray) -> dict[str, Any]:
    """Activations, the loss, and the tables after a step, in a graph and session."""
    tf = tensorflow()
    v1 = tf.compat.v1
    with tf.Graph().as_default():
        batch = {"a": sparse(WORDS), "b": sparse(MOVIES)}
        words, movies = (v1.feature_column.input_layer(batch, [c]) for c in columns)
        loss = tf.reduce_sum((words * movies - targets) ** 2)
        step = v1.train.AdagradOptimizer(0.5).minimize(loss)
        with v1.Session() as session:
            session.run(v1.global_variables_initializer())
            before = session.run([words, movies, loss])
            session.run(step)
            tables = session.run(v1.trainable_variables())
    return {"a": before[0], "b": before[1], "loss": before[2], "tables": tables}


def sparse(rows: list[list[int]]) -> Any:
    places = [(row, k) for row, ids in enumerate(rows) for k in range(len(ids))]
    ids = [x for row in rows for x in row]
    return tensorflow().SparseTensor(places, np.int64(ids), (len(rows), 3))
