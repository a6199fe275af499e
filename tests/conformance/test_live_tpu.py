"""Sparse lookups and their gradients beside TensorFlow's, on random ids, weights and tables."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gradlab import tpu
from tests.golden.tensorflow_values import tensorflow

pytestmark = pytest.mark.tensorflow

COMBINERS = ["sum", "mean", "sqrtn"]
SAMPLES, PLACES, ROWS, WIDTH = 6, 4, 7, 3


def problem(seed: int, negative: bool) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    indices = np.argwhere(rng.random((SAMPLES, PLACES)) < 0.6)
    lowest = -2 if negative else 0
    return {
        "indices": indices,
        "ids": rng.integers(lowest, ROWS, len(indices)),
        "weights": rng.choice(
            [-0.5, 0.0, 0.5, 1.0, 2.0] if negative else [0.5, 1.0, 2.0], len(indices)
        ),
        "table": rng.normal(size=(ROWS, WIDTH)).astype(np.float32),
        "upstream": rng.normal(size=(SAMPLES, WIDTH)).astype(np.float32),
    }


def theirs(op: str, p: dict[str, Any], weighted: bool, **options: Any) -> list[np.ndarray]:
    tf = tensorflow()
    table, w = tf.Variable(p["table"]), tf.Variable(p["weights"].astype(np.float32))
    shape = (SAMPLES, PLACES)
    with tf.GradientTape() as tape:
        weights = tf.SparseTensor(p["indices"], tf.identity(w), shape) if weighted else None
        out = getattr(tf.nn, op)(
            table, tf.SparseTensor(p["indices"], p["ids"], shape), weights, **options
        )
    sources = [table, w] if weighted else [table]
    found = tape.gradient(out, sources, output_gradients=p["upstream"][: out.shape[0]])
    return [x.numpy() for x in (out, *map(tf.convert_to_tensor, found))]


def ours(op: str, p: dict[str, Any], weighted: bool, **options: Any) -> list[np.ndarray]:
    ids = (p["indices"], p["ids"], (SAMPLES, PLACES))
    primals = (
        jnp.asarray(p["table"]),
        *([jnp.asarray(p["weights"], jnp.float32)] if weighted else []),
    )
    out, back = jax.vjp(lambda t, w=None: getattr(tpu, op)(t, ids, w, **options), *primals)
    return [np.asarray(x) for x in (out, *back(p["upstream"][: out.shape[0]]))]


@pytest.mark.parametrize("combiner", COMBINERS)
@pytest.mark.parametrize("weighted", [False, True], ids=["ones", "weights"])
@pytest.mark.parametrize("max_norm", [None, 1.0])
@pytest.mark.parametrize("seed", [0, 1])
def test_the_sparse_lookup(
    combiner: str, weighted: bool, max_norm: float | None, seed: int
) -> None:
    p, options = problem(seed, negative=False), {"combiner": combiner, "max_norm": max_norm}
    both = zip(
        ours("embedding_lookup_sparse", p, weighted, **options),
        theirs("embedding_lookup_sparse", p, weighted, **options),
        strict=True,
    )
    for got, expected in both:
        np.testing.assert_allclose(got, expected, rtol=2e-5, atol=2e-6)


@pytest.mark.parametrize("combiner", COMBINERS)
@pytest.mark.parametrize("weighted", [False, True], ids=["ones", "weights"])
@pytest.mark.parametrize("default_id", [None, 2])
@pytest.mark.parametrize("seed", [0, 1])
def test_the_safe_lookup(combiner: str, weighted: bool, default_id: int | None, seed: int) -> None:
    p, options = problem(seed, negative=True), {"combiner": combiner, "default_id": default_id}
    both = zip(
        ours("safe_embedding_lookup_sparse", p, weighted, **options),
        theirs("safe_embedding_lookup_sparse", p, weighted, **options),
        strict=True,
    )
    for got, expected in both:
        np.testing.assert_allclose(got, expected, rtol=2e-5, atol=2e-6)


@pytest.mark.parametrize("bad", [-1, ROWS])
def test_ids_outside_are_refused_by_both(bad: int) -> None:
    p = problem(0, negative=False)
    p["ids"][1] = bad
    with pytest.raises(ValueError, match="indices of sp_ids"):
        ours("embedding_lookup_sparse", p, False)
    with pytest.raises(
        Exception, match=f"indices.* = {bad} is not in|Expected ids|out of range|must be"
    ):
        theirs("embedding_lookup_sparse", p, False)
