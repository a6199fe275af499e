"""All ways to write the ids of a feature say the same, and what does not fit is refused by name."""

from types import SimpleNamespace
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradlab.errors import InvalidArgumentError
from gradlab.tpu import Feature, Ids, Plan, Table, ids_of, make_batch

FLAT, SQUARE, SEQUENCE = Feature("f", 0, (3,)), Feature("f", 0, (2, 2)), Feature("f", 0, (3, 2), 2)

rows_and_weights = st.lists(
    st.lists(st.tuples(st.integers(0, 9), st.floats(0.5, 2, width=32)), max_size=4),
    min_size=3,
    max_size=3,
)


def plain(ids: Ids) -> list[Any]:
    return [None if x is None else np.asarray(x).tolist() for x in ids]


def sparse(rows: list[list[Any]]) -> tuple[np.ndarray, list[Any]]:
    indices = [(k, j) for k, row in enumerate(rows) for j in range(len(row))]
    return np.array(indices, np.int64).reshape(-1, 2), [x for row in rows for x in row]


def ragged(rows: list[list[Any]]) -> tuple[np.ndarray, list[Any]]:
    return np.cumsum([0, *(len(row) for row in rows)]), [x for row in rows for x in row]


def as_integers(pair: tuple[np.ndarray, list[Any]]) -> tuple[np.ndarray, np.ndarray]:
    return pair[0], np.array(pair[1], np.int32)


@given(rows_and_weights, st.randoms())
def test_all_ways_say_the_same(rows: list[list[tuple[int, float]]], random: Any) -> None:
    ids, weights = ([[pair[k] for pair in row] for row in rows] for k in (0, 1))
    flat = [w for row in weights for w in row]
    expected = plain(ids_of(FLAT, ids, weights if flat else None))
    assert expected[1] == [i for row in ids for i in row]
    splits, values = as_integers(ragged(ids))
    indices, _ = sparse(ids)
    for w in (np.float32(flat), (splits, flat)):
        assert plain(ids_of(FLAT, (splits, values), w if flat else None)) == expected
    order = list(range(len(flat)))
    random.shuffle(order)
    if order:
        shuffled = np.float32(flat)[order]
        for w in (shuffled, (indices[order], shuffled)):
            assert plain(ids_of(FLAT, (indices[order], values[order]), w)) == expected
    holder = SimpleNamespace(indices=indices, values=values)
    assert (
        plain(ids_of(FLAT, holder, SimpleNamespace(indices=indices, values=flat) if flat else None))
        == expected
    )
    assert (
        plain(ids_of(FLAT, SimpleNamespace(row_splits=splits, values=values)))[:2] == expected[:2]
    )


@pytest.mark.parametrize(
    "values",
    [
        [7, 3, 7],
        np.array([7, 3, 7]),
        np.array([[7], [3], [7]]),
        jnp.array([7, 3, 7]),
        (np.zeros((0, 2)), [7, 3, 7]),
    ],
    ids=["list", "vector", "column", "jax", "sparse without indices"],
)
def test_dense_ids_are_one_for_each_sample(values: Any) -> None:
    assert plain(ids_of(FLAT, values)) == [[0, 1, 2], [7, 3, 7], None, None]
    assert plain(ids_of(FLAT, values, np.zeros(0, np.float32)))[2] is None, (
        "empty weights mean all 1"
    )


def test_samples_of_two_axes() -> None:
    expected = [[0, 0, 3], [7, 3, 5], None, None]
    assert plain(ids_of(SQUARE, [[[7, 3], []], [[], [5]]])) == expected
    assert plain(ids_of(SQUARE, ([[0, 0, 0], [0, 0, 1], [1, 1, 0]], [7, 3, 5]))) == expected
    assert plain(ids_of(SQUARE, ([0, 2, 2, 2, 3], [7, 3, 5]))) == expected
    for dense in ([[1, 2], [3, 4]], np.array([[[1], [2]], [[3], [4]]])):
        assert plain(ids_of(SQUARE, dense))[:2] == [[0, 1, 2, 3], [1, 2, 3, 4]]


