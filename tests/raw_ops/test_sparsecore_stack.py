"""Activations cut from a stack, and gradients put into one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from gradlab import raw_ops, tpu
from gradlab.errors import InvalidArgumentError


@pytest.fixture
def two_cores() -> Iterator[None]:
    tpu.sparsecore.set_sparsecores_per_device(2)
    yield
    tpu.sparsecore.set_sparsecores_per_device(None)


@pytest.mark.parametrize("interleaved", [False, True])
@pytest.mark.usefixtures("two_cores")
def test_unstacking_is_the_inverse_of_stacking(interleaved: bool) -> None:
    rng = np.random.default_rng(0)
    tables = [rng.normal(size=shape).astype(np.float32) for shape in ((4, 3), (2, 9), (6, 1))]

    stacked = raw_ops.XlaSparseGradientsStack(unstacked_gradients=tables, interleaved=interleaved)
    found = raw_ops.XlaSparseActivationsUnstack(
        stacked_activations=stacked,
        num_tables=3,
        sample_counts=[4, 2, 6],
        features=[3, 9, 1],
        interleaved=interleaved,
    )

    assert stacked.shape == (12, 16)
    for a, b in zip(tables, found, strict=True):
        assert np.array_equal(a, b)


@pytest.mark.usefixtures("two_cores")
def test_interleaved_each_core_has_some_of_every_table() -> None:
    first, second = np.float32([[1], [2]]), np.float32([[10], [20], [30], [40]])

    stacked = raw_ops.XlaSparseGradientsStack(unstacked_gradients=[first, second], interleaved=True)

    assert stacked[:, 0].tolist() == [1, 10, 20, 2, 30, 40]


def test_results_have_the_dtype_that_is_asked_for() -> None:
    (found,) = raw_ops.XlaSparseActivationsUnstack(
        stacked_activations=[[1.5]],
        num_tables=1,
        sample_counts=[1],
        features=[1],
        interleaved=False,
        dtype="bfloat16",
    )

    assert found.dtype.name == "bfloat16"


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"num_tables": 2}, "Invalid number of sample counts. Expected: 2, got: 1"),
        ({"features": [1, 1]}, "Invalid number of features. Expected: 1, got: 2"),
        ({"features": [9]}, "features must be at most the width 8"),
        ({"sample_counts": [4]}, "must have 4 rows"),
        ({"input_dtype": "int32"}, "Unsupported dtype for stacked activations"),
        ({"interleaved": True}, "power of two, but got: -1"),
    ],
)
def test_activations_that_do_not_fit_are_refused(changes: dict[str, Any], words: str) -> None:
    arguments: dict[str, Any] = {
        "stacked_activations": np.zeros((3, 8)),
        "num_tables": 1,
        "sample_counts": [3],
        "features": [8],
        "interleaved": False,
    }
    with pytest.raises(InvalidArgumentError, match=words):
        raw_ops.XlaSparseActivationsUnstack(**{**arguments, **changes})


@pytest.mark.parametrize(
    ("gradients", "changes", "words"),
    [
        ([], {}, "Invalid number of gradients"),
        ([np.zeros((2, 1))], {"num_tables": 2}, "Expected: 2, got: 1"),
        ([np.zeros(2)], {}, "must be rank 2"),
        ([np.zeros((2, 1))], {"dtype": "int32"}, "Unsupported dtype for stacked gradients"),
        ([np.zeros((3, 1))], {"interleaved": True}, "sample_count 3 is not divisible"),
    ],
)
@pytest.mark.usefixtures("two_cores")
def test_gradients_that_do_not_fit_are_refused(
    gradients: list[Any], changes: dict[str, Any], words: str
) -> None:
    arguments = {"unstacked_gradients": gradients, "interleaved": False}
    with pytest.raises(InvalidArgumentError, match=words):
        raw_ops.XlaSparseGradientsStack(**{**arguments, **changes})
