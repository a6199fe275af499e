"""Programs that are compiled quickly: which they are, and that no digit is lost."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

from tests import parts, programs

pytestmark = pytest.mark.sampled(3)

ONE: dict[str, Callable[[Any, Any], Any]] = {
    "add": lax.add, "subtract": lax.sub, "multiply": lax.mul, "divide": lax.div, "maximum": lax.max, "minimum": lax.min,
    "compare": lax.lt, "square root": lambda x, y: lax.sqrt(x),
    "select": lambda x, y: lax.select(np.arange(len(x)) % 3 > 0, x, y),
    "times a constant": lambda x, y: x * np.array(3, x.dtype), "by a constant": lambda x, y: x / np.array(3, x.dtype),
    "to float16": lambda x, y: x.astype(jnp.float16), "to bfloat16": lambda x, y: x.astype(jnp.bfloat16),
    "to float32": lambda x, y: x.astype(jnp.float32), "rows": lambda x, y: x[np.array([5, 3, -1])],
    "padded": lambda x, y: jnp.pad(x, 3), "joined": lambda x, y: jnp.concatenate([y, x]),
}  # fmt: skip
SEVERAL: dict[str, Callable[[Any, Any], Any]] = {
    "product and sum": lambda x, y: x * y + x, "the larger one": lambda x, y: jnp.where(x > y, x, y),
    "sum of all": lambda x, y: x.sum(), "exponential": lambda x, y: jnp.exp(x),
    "complex product": lambda x, y: x.astype(jnp.complex64) * y.astype(jnp.complex64),
    "scattered": lambda x, y: x.at[np.array([1, 1])].add(y[:2]),
}  # fmt: skip


def test_quick_files_are_there() -> None:
    files = {path for path in (parts.ROOT / "tests").rglob("test_*.py") if programs.are_quick(path)}
    for start in programs.QUICK:
        assert any(path.relative_to(parts.ROOT).as_posix().startswith(start) for path in files), start


def computed(compute: Callable[[Any, Any], Any], x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, list[bool]]:
    """The result of a program compiled quickly, if it keeps its digits; and whether each one does."""
    keep: list[bool] = []

    def ask(program: Any) -> bool:
        keep.append(programs.keeps_digits(program))
        return keep[-1]

    with programs.quick(ask):
        return np.asarray(jax.jit(lambda x, y: compute(x, y))(x, y)), keep


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
@pytest.mark.parametrize("compute", ONE.values(), ids=ONE)
def test_what_computes_once_has_the_same_digits(compute: Callable[[Any, Any], Any], dtype: str) -> None:
    with np.errstate(over="ignore", invalid="ignore"):
        scale = 10.0 ** np.random.default_rng(0).integers(-45, 39, (2, 500))
        x, y = np.asarray(np.random.default_rng(1).normal(size=(2, 500)) * scale).astype(jnp.dtype(dtype))
    x[:6] = y[1:7] = [0.0, -0.0, np.inf, -np.inf, np.nan, 1.0]
    quick, keep = computed(compute, x, y)
    full = np.asarray(jax.jit(compute, compiler_options={"xla_backend_optimization_level": 3})(x, y))
    assert keep == [True]
    assert quick.dtype == full.dtype
    number = quick == quick  # the bits of what is not a number mean nothing
    np.testing.assert_array_equal(number, full == full)
    assert quick[number].tobytes() == full[number].tobytes()


@pytest.mark.parametrize("compute", SEVERAL.values(), ids=SEVERAL)
def test_what_may_be_made_into_one_or_put_in_another_order_is_compiled_in_full(
    compute: Callable[[Any, Any], Any],
) -> None:
    x = np.arange(8, dtype=np.float32)
    _, keep = computed(compute, x, x)
    assert keep == [False]


@pytest.mark.parametrize("compute", SEVERAL.values(), ids=SEVERAL)
def test_level_1_has_the_digits_of_level_3(compute: Callable[[Any, Any], Any]) -> None:
    x, y = np.random.default_rng(0).normal(size=(2, 300, 7)).astype(np.float32)
    first, third = (
        jax.jit(compute, compiler_options={"xla_backend_optimization_level": level})(x, y) for level in (1, 3)
    )
    assert np.asarray(first).tobytes() == np.asarray(third).tobytes()


def test_here_only_the_first_kind_is_quick_and_elsewhere_none() -> None:
    from jax._src import compiler

    quick = compiler.compile_or_get_cached
    assert quick.__module__ == programs.__name__
    with programs.quick():
        assert compiler.compile_or_get_cached is not quick
    assert compiler.compile_or_get_cached is quick
