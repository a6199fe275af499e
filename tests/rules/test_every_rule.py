"""What the contract of `step` promises, for every rule of the catalogue."""

from typing import Any

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gradlab as gl

from .. import ways

RULES = gl.rules.catalogue()
DTYPES = [np.float16, ml_dtypes.bfloat16, np.float32, np.float64]
RNG = np.random.default_rng(1)
W, G = (RNG.normal(size=(8, 3)).astype(np.float32) for _ in range(2))
LR = np.float32(0.1)

every_rule = pytest.mark.parametrize("name", RULES)


def _state(name: str, w: np.ndarray) -> Any:
    """Weights and slots after one step, so that slots hold more than their start."""
    rule = RULES[name]()
    return rule(w, rule.init(w), (w * 0.5).astype(w.dtype), LR)


@every_rule
@pytest.mark.parametrize("way", ways.ROW_LOCAL)
def test_all_ways_agree(name: str, way: str) -> None:
    w, slots = _state(name, W)
    expected = RULES[name]()(w, slots, G, LR)
    got = ways.ROW_LOCAL[way](RULES[name](), w, slots, G, LR)
    for a, b in zip(jax.tree.leaves(expected), jax.tree.leaves(got), strict=True):
        np.testing.assert_allclose(a, b, rtol=2e-6, atol=2e-6)


@every_rule
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("other", [*DTYPES, float], ids=str)
@pytest.mark.parametrize("way", [ways.numpy, ways.eager, ways.jit], ids=["numpy", "eager", "jit"])
def test_the_dtype_of_the_weights_stays(name: str, dtype: Any, other: Any, way: ways.Way) -> None:
    rule, w = RULES[name](), W.astype(dtype)
    g = G.astype(dtype if other is float else other)
    lr = 0.1 if other is float else np.asarray(0.1, other)
    result = way(lambda w, s, g: rule(w, s, g, lr), w, rule.init(w), g)
    assert {x.dtype for x in jax.tree.leaves(result)} == {np.dtype(dtype)}
    assert jax.tree.structure(result) == jax.tree.structure((w, rule.init(w)))


@every_rule
@given(st.lists(st.integers(0, 7), min_size=1, unique=True))
def test_rows_do_not_know_of_one_another(name: str, rows: list[int]) -> None:
    w, slots = _state(name, W)
    whole = RULES[name]()(w, slots, G, LR)
    part = RULES[name]()(w[rows], tuple(s[rows] for s in slots), G[rows], LR)
    for a, b in zip(jax.tree.leaves(whole), jax.tree.leaves(part), strict=True):
        np.testing.assert_array_equal(a[rows], b)


@every_rule
def test_inputs_are_only_read(name: str) -> None:
    w, slots = _state(name, W)
    for dtype in (np.float32, np.float64):  # with float64 gradients a copy is made; with float32 none is needed
        new_w, new_slots = ways.numpy(RULES[name](), w, slots, G.astype(dtype), LR)
        assert not any(np.may_share_memory(a, b) for a in (new_w, *new_slots) for b in (w, *slots, G))


@every_rule
def test_denormal_gradients_of_the_caller_are_left_alone(name: str) -> None:
    g = np.full((8, 3), 1e-40, np.float32)
    RULES[name]()(W, RULES[name]().init(W), g, LR)
    assert (g > 0).all()


@every_rule
@pytest.mark.parametrize("w", [np.zeros((4, 2), np.float32), W])
def test_zero_gradients_keep_rows_finite(name: str, w: np.ndarray) -> None:
    rule = RULES[name]()
    state = w, rule.init(w)
    for _ in range(3):
        state = rule(*state, np.zeros_like(w), LR)
    assert all(np.isfinite(x).all() for x in jax.tree.leaves(state))


@every_rule
def test_the_second_call_does_not_compile_again(name: str) -> None:
    rule, traced = RULES[name](), []

    @jax.jit
    def step(w: Any, slots: Any, g: Any, lr: Any) -> Any:
        traced.append(1)
        return rule(w, slots, g, lr)

    state: Any = (jnp.asarray(W), rule.init(jnp.asarray(W)))
    for lr in (0.1, 0.2, 0.3):
        state = step(*state, jnp.asarray(G), lr)
    assert len(traced) == 1


@every_rule
def test_a_rule_is_a_value(name: str) -> None:
    assert RULES[name]() == RULES[name]()
    assert hash(RULES[name]()) == hash(RULES[name]())
    with pytest.raises(AttributeError):
        RULES[name]().anything = 1


def test_a_rule_without_step_says_so() -> None:
    class Empty(gl.rules.Rule):
        pass

    with pytest.raises(NotImplementedError, match="Empty must define step"):
        Empty()(W, (), G, LR)