def test_sequences_keep_their_places() -> None:
    """An id at place 1 stands there though nothing stands at place 0, and one at place 2 of 2 is
    cut off.
    """
    ids = ids_of(SEQUENCE, ([[0, 1], [2, 2], [2, 0]], [5, 6, 7]))
    assert plain(ids) == [[0, 2, 2], [5, 7, 6], None, [1, 0, 2]]
    (t,) = make_batch(Plan((Table("t", 9, 1),), (SEQUENCE,)), {"f": ids}).tables
    assert [(int(s), int(t.unique[i])) for s, i in zip(t.samples, t.inverse, strict=True)] == [
        (1, 5),
        (4, 7),
    ]
    assert plain(ids_of(SEQUENCE, [[5, 6, 7], [], [8]])) == [[0, 0, 0, 2], [5, 6, 7, 8], None, None]


def test_nothing_at_all() -> None:
    for values in ([[], [], []], ([0, 0, 0, 0], []), (np.zeros((0, 2), np.int64), [])):
        ids = ids_of(FLAT, values)
        assert [x.size for x in (ids.samples, ids.ids)] == [0, 0]
        assert make_batch(Plan((Table("t", 9, 1),), (FLAT,)), {"f": ids}).tables[
            0
        ].weights.tolist() == [0.0]


@pytest.mark.parametrize(
    ("feature", "values", "weights", "message"),
    [
        (FLAT, [1, 2], None, r"dense ids of feature 'f' must have shape \(3,\), got \(2,\)"),
        (
            FLAT,
            np.ones((3, 2), int),
            None,
            r"must have shape \(3,\), got \(3, 2\); for several ids in one sample",
        ),
        (FLAT, [1.0, 2.0, 3.0], None, "the ids of feature 'f' must be integers, got float64"),
        (FLAT, [[1.5], [], [2]], None, "the ids of feature 'f' must be integers, got float64"),
        (FLAT, [[1], [2]], None, r"feature 'f' has samples of shape \(3,\); got 2 for 3"),
        (
            SQUARE,
            [[[1], [2]], [[3]]],
            None,
            r"feature 'f' has samples of shape \(2, 2\); got 1 for 2",
        ),
        (
            FLAT,
            ([[0], [1]], [1, 2]),
            None,
            r"needs indices of shape \(2, 2\), a row for each id; got \(2, 1\)",
        ),
        (
            FLAT,
            ([[0, 0]], [1, 2]),
            None,
            r"needs indices of shape \(2, 2\), a row for each id; got \(1, 2\)",
        ),
        (
            FLAT,
            ([[0, 0], [3, 0]], [1, 2]),
            None,
            r"samples of shape \(3,\); row 1 of its indices is \[3, 0\]",
        ),
        (FLAT, ([[0, 0], [1, -1]], [1, 2]), None, r"row 1 of its indices is \[1, -1\]"),
        (
            FLAT,
            ([0, 1, 2], [1, 2]),
            None,
            "feature 'f' needs 4 row splits that rise from 0 to the number of ids, 2",
        ),
        (FLAT, ([0, 2, 1, 2], [1, 2]), None, "needs 4 row splits that rise from 0"),
        (
            FLAT,
            ([0, 1, 1, 1], [1, 2]),
            None,
            "needs 4 row splits that rise .*, 2; got 4 from 0 to 1",
        ),
        (
            FLAT,
            ([0, 1, 1, 1], [[1]]),
            None,
            r"feature 'f' needs a vector of values, got shape \(1, 1\)",
        ),
        (
            FLAT,
            [[1], [], [2]],
            [[1.0], [2.0], []],
            "needs a weight for each id, written in the same places; got 2 ids",
        ),
        (
            FLAT,
            ([0, 1, 1, 2], [1, 2]),
            [1.0],
            "needs a weight for each id, .* got 2 ids and 1 weights",
        ),
        (
            SEQUENCE,
            np.array([1, 2, 3]),
            None,
            r"feature 'f' has sequences of 2, got dense ids of shape \(3,\); give lists",
        ),
        (
            SEQUENCE,
            [[1], [], [2]],
            [[1.0], [], [1.0]],
            "feature 'f' is a sequence: its ids are not combined",
        ),
    ],
)
def test_what_does_not_fit_is_refused(
    feature: Feature, values: Any, weights: Any, message: str
) -> None:
    with pytest.raises(InvalidArgumentError, match=message):
        ids_of(feature, values, weights)
