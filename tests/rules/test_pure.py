"""A rule on a tree of weights as pure functions."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import gradlab as gl
from gradlab import rules
from gradlab.rules import dense_and_sparse, pure
from tests import ways

F = np.float32
W = {"a": F([[1.0, 2.0], [3.0, 4.0]]), "b": [F([5.0, 6.0]), F(7.0)]}
G = {"a": F([[0.1, -0.2], [0.0, 0.3]]), "b": [F([1.0, 2.0]), F(-0.5)]}
MOMENTUM, ADAM = rules.Momentum(0.5), rules.Adam()


def test_the_state_has_a_count_the_shared_scalars_and_slots_for_every_leaf() -> None:
    state = pure.init(ADAM, W)
    assert sorted(state) == ["shared", "slots", "step"]
    assert (int(state["step"]), state["step"].dtype) == (0, np.int32)
    assert state["shared"] == {"beta1_power": F(0.9), "beta2_power": F(0.999)}
    assert [[s.shape for s in slots] for slots in state["slots"]] == [
        [(2, 2)] * 2,
        [(2,)] * 2,
        [()] * 2,
    ]


@pytest.mark.parametrize("module", [np, jnp])
def test_arrays_come_out_as_they_went_in(module: Any) -> None:
    values, grads = jax.tree.map(module.asarray, (W, G))
    state = pure.init(ADAM, values)
    for _ in range(2):
        values, state = pure.update(ADAM, F(0.1), state, values, grads)
    leaves = jax.tree.leaves((values, state["slots"], state["shared"]))
    assert all(isinstance(x, np.ndarray | np.generic) == (module is np) for x in leaves)
    assert jax.tree.structure(values) == jax.tree.structure(W)
    assert {x.dtype for x in leaves} == {np.dtype(F)}


def test_each_leaf_is_updated_by_the_rule_at_this_step() -> None:
    values, state = W, pure.init(ADAM, W)
    w, slots, shared = W["a"], ADAM.init(W["a"]), ADAM.start()
    for _ in range(3):
        values, state = pure.update(ADAM, F(0.1), state, values, G)
        w, slots = ADAM.at(shared)(w, slots, G["a"], F(0.1))
        shared = ADAM.advance(shared)
    assert ways.ulps((values["a"], state["slots"][0]), (w, slots)) == 0
    assert ways.ulps(state["shared"], shared) == 0


def test_a_leaf_without_a_gradient_stands_still_and_the_step_counts() -> None:
    state = pure.init(ADAM, W)
    values, after = pure.update(ADAM, F(0.1), state, W, {"a": None, "b": [G["b"][0], None]})
    assert values["a"] is W["a"] and values["b"][1] is W["b"][1]
    assert (values["b"][0] != W["b"][0]).all()
    assert int(after["step"]) == 1
    assert after["shared"]["beta1_power"] == F(0.9) * F(0.9)
    assert (
        int(pure.update(ADAM, F(0.1), after, values, {"a": None, "b": [None, None]})[1]["step"])
        == 2
    )


def test_inputs_are_only_read() -> None:
    state = jax.tree.map(np.asarray, pure.init(MOMENTUM, W))
    values, state, grads = ways.read_only((W, state, G))
    pure.update(MOMENTUM, F(0.1), state, values, grads)


@pytest.mark.parametrize(
    ("sparse", "expected"), [(dense_and_sparse.rows, [0, -2]), (dense_and_sparse.each, [0, -2.5])]
)
def test_slices_meet_the_rule_as_they_are_told_to(
    sparse: pure.Sparse, expected: list[float]
) -> None:
    w, g = jnp.zeros((2, 1)), gl.IndexedSlices(jnp.ones((2, 1)), jnp.int32([1, 1]), (2, 1))
    for update in (pure.update, jax.jit(pure.update, static_argnames=("rule", "sparse"))):
        values, _ = update(MOMENTUM, 1.0, pure.init(MOMENTUM, w), w, g, sparse=sparse)
        assert values.ravel().tolist() == expected


def test_the_rate_may_be_a_function_of_the_dtype_and_gradients_may_be_processed() -> None:
    values, asked, seen = (
        {"a": F([1.0, 1.0]), "b": np.float64([1.0]), "c": F([1.0]), "d": F([1.0])},
        [],
        [],
    )

    def rate(dtype: Any) -> Any:
        asked.append(dtype)
        return 0.5 if dtype == F else 0.25

    def doubled(pairs: list[pure.Pair]) -> list[pure.Pair]:
        seen.extend(w for _, w in pairs)
        return [(2 * g, w) for g, w in pairs]

    rule, grads = (
        rules.StochasticGradientDescent(),
        {"a": F([1.0, 2.0]), "b": np.ones(1), "c": None, "d": F([1.0])},
    )
    new, _ = pure.update(rule, rate, pure.init(rule, values), values, grads, process=doubled)
    assert [new[k].tolist() for k in values] == [[0, -1], [0.5], [1], [0]]
    assert asked == [F, np.float64]  # once, as a function may give another number at every call
    assert all(w is values[k] for w, k in zip(seen, "abd", strict=True))


def test_float64_of_jax_stays_float64() -> None:
    with jax.enable_x64(True):
        w, g = jnp.float64([1.0]), jnp.float64([1 / 3])
    state = pure.init(MOMENTUM, w)
    new, after = pure.update(MOMENTUM, np.float64(0.1), state, w, g)
    assert (new.dtype, after["slots"][0][0].dtype, float(new[0])) == (
        np.float64,
        np.float64,
        1 - 0.1 / 3,
    )


def test_hyperparameters_may_be_traced_and_mapped() -> None:
    def loss(beta1: jax.Array) -> jax.Array:
        rule, w = rules.Adam(beta1=beta1), jnp.ones(2)
        state = pure.init(rule, w)
        for _ in range(2):
            w, state = pure.update(rule, 0.1, state, w, jnp.float32([0.5, -2.0]))
        return w

    betas = jnp.float32([0.5, 0.9])
    for got, beta in zip(jax.jit(jax.vmap(loss))(betas), betas, strict=True):
        np.testing.assert_allclose(got, loss(float(beta)), rtol=1e-6)


@pytest.mark.parametrize(
    "rule", [MOMENTUM, ADAM, rules.LaProp(), rules.AdagradDA()], ids=lambda r: type(r).__name__
)
def test_it_scans(rule: rules.Rule) -> None:
    w, grads = jnp.float32([1.0, -2.0]), jnp.float32([[0.5, 1.0], [-1.0, 0.25], [0.5, 0.5]])
    step = lambda carry, g: (pure.update(rule, 0.1, carry[1], carry[0], g), None)  # noqa: E731
    scanned = jax.lax.scan(step, (w, pure.init(rule, w)), grads)[0]
    values, state = w, pure.init(rule, w)
    for g in grads:
        values, state = pure.update(rule, 0.1, state, values, g)
    for a, b in zip(jax.tree.leaves(scanned), jax.tree.leaves((values, state)), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5)  # XLA fuses products and sums


@pytest.mark.parametrize(
    ("grads", "error", "message"),
    [
        (
            {"a": G["a"][:1], "b": [None, None]},
            ValueError,
            r"a has shape \(2, 2\) but its gradient has shape \(1, 2\)",
        ),
        (
            {"a": None, "b": [None, G["a"]]},
            ValueError,
            r"b/1 has shape \(\) but its gradient has shape \(2, 2\)",
        ),
        (
            {"a": gl.IndexedSlices(F([[1.0, 1.0]]), np.array([2])), "b": [None, None]},
            ValueError,
            r"indices of a must be in \[0, 2\), got 2 at position 0",
        ),
        (
            {"a": G["a"]},
            ValueError,
            "a tree like the values.*; there is nothing for b/0, b/1: .*key",
        ),
        ({"a": None, "c": 1.0, "b": [None, None]}, ValueError, "; there is no weight c: "),
        (
            {"a": None, "b": (None, None)},
            ValueError,
            "a tree like the values, with None where there is none: ",
        ),
        ({"a": "much", "b": [None, None]}, TypeError, "the gradient of a must be numbers"),
    ],
)
def test_what_does_not_fit_is_refused(grads: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        pure.update(MOMENTUM, 0.1, pure.init(MOMENTUM, W), W, grads)


@pytest.mark.parametrize("optimizer", [gl.train.MomentumOptimizer(0.1, 0.9), gl.keras.SGD(0.1)])
def test_the_order_of_optax_and_a_state_of_other_weights_are_refused(optimizer: Any) -> None:
    state = optimizer.init(W)
    for wrong in (G, [G], None):
        with pytest.raises(
            TypeError, match=r"must come from init\(values\).* update\(state, values, gradients\)"
        ):
            optimizer.step(state, wrong, W)
    with pytest.raises(ValueError, match="the state is that of 3 weights, the values are 1"):
        optimizer.step(W["a"], state, G["a"])
    with pytest.raises(ValueError, match="there is nothing for b/0, b/1"):
        optimizer.step(W, state, {"a": G["a"]})
    with pytest.raises(
        ValueError, match=r"the weight has shape \(2, 2\) but its gradient has shape \(2,\)"
    ):
        optimizer.step(W["a"], optimizer.init(W["a"]), F([1.0, 2.0]))
