"""Packing changes where numbers are and nothing else."""

from typing import Any

import jax
import numpy as np
import pytest

from gradlab.errors import InvalidArgumentError
from gradlab.tpu import pack_rows, unpack_rows


@pytest.mark.parametrize("width", [1, 2, 4, 8])
@pytest.mark.parametrize("rows", [1, 7, 16])
def test_a_table_comes_back(rows: int, width: int) -> None:
    x = np.random.default_rng(0).normal(size=(rows, width)).astype(np.float32)
    packed = pack_rows(x)
    assert packed.shape == (-(-rows * width // 8), 8)
    np.testing.assert_array_equal(unpack_rows(packed, rows, width), x)
    np.testing.assert_array_equal(packed.reshape(-1)[: x.size], x.reshape(-1))
    assert not packed.reshape(-1)[x.size :].any()


def test_jax_under_jit() -> None:
    x = np.arange(10.0, dtype=np.float32).reshape(5, 2)
    there_and_back = jax.jit(lambda x: unpack_rows(pack_rows(x), 5, 2))
    np.testing.assert_array_equal(there_and_back(x), x)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: pack_rows(np.zeros((3, 3))), "rows of width 3 do not fill a row of 8 numbers"),
        (lambda: pack_rows(np.zeros((3, 16))), "rows of width 16 do not fill a row of 8"),
        (lambda: pack_rows(np.zeros(3)), r"shape \(rows, width\), got \(3,\)"),
        (lambda: unpack_rows(np.zeros((3, 8)), 5, 2), r"5 rows of width 2 are packed to shape \(2, 8\), got \(3, 8\)"),
        (lambda: unpack_rows(np.zeros(8), 4, 2), r"packed must be a matrix, got shape \(8,\)"),
    ],
)
def test_what_does_not_fit_is_refused(call: Any, said: str) -> None:
    with pytest.raises(InvalidArgumentError, match=said):
        call()
