"""How ids are written, and what each core gets of them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import gradlab as gl
from gradlab.tpu import Feature
from gradlab.tpu.experimental.embedding import FeatureConfig, TableConfig
from gradlab.tpu.experimental.embedding.host_inputs import (
    check_known,
    fits,
    merge_shapes,
    output_shape,
    read_format,
    shape_of_one_core,
    shapes_of_batch,
    shapes_of_inputs,
    split_ids,
)

PLAIN, SEQUENCE = (
    FeatureConfig(TableConfig(8, 1)),
    FeatureConfig(TableConfig(8, 1), max_sequence_length=3),
)


@pytest.mark.parametrize(
    ("feature", "given", "expected"),
    [
        (PLAIN, (4,), (4,)),
        (PLAIN, (4, 1), (4,)),
        (PLAIN, (4, 2, None), (4, 2)),
        (SEQUENCE, (4, None), (4, 3)),
        (SEQUENCE, (4, 1), (4,)),  # the shape of dense ids
        (SEQUENCE, (4, 2, 5), (4, 2)),
    ],
)
def test_the_last_axis_is_combined(feature: FeatureConfig, given: Any, expected: Any) -> None:
    assert output_shape(feature, given, "f") == expected


def test_shapes_may_be_nested_like_the_features_or_not() -> None:
    named = [("a", PLAIN), ("b/0", SEQUENCE)]
    for given in ({"a": (4, 1), "b": [(4, None)]}, [(4, 1), (4, None)], [[4, 1], [4, None]]):
        assert shapes_of_inputs(named, given) == [(4,), (4, 3)]
    assert shapes_of_batch(named, 4) == [(4,), (4, 3)]
    with pytest.raises(ValueError, match="one shape for each of 2 features"):
        shapes_of_inputs(named, (4, 1))
    with pytest.raises(ValueError, match="must have an axis"):
        shapes_of_inputs(named[:1], ())


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ((4,), (4,), True),
        ((4,), (5,), False),
        ((4,), (None,), True),
        ((2, 2), (4,), True),  # ragged samples fill both axes
        ((2, 2, 2), (4, 2), True),
        ((2,), (2, 2), False),
        ((2, 3), (3, 2), False),
    ],
)
def test_inputs_fit_what_is_known(old: Any, new: Any, expected: bool) -> None:
    assert fits(old, new) is expected


def test_what_is_known_stays() -> None:
    named = [("a", PLAIN), ("b", PLAIN)]
    assert merge_shapes(named, [None, (2, 2)], [(3,), (4,)]) == [(3,), (2, 2)]
    with pytest.raises(ValueError, match="feature 'b' has the output shape"):
        merge_shapes(named, [None, (2,)], [(3,), (4,)])
    for shape in (None, (None, 3)):
        with pytest.raises(ValueError, match="feature 'a' has the output shape"):
            check_known(named, [shape, (2,)])
    assert check_known(named, [(1,), (2, 2)]) == [(1,), (2, 2)]


RAGGED = SimpleNamespace(row_splits=np.array([0, 1, 3]), values=np.array([5, 6, 7]))
SPARSE = SimpleNamespace(
    indices=np.array([[0, 0], [1, 0], [1, 4]]), values=np.array([5, 6, 7]), dense_shape=[2, 5]
)


@pytest.mark.parametrize(
    ("values", "kind", "shape"),
    [
        (np.array([1, 2]), "dense", (2,)),
        ([[1], [2, 3]], "rows", (2, None)),
        ([[[1], []], [[2, 3], [4]]], "lists", (2, None)),
        ([1, 2], "dense", (2,)),
        (RAGGED, "ragged", (2, None)),
        (SPARSE, "sparse", (2, 5)),
        (([[0, 0]], [1]), "sparse", (None, None)),
        (([0, 1], [1]), "ragged", (1, None)),
    ],
)
def test_ids_say_how_they_are_written(values: Any, kind: str, shape: Any) -> None:
    assert read_format(values, "f") == (kind, shape)


@pytest.mark.parametrize(
    ("values", "told"),
    [
        (np.ones((2, 2), np.int32), "the last of several axes is 1"),
        (3, "must have an axis"),
        ((np.ones((2, 1)), [1, 2], [2]), "at least two axes"),
    ],
)
def test_what_cannot_be_read_is_refused(values: Any, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        read_format(values, "f")


def test_samples_are_shared_equally_or_not_at_all() -> None:
    assert shape_of_one_core((4, None), 2, "f") == (2, None) and shape_of_one_core(
        (None, 3), 2, "f"
    ) == (None, 3)
    with pytest.raises(
        ValueError, match="feature 'f' has 3 samples, which 2 cores cannot share equally"
    ):
        shape_of_one_core((3,), 2, "f")


def shared(
    values: Any, weights: Any = None, shape: tuple[int, ...] = (1,), **more: Any
) -> list[Any]:
    config = FeatureConfig(TableConfig(9, 1), **more)
    found = split_ids(Feature("f", 0, shape), config, values, weights, 2)
    return [tuple(None if x is None else np.asarray(x).tolist() for x in ids[:3]) for ids in found]


@pytest.mark.parametrize("values", [RAGGED, SPARSE, [[5], [6, 7]]])
def test_each_core_counts_its_samples_from_zero(values: Any) -> None:
    assert shared(values) == [([0], [5], None), ([0, 0], [6, 7], None)]


def test_weights_go_with_their_ids() -> None:
    assert shared([[5], [6, 7]], [[1.0], [2.0, 3.0]]) == [
        ([0], [5], [1.0]),
        ([0, 0], [6, 7], [2.0, 3.0]),
    ]


def test_the_ids_of_a_sequence_are_samples_of_their_own() -> None:
    assert shared([[5], [6, 7, 8]], shape=(1, 2), max_sequence_length=2) == [
        ([0], [5], None),
        ([0, 1], [6, 7], None),
    ]


def test_ids_with_more_axes_are_no_sequence_and_that_is_said() -> None:
    ids = ([[0, 0, 0], [1, 1, 0]], [5, 6], [2, 2, 1])
    with pytest.warns(gl.errors.EmbeddingWarning, match="3 axes"):
        assert shared(ids, shape=(1, 2), max_sequence_length=2) == [
            ([0], [5], None),
            ([1], [6], None),
        ]


SPARSE = ([[0, 0], [1, 0], [1, 1]], [1, 2, 3], [2, 2])


@pytest.mark.parametrize(
    ("ids", "weights", "told"),
    [
        (
            SPARSE,
            ([0, 1, 3], np.ones(3)),
            "is type RaggedTensor which does not match type input which is SparseTensor",
        ),
        (
            SPARSE,
            [[1.0], [1.0, 1.0]],
            "is type RaggedTensor which does not match type input which is SparseTensor",
        ),
        (
            ([0, 1, 3], [1, 2, 3]),
            SPARSE,
            "is type SparseTensor which does not match type input which is RaggedTensor",
        ),
        (
            [[1], [2, 3]],
            SPARSE,
            "is type SparseTensor which does not match type input which is RaggedTensor",
        ),
    ],
)
def test_weights_are_written_as_the_ids_are(ids: Any, weights: Any, told: str) -> None:
    config = FeatureConfig(TableConfig(8, 1, name="t"))
    with pytest.raises(ValueError, match=f"Weight for 'f' {told}"):
        split_ids(Feature("f", 0, (2,)), config, ids, weights, 1)
    (found,) = split_ids(Feature("f", 0, (2,)), config, ids, np.float32([1, 2, 3]), 1)
    assert found.weights.tolist() == [1, 2, 3]
