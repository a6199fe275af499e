"""The arithmetic of the dense sum, in every dtype, NumPy and JAX, and whose memory it is in."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gradlab as gl
from tests.differences import differs

DTYPES = ["float16", "bfloat16", "float32", "float64"]
XP = pytest.mark.parametrize("xp", [np, jnp])


def make(xp: Any, values: Any, dtype: str) -> Any:
    with jax.enable_x64(dtype == "float64"):
        return xp.asarray(values, getattr(ml_dtypes, dtype, dtype))


@XP
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("reduction", ["MEAN", "SUM"])
def test_one_by_one_rounded_after_each(xp: Any, dtype: str, reduction: str) -> None:
    acc = gl.ConditionalAccumulator(dtype, reduction_type=reduction)
    values = np.random.default_rng(0).normal(size=(7, 5)) * 100
    total = make(np, values[0], dtype)
    for k, row in enumerate(values):
        acc.apply_grad(make(xp, row, dtype))
        total = total if k == 0 else total + make(np, row, dtype)
    want = total / total.dtype.type(7) if reduction == "MEAN" else total
    got = acc.take_grad(7)
    assert isinstance(got, np.ndarray if xp is np else jax.Array)
    assert got.dtype == want.dtype == acc.dtype
    if xp is np or reduction == "SUM":
        assert np.asarray(got).tobytes() == want.tobytes()
    else:  # XLA multiplies by the reciprocal
        np.testing.assert_allclose(
            np.float64(got), np.float64(want), rtol=float(ml_dtypes.finfo(acc.dtype).eps)
        )


def test_order_counts_and_small_numbers_get_lost() -> None:
    for order, want in (((1e8, 1.0, -1e8), 0.0), ((1e8, -1e8, 1.0), 1.0)):
        acc = gl.ConditionalAccumulator("float32", (), reduction_type="SUM")
        for g in order:
            acc.apply_grad(g)
        assert acc.take_grad(3) == want


def test_a_float16_sum_overflows_without_a_warning_and_not_when_added_in_float32() -> None:
    for wide, want in ((None, np.inf), ("float32", 60000)):
        acc = gl.ConditionalAccumulator("float16", (1,), sum_dtype=wide)
        acc.apply_grad([60000.0])
        acc.apply_grad([60000.0])
        taken = acc.take_grad(2)
        assert taken.tolist() == [want]
        assert taken.dtype == np.float16


@XP
def test_a_wide_sum_of_either_kind(xp: Any) -> None:
    acc = gl.ConditionalAccumulator("float16", sum_dtype="float64", reduction_type="SUM")
    for value in (2048.0, 1.0, 1.0):
        acc.apply_grad(make(xp, [value], "float16"))
    assert acc.peek().sum.dtype == np.float64
    assert acc.take_grad(3).tolist() == [2050]


@given(st.permutations(["numpy", "jax", "numpy"]))
def test_one_jax_gradient_makes_the_result_jax(kinds: list[str]) -> None:
    acc = gl.ConditionalAccumulator("float64")
    for kind in kinds:
        acc.apply_grad(make({"numpy": np, "jax": jnp}[kind], [0.1], "float64"))
    taken = acc.take_grad(3)
    assert isinstance(taken, jax.Array)
    assert taken.dtype == np.float64
    assert float(taken[0]) == (0.1 + 0.1 + 0.1) / 3


def test_non_finite_and_empty_gradients_count() -> None:
    acc = gl.ConditionalAccumulator("float32", (2,))
    acc.apply_grad([np.nan, 1.0])
    acc.apply_grad([1.0, np.inf])
    assert np.isnan(acc.peek().value[0])
    assert acc.take_grad(2)[1] == np.inf
    empty = gl.ConditionalAccumulator("float32", (0,))
    assert empty.apply_grad([]).count == 1
    assert empty.take_grad(1).shape == (0,)


@differs(
    "denormal numbers in accumulators",
    tensorflow="zero",
    gradlab="kept",
    strict="TensorFlow's behavior",
)
def test_strict_takes_denormal_numbers_for_zero_as_tensorflow_does() -> None:
    for strict in ("tf", None):
        acc = gl.ConditionalAccumulator("float32", (1,), strict=strict, reduction_type="SUM")
        grad = np.float32([1e-40])
        acc.apply_grad(grad)
        acc.apply_grad(grad)
        assert acc.take_grad(2)[0] == (grad[0] + grad[0] if strict is None else 0)
        assert grad[0] > 0


@pytest.mark.parametrize("shape", [None, (None, 2), (None, None)])
def test_the_first_gradient_fixes_the_shape_until_the_take(shape: Any) -> None:
    acc = gl.ConditionalAccumulator("float32", shape)
    acc.apply_grad(np.ones((3, 2)))
    with pytest.raises(
        gl.errors.InvalidArgumentError, match=r"counted so far have shape \(3, 2\), got one of"
    ):
        acc.apply_grad(np.ones((4, 2)))
    acc.take_grad(1)
    assert acc.apply_grad(np.ones((4, 2)), 1)


@XP
@pytest.mark.parametrize("reduction", ["MEAN", "SUM"])
def test_what_was_peeked_or_taken_never_changes(xp: Any, reduction: str) -> None:
    acc = gl.ConditionalAccumulator("float32", reduction_type=reduction)
    large = xp.ones(1 << 19, np.float32)
    seen = []
    for round_ in range(4):
        acc.apply_grad(large * (round_ + 1), round_)
        peek = acc.peek()
        acc.apply_grad(large * (round_ + 1), round_)
        seen += [peek.sum, peek.value, acc.take_grad(2)]
    factor = 2 if reduction == "SUM" else 1
    want = [x for k in range(1, 5) for x in (k, k, factor * k)]
    assert [float(x[0]) for x in seen] == want
    assert [float(x[-1]) for x in seen] == want


@pytest.mark.parametrize("round_", [0, 1])
def test_a_sum_is_as_wide_in_every_round(round_: int) -> None:
    acc = gl.ConditionalAccumulator("float16", sum_dtype="float32", reduction_type="SUM")
    for _ in range(round_):
        acc.apply_grad(np.float16([1]), local_step=9)
        acc.take_grad(1)

    acc.apply_grad(np.float16([2048]), local_step=9)
    acc.apply_grad(np.float16([1]), local_step=9)

    assert acc.peek().sum.tolist() == [2049]  # 2048 in float16
    assert acc.take_grad(2).dtype == np.float16


def test_the_caller_may_overwrite_a_gradient() -> None:
    acc = gl.ConditionalAccumulator("float32")
    gradient = np.ones(4, np.float32)
    acc.apply_grad(gradient)
    gradient[:] = 9
    assert acc.take_grad(1).tolist() == [1] * 4


def test_a_donated_gradient_is_not_missed() -> None:
    acc = gl.ConditionalAccumulator("float32")
    g = jnp.ones(4)
    acc.apply_grad(g)
    g.delete()
    assert acc.take_grad(1).tolist() == [1] * 4
