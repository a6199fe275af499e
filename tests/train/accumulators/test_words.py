"""What a sparse accumulator refuses is told in the words that TensorFlow's tests look for, and in
ours.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradlab as gl

ROW = np.ones((1, 2, 2), np.float32)


def test_words_are_those_of_tensorflow() -> None:
    fresh = gl.SparseConditionalAccumulator("float32", shape=(2, 2, None))
    counted = gl.SparseConditionalAccumulator("float32", shape=(2, 2, None))
    counted.apply_grad([0], np.ones((1, 2, 2, 2), np.float32))
    refused: list[tuple[Any, tuple[Any, ...], str]] = [
        (fresh, ([[0, 1]], [1.0]), r"Input indices should be vector but received shape: \(1, 2\)"),
        (fresh, ([0], 1.0), "Values cannot be 0-dimensional."),
        (fresh, ([0, 1], ROW), "Expected 2 non-empty input values, got 1"),
        (
            fresh,
            ([0], ROW, [2, 2]),
            "expected shape rank at least 3, got 2: the accumulator has shape",
        ),
        (fresh, ([0], ROW, [2, 3, 2]), "expected shape dim 1 to be 2, got 3"),
        (
            fresh,
            ([3], ROW),
            (
                "index of slice 0 exceeded limits of shape; index is 3 "
                "exceeded 2: grad_indices must be"
            ),
        ),
        (fresh, ([0, 1], np.ones((2, 2))), "expected values rank at least 3, got 2"),
        (fresh, ([0], np.ones((1, 3, 2))), "expected values dim 1 to be 2, got 3"),
        (counted, ([0], ROW), "expected values rank 4, got 3: the rows counted so far"),
        (counted, ([0], np.ones((1, 2, 2, 3))), "expected values dim 3 to be 2, got 3"),
    ]
    for accumulator, arguments, words in refused:
        with pytest.raises(gl.errors.InvalidArgumentError, match=words):
            accumulator.apply_grad(*arguments)
    assert fresh.num_accumulated() == 0 and counted.num_accumulated() == 1
