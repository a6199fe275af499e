"""Rows are summed in the order of the lookups, however many there are, and part by part as all at once."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gradlab.tpu.lookup import PART, sum_rows
from tests import ways


def lookups(n: int) -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(n)
    rows = rng.normal(size=(50, 3)).astype(np.float32)
    take, put = (rng.integers(0, end, n).astype(np.uint32) for end in (50, 22))
    return rows, take, put, rng.normal(size=n).astype(np.float32)


def in_order(count: int, rows: Any, take: Any, put: Any, weights: Any) -> np.ndarray:
    total = np.zeros((count, 3), np.float32)
    inside = put < count
    np.add.at(total, put[inside], rows[take[inside]] * weights[inside, None])
    return total


@pytest.mark.parametrize("n", [0, 5, PART, PART + 1, 3 * PART])
@pytest.mark.parametrize("way", [ways.eager, ways.jit], ids=["eager", "jit"])
def test_the_order_is_that_of_the_lookups(n: int, way: ways.Way) -> None:
    given = lookups(n)
    got = way(lambda *x: sum_rows(20, *x), *given)
    np.testing.assert_allclose(got, in_order(20, *given), rtol=1e-5, atol=1e-5)


def test_parts_change_no_bit() -> None:
    """Against the same sums over one lookup more, which is no multiple of a part and weighs 0."""
    rows, take, put, weights = lookups(2 * PART)
    one_more = [np.append(x, x.dtype.type(0)) for x in (take, put, weights)]
    f = jax.jit(lambda *x: sum_rows(20, *x))
    assert f(rows, take, put, weights).tolist() == f(rows, *one_more).tolist()


def test_terms_may_be_changed_before_they_are_added() -> None:
    rows, take, put, weights = lookups(2 * PART)
    got = sum_rows(20, *(jnp.asarray(x) for x in (rows, take, put, weights)), each=lambda x: jnp.clip(x, -0.1, 0.1))
    expected = np.zeros((20, 3))
    inside = put < 20
    np.add.at(expected, put[inside], np.clip(rows[take] * weights[:, None], -0.1, 0.1)[inside])
    np.testing.assert_allclose(got, expected, atol=1e-4)


def test_batches_may_be_mapped_over() -> None:
    rows, *vectors = lookups(2 * PART)
    stacked = [np.stack([x, x[::-1]]) for x in vectors]
    got = jax.jit(jax.vmap(lambda *x: sum_rows(20, jnp.asarray(rows), *x)))(*stacked)
    for k in (0, 1):
        np.testing.assert_allclose(got[k], sum_rows(20, jnp.asarray(rows), *(x[k] for x in stacked)), rtol=1e-6)
