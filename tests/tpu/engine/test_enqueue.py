"""Inputs of the enqueue operations become ids of features, in every way they can be written."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradlab.errors import InvalidArgumentError
from gradlab.tpu import Feature, Ids, Plan, Table
from gradlab.tpu.engine.enqueue import (
    Input,
    as_indices,
    ids_of_features,
    ids_of_tables,
    set_combiners,
)

TABLES = (Table("t", 9, 1), Table("u", 9, 1))
POOLED = Plan(TABLES[:1], (Feature("f", 0, (3,)),))
SEQUENCE = Plan(TABLES[:1], (Feature("f", 0, (2, 3)),))
# A batch of 2, 3 rows of "t" and 1 of "u".
TWO = Plan(TABLES, (Feature("t", 0, (6,)), Feature("u", 1, (2,))))


def read(found: Ids) -> list[Any]:
    """Samples, ids and weights as lists."""
    return [
        None if x is None else np.asarray(x).tolist()
        for x in (found.samples, found.ids, found.weights)
    ]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (Input([], [7, 3, 8]), [[0, 1, 2], [7, 3, 8], None]),
        (Input([0, 2, 2, 3], [7, 3, 8]), [[0, 0, 2], [7, 3, 8], None]),
        (Input([0, 2, 2, 3], [7, 3, 8], [0.5, 1, 2]), [[0, 0, 2], [7, 3, 8], [0.5, 1, 2]]),
        (Input([[2, 0], [0, 1], [0, 0]], [8, 3, 7]), [[0, 0, 2], [7, 3, 8], None]),
        (Input(as_indices([2, 0, 0]), [8, 7, 3], [3, 1, 2]), [[0, 0, 2], [7, 3, 8], [1, 2, 3]]),
        (Input(np.zeros((0, 2), int), []), [[], [], None]),
        (Input([], []), [[], [], None]),
        (Input([0, 0, 0, 0], []), [[], [], None]),
    ],
)
def test_pooled_features(given: Input, expected: list[Any]) -> None:
    assert read(ids_of_features(POOLED, [given])["f"]) == expected


@pytest.mark.parametrize(
    "given",
    [
        Input([0, 4, 5], [7, 3, 8, 5, 6]),  # ragged: 4 ids for 3 places
        Input([[0, 0, 0], [0, 1, 0], [0, 2, 0], [0, 3, 0], [1, 0, 0]], [7, 3, 8, 5, 6]),
        Input(
            [[0, 0], [0, 1], [0, 2], [0, 3], [1, 0]], [7, 3, 8, 5, 6], samples=3, is_sequence=True
        ),
    ],
)
def test_sequences_are_cut_at_their_end(given: Input) -> None:
    assert read(ids_of_features(SEQUENCE, [given])["f"]) == [[0, 1, 2, 3], [7, 3, 8, 6], None]


def test_weights_are_cut_with_their_ids() -> None:
    given = Input([[0, 2, 0], [0, 3, 0], [1, 0, 0]], [7, 3, 8], [1.0, 2.0, 3.0])
    assert read(ids_of_features(SEQUENCE, [given])["f"]) == [[2, 3], [7, 8], [1.0, 3.0]]


def test_flat_indices_count_all_axes_in_one() -> None:
    given = Input([[4, 0], [4, 1], [1, 0]], [7, 3, 8])
    assert read(ids_of_features(SEQUENCE, [given], flat=True)["f"]) == [[1, 4, 4], [8, 7, 3], None]


def test_inputs_of_one_table_lie_side_by_side() -> None:
    sequence = Input([[0, 0], [1, 0], [1, 1], [1, 2]], [1, 2, 3, 4], samples=2, is_sequence=True)
    pooled = Input([0, 2, 3], [5, 6, 7], [0.5, 0.25, 2.0])
    other = Input([], [8, 0])
    found = ids_of_tables(TWO, [sequence, other, pooled], table_ids=[0, 1, 0])
    assert read(found["t"]) == [[0, 2, 2, 3, 4, 5], [1, 5, 6, 2, 3, 7], [1, 0.5, 0.25, 1, 1, 2]]
    assert read(found["u"]) == [[0, 1], [8, 0], None]


def test_an_input_with_several_rows_of_each_element() -> None:
    first = Input([[0, 0], [3, 0]], [1, 2], samples=2)  # elements 0 and 1, rows 0 and 1
    found = ids_of_tables(TWO, [first, Input([], [8, 0]), Input([], [5, 6])], table_ids=[0, 1, 0])
    assert read(found["t"])[:2] == [[0, 2, 4, 5], [1, 5, 2, 6]]


def test_without_table_ids_an_input_is_a_table() -> None:
    found = ids_of_tables(TWO, [Input([[5, 0]], [1]), Input([], [8, 0])])
    assert read(found["t"]) == [[5], [1], None]


@pytest.mark.parametrize(
    ("plan", "inputs", "table_ids", "words"),
    [
        (POOLED, [], None, "there are 1 tables, got 0"),
        (POOLED, [Input([], [1, 2])], None, r"feature 'f'.*must have shape \(3,\), got \(2,\)"),
        (POOLED, [Input([[3, 0]], [1])], None, r"feature 'f' has samples of shape \(3,\)"),
        (POOLED, [Input([[0, 0]], [1, 2])], None, "feature 'f'"),
        (SEQUENCE, [Input([[0, -1, 0]], [1])], None, "feature 'f'"),
        (SEQUENCE, [Input([0, 1, 1, 1], [1])], None, "feature 'f' needs 3 row splits"),
        (
            TWO,
            [Input([], [1])],
            [0, 1],
            "there are 1 inputs, each with its entry of table_ids, got 2",
        ),
        (TWO, [Input([], [1])], [2], "table_ids must be 0 to 1, got 2"),
        (
            TWO,
            [Input([], [1], samples=4)],
            [0],
            "table 't' has 6 rows, the inputs fill 4 at a time",
        ),
    ],
)
def test_what_does_not_fit_is_refused(
    plan: Plan, inputs: list[Input], table_ids: Any, words: str
) -> None:
    with pytest.raises(InvalidArgumentError, match=words):
        ids_of_tables(plan, inputs, table_ids)


def test_combiners_are_one_for_each_table() -> None:
    assert [t.combiner for t in set_combiners(TWO, [b"mean", "sqrtn"]).tables] == ["mean", "sqrtn"]
    assert [t.combiner for t in set_combiners(TWO, None).tables] == ["sum", "sum"]
