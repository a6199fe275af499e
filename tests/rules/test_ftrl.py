"""FTRL's options step by step in float32, and what they mean."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gradlab.rules import Ftrl

F = np.float32
LR, TWO = F(0.1), F(2)
GRADIENTS = (F(0.3), F(-2.0), F(0.7))


def steps(rule: Ftrl, lr: float = LR, count: int = 3) -> list[tuple[float, ...]]:
    w, seen = np.array([1.0], F), []
    slots = rule.init(w)
    for g in GRADIENTS[:count]:
        w, slots = rule(w, slots, np.array([g]), lr)
        seen.append((w.item(), *(s.item() for s in slots)))
    return seen


@pytest.mark.parametrize("shrinkage", [0.0, 0.2])
def test_slices_of_one_element_bit_for_bit(shrinkage: float) -> None:
    l1, l2, sh = F(0.05), F(0.1), F(shrinkage)
    w, accum, linear, seen = F(1), F(0.1), F(0), []
    for g in GRADIENTS:
        new, shrunk = accum + g * g, g + TWO * sh * w
        # A power of 0.5 rounds as the root does, here.
        pull = (np.sqrt(new) - np.sqrt(accum)) / LR * w
        linear = linear + shrunk - pull
        w = (np.clip(linear, -l1, l1) - linear) / (np.sqrt(new) / LR + TWO * l2)
        accum = new
        seen.append((w.item(), accum.item(), linear.item()))
    assert steps(Ftrl(l1=0.05, l2=0.1, l2_shrinkage=shrinkage, order="scalar")) == seen


def test_multiplying_by_the_rate_changes_rounding_and_the_scale_of_the_slot_only() -> None:
    options = {"l1": 0.05, "l2": 0.1, "l2_shrinkage": 0.2, "beta": 1.0}
    plain, times = steps(Ftrl(**options)), steps(Ftrl(**options, multiply_linear_by_lr=True))
    np.testing.assert_allclose([w for w, _, _ in times], [w for w, _, _ in plain], rtol=1e-5)
    np.testing.assert_allclose([x for _, _, x in times], [x * LR for _, _, x in plain], rtol=1e-5)


def test_only_multiplied_it_takes_a_rate_of_zero() -> None:
    assert np.isfinite(steps(Ftrl(multiply_linear_by_lr=True), 0.0)).all()
    assert not np.isfinite(steps(Ftrl(), 0.0)).all()


def test_beta_is_an_l2_of_beta_over_twice_the_rate() -> None:
    a, b = steps(Ftrl(l1=0.05, l2=0.1, beta=1.0)), steps(Ftrl(l1=0.05, l2=5.1))
    np.testing.assert_allclose(a, b, rtol=1e-5)


def test_minus_a_half_is_a_root_and_zero_a_fixed_rate() -> None:
    np.testing.assert_allclose(
        steps(Ftrl(lr_power=-0.5)), steps(Ftrl(lr_power=-0.5000001)), rtol=1e-4
    )
    assert [w for w, _, _ in steps(Ftrl(lr_power=0.0))] == pytest.approx([-0.03, 0.17, 0.1])


def test_l1_keeps_small_sums_at_zero() -> None:
    w, _, linear = steps(Ftrl(l1=10.0), count=1)[0]
    assert (w, linear != 0) == (0.0, True)


def test_the_initial_weight_is_forgotten() -> None:
    rule, w = Ftrl(), np.array([5.0])
    assert rule(w, rule.init(w), np.zeros(1), 0.1)[0].tolist() == [0.0]


@pytest.mark.parametrize(
    ("order", "expected"), [("dense", 0.0), ("sparse", np.nan), ("scalar", np.nan)]
)
def test_what_a_gradient_of_nan_leaves_depends_on_the_kernel(order: Any, expected: float) -> None:
    rule, w = Ftrl(order=order), np.array([5.0])
    np.testing.assert_array_equal(rule(w, rule.init(w), np.array([np.nan]), 0.1)[0], [expected])


def test_its_power_can_be_traced() -> None:
    def trained(p: jax.Array) -> jax.Array:
        rule, w = Ftrl(lr_power=p, l2_shrinkage=p * 0), jnp.float32([1.0])
        return rule(w, rule.init(w), jnp.float32([0.3]), LR)[0]

    np.testing.assert_allclose(
        jax.jit(trained)(jnp.float32(-0.5))[0], steps(Ftrl(), count=1)[0][0], rtol=1e-5
    )


def test_an_unknown_order_is_refused() -> None:
    with pytest.raises(
        ValueError, match=r"order must be one of 'dense', 'sparse', 'scalar'; got 'up'"
    ):
        Ftrl(order="up")
