"""Functions that do the same for NumPy and JAX: sums, flushing, rows, duplicates."""

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gradlab as gl
from gradlab._base import arrays
from tests import ways

# Compiled once.
five = st.lists(st.integers(0, 6), min_size=5, max_size=5).map(lambda x: np.array(x, np.int32))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_flush_sets_denormals_to_zero_and_nothing_else(dtype: type) -> None:
    tiny = np.finfo(dtype).tiny
    x = np.array([tiny / 2, -tiny / 2, tiny, -0.0, 1.0, np.nan, np.inf], dtype)
    flushed = arrays.flush_denormals(x.copy())
    np.testing.assert_array_equal(flushed, np.array([0, 0, tiny, -0.0, 1, np.nan, np.inf], dtype))
    assert np.signbit(flushed[3])


@pytest.mark.parametrize(
    "x", [np.float16([1e-7]), np.int32([1]), np.array([1e-40], ml_dtypes.bfloat16)]
)
def test_flush_leaves_other_dtypes_alone(x: np.ndarray) -> None:
    assert arrays.flush_denormals(x) is x


@given(st.lists(st.integers(0, 2**32 - 1), max_size=40))
def test_flush_sees_every_denormal_among_any_bits(bits: list[int]) -> None:
    x = np.array(bits, np.uint32).view(np.float32)
    size = np.abs(x)
    denormal = (size > 0) & (size < np.finfo(np.float32).tiny)
    with arrays.detect_denormals() as has_denormals:
        assert has_denormals(x) or not denormal.any()
    expected = np.where(denormal, np.copysign(np.float32(0), x), x)
    assert (
        arrays.flush_denormals(x.copy()).tobytes() == np.where(np.isnan(x), x, expected).tobytes()
    )


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_one_denormal_is_seen_anywhere(dtype: type) -> None:
    tiny = np.finfo(dtype).tiny
    clean = np.full(3 * arrays.CACHED, 2 * tiny, dtype)
    clean[::3] = 0
    for denormal in (np.finfo(dtype).smallest_subnormal, tiny - np.finfo(dtype).smallest_subnormal):
        for place in (0, arrays.CACHED, -1):
            x = clean.copy()
            x[place] = -denormal
            # In another order.
            assert arrays.flush_denormals(x.reshape(3, -1).T)[0, 0] in (0, 2 * tiny)
            assert np.count_nonzero(x) == np.count_nonzero(clean) - (clean[place] != 0)
    with arrays.detect_denormals() as has_denormals:
        assert not has_denormals(clean)


@pytest.mark.parametrize("size", [0, 1, 7, 128, 8192, 8193, 50_000])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sum_squares_is_within_one_ulp(size: int, dtype: type) -> None:
    x = np.random.default_rng(size).normal(size=size).astype(dtype)
    exact = np.sum(np.square(x.astype(np.longdouble))).astype(dtype)
    assert ways.ulps(np.asarray(arrays.sum_squares(x)), exact) <= (
        1 if size > 8192 or dtype == np.float32 else 2
    )


def test_sum_squares_of_a_transposed_array() -> None:
    x = np.random.default_rng(0).normal(size=(100, 200)).T
    assert arrays.sum_squares(x) == pytest.approx(float((x * x).sum()), rel=1e-14)


def test_sum_squares_overflows_in_its_own_dtype() -> None:
    assert np.isinf(arrays.sum_squares(np.full(10_000, 1e30, np.float32)))
    assert np.isinf(arrays.sum_squares(np.float16([300.0])))


@given(five)
def test_sum_duplicates_adds_rows_of_one_index(ids: np.ndarray) -> None:
    rows = np.arange(2.0 * ids.size, dtype=np.float32).reshape(-1, 2)
    dense = np.zeros((7, 2), np.float32)
    for i, row in zip(ids, rows, strict=True):
        dense[i] += row
    for module in (np, jnp):
        unique, sums = arrays.sum_duplicates(module.asarray(ids), module.asarray(rows))
        assert len(set(unique.tolist()) - {np.iinfo(np.int32).max}) == len(set(ids.tolist()))
        again = arrays.set_rows(module.zeros((7, 2)), unique, sums)
        np.testing.assert_array_equal(again, dense)


