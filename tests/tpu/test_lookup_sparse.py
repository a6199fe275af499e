"""Lookups of whole samples and their derivatives, against a plain loop."""

from typing import Any

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jax.test_util import check_grads

from gradlab.errors import InvalidArgumentError
from gradlab.tpu import embedding_lookup_sparse, safe_embedding_lookup_sparse

TABLE = np.random.default_rng(0).normal(size=(5, 3))
COMBINERS = ["sum", "mean", "sqrtn"]
IDS, WEIGHTS = [[0, 1, 1], [], [4, 0], [3], []], [[0.5, 2.0, 1.0], [], [0.25, -1.0], [3.0], []]

rows_and_weights = st.lists(
    st.lists(st.tuples(st.integers(-1, 4), st.sampled_from([-1.0, 0.0, 0.5, 2.0])), max_size=4),
    max_size=5,
)


def loop(
    rows: list[list[tuple[int, float]]], combiner: str, default_id: int | None = None
) -> np.ndarray:
    """What the safe op gives, sample by sample."""
    found = np.zeros((len(rows), 3))
    for k, row in enumerate(rows):
        kept = [(i, w) for i, w in row if i >= 0 and (w > 0 or combiner == "sum")]
        if not kept and default_id is not None:
            kept = [(default_id, 1.0)]
        total = sum((w * TABLE[i] for i, w in kept), np.zeros(3))
        w = np.array([w for _, w in kept])
        size = {"sum": 1.0, "mean": w.sum(), "sqrtn": np.sqrt((w * w).sum())}[combiner]
        found[k] = total / size if size else 0
    return found


@given(rows_and_weights, st.sampled_from(COMBINERS), st.sampled_from([None, 2]))
def test_the_safe_lookup_is_a_loop_over_samples(
    rows: Any, combiner: str, default_id: int | None
) -> None:
    ids, weights = ([[pair[k] for pair in row] for row in rows] for k in (0, 1))
    if not any(ids):
        return
    got = safe_embedding_lookup_sparse(TABLE, ids, weights, combiner, default_id)
    np.testing.assert_allclose(got, loop(rows, combiner, default_id), rtol=1e-12, atol=1e-12)
    inside = [[(i, 1.0) for i, _ in row if i >= 0] for row in rows]
    plain = embedding_lookup_sparse(TABLE, [[i for i, _ in row] for row in inside], None, combiner)
    np.testing.assert_allclose(plain, loop(inside, combiner)[: len(plain)], rtol=1e-12, atol=1e-12)
    assert not loop(inside, combiner)[len(plain) :].any(), (
        "only empty samples are left out, at the end"
    )


@pytest.mark.exhaustive
@pytest.mark.parametrize("combiner", COMBINERS)
@pytest.mark.parametrize("op", [embedding_lookup_sparse, safe_embedding_lookup_sparse])
def test_derivatives_are_those_of_differences(op: Any, combiner: str) -> None:
    with jax.enable_x64(True):
        weights = jnp.array([w for row in WEIGHTS for w in row])

        def f(table: Any, w: Any) -> Any:
            return (op(table, IDS, w, combiner, max_norm=1.0) ** 3).sum()

        check_grads(f, (jnp.asarray(TABLE), weights), order=1, modes=["fwd", "rev"])
        assert jax.jit(f)(jnp.asarray(TABLE), weights) == pytest.approx(
            float(f(TABLE, np.asarray(weights)))
        )


@pytest.mark.exhaustive
def test_weights_that_cancel_give_0_and_no_gradient() -> None:
    def f(table: Any, w: Any) -> Any:
        return embedding_lookup_sparse(table, [[0, 1]], w, "mean").sum()

    value, gradients = jax.value_and_grad(f, (0, 1))(jnp.asarray(TABLE), jnp.array([1.0, -1.0]))
    assert float(value) == 0 and not any(np.asarray(g).any() for g in gradients)


def test_what_is_left_out_may_be_infinite() -> None:
    table = TABLE.copy()
    table[0] = np.inf
    assert safe_embedding_lookup_sparse(table, [[-1, 1], []]).tolist() == [
        TABLE[1].tolist(),
        [0, 0, 0],
    ]


def test_samples_of_two_axes() -> None:
    ids = (np.array([[0, 1, 0], [1, 0, 0], [1, 0, 1]]), np.array([1, 2, 3]), (2, 2, 2))
    safe = safe_embedding_lookup_sparse(TABLE, ids, None, "sum")
    zero = np.zeros(3)
    np.testing.assert_array_equal(safe, [[zero, TABLE[1]], [TABLE[2] + TABLE[3], zero]])
    np.testing.assert_array_equal(embedding_lookup_sparse(TABLE, ids, None, "sum"), safe.sum(1))


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16, np.float32, np.float64])
def test_the_table_gives_the_dtype(dtype: Any) -> None:
    table = np.ones((5, 2), dtype)
    assert embedding_lookup_sparse(table, [[1] * 3000], None, "sum").dtype == dtype
    assert float(embedding_lookup_sparse(table, [[1] * 3000], None, "mean")[0, 0]) == 1, (
        "summed in float32 at least"
    )


def test_nothing_looked_up() -> None:
    assert embedding_lookup_sparse(TABLE, [[], []], None).shape == (0, 3)
    assert safe_embedding_lookup_sparse(TABLE, [[], []]).tolist() == [[0, 0, 0]] * 2


@pytest.mark.parametrize(
    ("params", "ids", "weights", "options", "message"),
    [
        (TABLE, [[5]], None, {}, r"indices of sp_ids must be in \[0, 5\), got 5 at position 0"),
        (TABLE, [[-1]], None, {}, "got -1 at position 0"),
        (TABLE, [[0.5]], None, {}, "ids must be integers, got float64"),
        (
            TABLE,
            (np.array([[1, 0], [0, 0]]), [1, 2]),
            None,
            {},
            "must not decrease; sort the indices",
        ),
        (TABLE, [[0, 1]], [1.0], {}, r"each id needs one weight: 2 ids, weights of shape \(1,\)"),
        (
            TABLE,
            [[0]],
            None,
            {"combiner": "max"},
            "combiner must be one of 'sum', 'mean', 'sqrtn'; got 'max'",
        ),
        ([], [[0]], None, {}, "params is empty; give a table"),
    ],
)
def test_what_does_not_fit_is_refused(
    params: Any, ids: Any, weights: Any, options: Any, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        embedding_lookup_sparse(params, ids, weights, **options)


def test_a_default_outside_the_table_is_refused() -> None:
    with pytest.raises(InvalidArgumentError, match="indices of default_id"):
        safe_embedding_lookup_sparse(TABLE, [[0], []], default_id=5)


def test_sparse_weights_of_ragged_ids_and_the_reverse_are_refused() -> None:
    ragged, sparse = (
        ([0, 1, 3], np.float32([1, 2, 3])),
        ([[0, 0], [1, 0], [1, 1]], np.float32([1, 2, 3]), (2, 2)),
    )
    whole = [(x[0], [1, 2, 3], *x[2:]) for x in (ragged, sparse)]
    for lookup in (embedding_lookup_sparse, safe_embedding_lookup_sparse):
        with pytest.raises(
            TypeError,
            match="either None or RaggedTensor like the ids, or a vector; got SparseTensor",
        ):
            lookup(np.ones((4, 1)), whole[0], sparse)
        with pytest.raises(
            TypeError,
            match="either None or SparseTensor like the ids, or a vector; got RaggedTensor",
        ):
            lookup(np.ones((4, 1)), whole[1], ragged)
