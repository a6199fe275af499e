"""Row-wise Adagrad beside what FBGEMM 1.8.0's EXACT_ROWWISE_ADAGRAD wrote down on a CPU (rate 0.1,
its defaults).
"""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

import gradlab as gl
from gradlab import IndexedSlices
from gradlab.rules import Adagrad, RowWiseAdagrad, dense_and_sparse

# Rules with their usual constants, some of which 16 bits cannot hold; what is said of that is in
# test_rule.py.
pytestmark = pytest.mark.filterwarnings("ignore::gradlab.errors.PrecisionWarning")

F = np.float32
W = F([[1.0, -2.0, 0.25, 0.75], [0.5, 4.0, -1.0, 3.0]])
GRADIENTS = F(
    [
        [[0.3, -0.7, 1.1, 0.2], [1.0, 2.0, -0.5, 0.7]],
        [[-0.4, 0.1, 0.6, -0.9], [0.25, 0.0, 0.75, -0.1]],
        [[0.0, 0.9, -1.3, 0.4], [-3.0, 1.5, 0.125, 2.2]],
    ]
)
WEIGHTS = [
    [
        [0.9556466937065125, -1.896509051322937, 0.08737130463123322, 0.7204311490058899],
        [0.4165216088294983, 3.833043098449707, -0.9582607746124268, 2.9415650367736816],
    ],
    [
        [1.0005791187286377, -1.9077421426773071, 0.019972585141658783, 0.8215292096138],
        [0.3967186510562897, 3.833043098449707, -1.017669677734375, 2.949486255645752],
    ],
    [
        [1.0005791187286377, -1.982290506362915, 0.1276535838842392, 0.7883965969085693],
        [0.5232642889022827, 3.769770383834839, -1.0229424238204956, 2.8566861152648926],
    ],
]
ACCUMULATORS = [
    [0.45749998092651367, 1.434999942779541],
    [0.7924999594688416, 1.59375],
    [1.4574999809265137, 5.620156288146973],
]


def test_three_steps_of_fbgemm_bit_for_bit() -> None:
    rule, w = RowWiseAdagrad(), W
    slots = rule.init(w)
    assert slots[0].shape == (2, 1)
    for g, weights, accumulator in zip(GRADIENTS, WEIGHTS, ACCUMULATORS, strict=True):
        w, slots = rule(w, slots, g, F(0.1))
        np.testing.assert_array_equal(w, F(weights))
        np.testing.assert_array_equal(slots[0][:, 0], F(accumulator))


def test_optax_and_the_steps_of_tables_are_fbgemms_but_for_two_ulps() -> None:
    tx, w = gl.optax.from_rule(RowWiseAdagrad(), 0.1, replace=True), jnp.asarray(W)
    carried = tx.init(w)
    table = gl.tpu.Table("t", 2, 4, RowWiseAdagrad(), 0.1, combiner="sum")
    plan = gl.tpu.Plan((table,), (gl.tpu.Feature("f", 0, (2,)),))
    state, batch = (
        gl.tpu.create(plan, [W]),
        gl.tpu.make_batch(plan, {"f": gl.tpu.Ids([0, 1], [0, 1])}),
    )

    @jax.jit
    def step(w: Any, carried: Any, state: Any, g: Any) -> Any:
        updates, carried = tx.update(g, carried, w)
        state = gl.tpu.update(state, [g], [], gl.tpu.lookup(state, batch)[1])
        return optax.apply_updates(w, updates), carried, state

    for g, weights, accumulator in zip(GRADIENTS, WEIGHTS, ACCUMULATORS, strict=True):
        w, carried, state = step(w, carried, state, g)
        for got, slot in (
            (w, carried.slots["row_accumulator"]),
            (state.tables[0], state.slots[0][0]),
        ):
            assert np.abs(got - F(weights)).max() <= 2 * np.spacing(F(1))
            np.testing.assert_allclose(slot[:, 0], F(accumulator), rtol=2.4e-7)


def test_a_vector_has_a_row_for_each_entry() -> None:
    """So it is PyTorch's Adagrad: but for the order of a product and a quotient."""
    own, other = RowWiseAdagrad(0.5), Adagrad(0.5, 1e-8)
    w, g = W[0], GRADIENTS[0, 0]
    for a, b in zip(
        own(w, own.init(w), g, F(0.1)), other(w, other.init(w), g, F(0.1)), strict=True
    ):
        np.testing.assert_allclose(a, b, rtol=1e-6)
    assert own.init(np.ones((2, 3, 4)))[0].shape == (2, 1, 1)
    assert own.init(np.float32(1.0))[0].shape == ()


def test_a_transposed_gradient_has_the_same_bits() -> None:
    rng, rule = np.random.default_rng(0), RowWiseAdagrad(0.1)
    w, g = (rng.normal(size=(5, 300)).astype(F) for _ in range(2))
    expected, got = (rule(w, rule.init(w), x, F(0.1)) for x in (g, np.asfortranarray(g)))
    np.testing.assert_array_equal(got[0], expected[0])
    np.testing.assert_array_equal(got[1][0], expected[1][0])


def test_numbers_of_16_bits_are_added_as_float32() -> None:
    rule, g = RowWiseAdagrad(), np.full((1, 5000), 0.5, np.float16)
    for kind in (np.asarray, jnp.asarray):
        w = kind(np.zeros_like(g))
        assert np.asarray(rule(w, rule.init(w), kind(g), 0.1)[1][0]).tolist() == [[0.25]]


def test_slots_of_weights_are_refused() -> None:
    """An accumulator for each entry would be another rule."""
    rule = RowWiseAdagrad()
    with pytest.raises(
        ValueError,
        match=r"row_accumulator of weights of shape \(2, 4\) has shape \(2, 1\), got \(2, 4\)",
    ):
        rule(W, (np.zeros_like(W),), GRADIENTS[0], 0.1)


def test_a_row_alone_may_be_a_vector_with_one_accumulator() -> None:
    """As `vmap` over rows makes of it."""
    rule = RowWiseAdagrad(0.5)
    slots = rule.init(W)
    alone = jax.vmap(rule, in_axes=(0, 0, 0, None))(W, slots, GRADIENTS[0], F(0.1))
    g = IndexedSlices(GRADIENTS[0], np.arange(2), W.shape)
    for a, b in zip(
        jax.tree.leaves(alone),
        jax.tree.leaves(dense_and_sparse.rows(rule, W, slots, g, F(0.1))),
        strict=True,
    ):
        np.testing.assert_allclose(a, b, rtol=1e-6)