def test_sum_duplicates_adds_in_the_order_given() -> None:
    rows = np.float32([[1e8], [1.0], [-1e8], [1.0]])
    _, sums = arrays.sum_duplicates(np.zeros(4, np.int32), rows)
    assert sums.tolist() == [[1.0]]  # ((1e8 + 1) - 1e8) + 1 in float32


@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 30_000)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16, np.complex64])
def test_sum_segments_adds_as_numpy_does(shape: tuple[int, ...], dtype: type) -> None:
    rng = np.random.default_rng(0)
    segments = rng.integers(0, 5, 40).astype(np.int32)
    rows = rng.normal(size=(40, *shape)).astype(dtype)
    expected = np.zeros((5, *shape), dtype)
    np.add.at(expected, segments, rows)
    np.testing.assert_array_equal(arrays.sum_segments(rows, segments, 5), expected)


@given(five)
def test_occurrence_counts_equal_entries_before(ids: np.ndarray) -> None:
    expected = [int(np.sum(ids[:k] == i)) for k, i in enumerate(ids)]
    assert arrays.count_earlier(ids).tolist() == expected
    assert arrays.count_earlier(jnp.asarray(ids)).tolist() == expected


def test_set_rows_copies_and_jax_drops_what_is_outside() -> None:
    x = np.zeros((3, 1))
    assert arrays.set_rows(x, np.array([1]), np.ones((1, 1))).tolist() == [[0], [1], [0]]
    assert x.tolist() == [[0], [0], [0]]
    assert arrays.set_rows(jnp.zeros(2), jnp.array([1, 9]), jnp.ones(2)).tolist() == [0, 1]


@pytest.mark.parametrize("times", [0, 1, 4])
def test_repeat_is_the_same_loop_when_traced(times: int) -> None:
    def run(n: object) -> object:
        return arrays.repeat_body(n, lambda k, x: x * 2 + k, jnp.int32(1))

    assert int(run(times)) == int(jax.jit(run)(times))


def test_the_namespace_is_that_of_any_jax_argument() -> None:
    assert arrays.namespace(np.ones(1), 2.0) is np
    assert arrays.namespace(np.ones(1), jnp.ones(1)) is jnp
    assert not arrays.is_traced(jnp.ones(1))
    assert jax.jit(lambda x: jnp.array(arrays.is_traced(x)))(1.0)


@pytest.mark.parametrize(
    ("given", "dtype"),
    [
        (1.5, "float32"),
        (2, "int32"),
        ([-(2**31), 2**31 - 1], "int32"),
        ([0, 2**31], "int64"),
        ([], "float32"),
        (True, "bool"),
        ([1.0, 2], "float32"),
        (1j, "complex64"),
        (np.float64(1), "float64"),
    ],
)
def test_python_numbers_take_tensorflows_dtypes(given: object, dtype: str) -> None:
    assert arrays.as_array(given).dtype == dtype


def test_arrays_and_variables_come_as_they_are() -> None:
    x, y, v = np.ones(2, np.int8), jnp.ones(2), gl.Variable([1.0])
    assert arrays.as_array(x) is x
    assert arrays.as_array(y) is y
    assert arrays.as_array(v) is v.value


def test_scaled_keeps_each_dtype() -> None:
    given = [np.ones((2, 2), np.float32), np.ones(3, np.float16), np.ones((), np.float32)]
    result = arrays.scale_arrays(given, np.float32(0.5))
    assert [(r.dtype, r.shape) for r in result] == [(a.dtype, a.shape) for a in given]
    assert all((r == 0.5).all() for r in result)


def test_powers_are_rounded_once() -> None:
    x = np.random.default_rng(0).uniform(0.1, 10, 1000).astype(np.float32)
    exact = (x.astype(np.longdouble) ** np.longdouble(0.75)).astype(np.float32)
    np.testing.assert_array_equal(arrays.power(x, np.float32(0.75)), exact)
    np.testing.assert_allclose(arrays.power(jnp.asarray(x), np.float32(0.75)), exact, rtol=3e-7)
    assert arrays.power(np.float16([4.0]), np.float16(0.5)).dtype == np.float16
