"""What the mid-level classes refuse is told in the words that TensorFlow's tests look for, and in
ours.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gradlab.tpu.experimental.embedding import (
    SGD,
    CustomCombiner,
    FeatureConfig,
    TableConfig,
    TPUEmbedding,
    TPUEmbeddingForServing,
)


def feature(name: str | None = None, **more: Any) -> FeatureConfig:
    return FeatureConfig(TableConfig(4, 1, combiner="sum", name=name), **more)


def test_words_are_those_of_tensorflow() -> None:
    built = TPUEmbedding((feature(output_shape=[2]),), SGD())
    built.build(2)
    served = TPUEmbeddingForServing((feature(output_shape=[3]),))
    refused: list[tuple[type[Exception], str, Callable[[], Any]]] = [
        (
            ValueError,
            "Multiple tables with name t found. Here",
            lambda: TPUEmbedding([feature("t"), feature("t")], SGD()),
        ),
        (
            ValueError,
            "Inconsistent shape founded for input feature: feature",
            lambda: built.enqueue(([[1], [2], [3]],)),
        ),
        (
            ValueError,
            "Input Feature: feature '0'",
            lambda: TPUEmbedding((feature(),), SGD()).build([(1, None, None)]),
        ),
        (
            ValueError,
            "Weight specified for dense input",
            lambda: built.enqueue((np.int32([1, 2]),), (np.ones(2),)),
        ),
        (ValueError, "found non-tensor type: the gradient", lambda: built.apply_gradients((1,))),
        (
            TypeError,
            "The two structures don't have the same nested struct",
            lambda: built.apply_gradients([1]),
        ),
        (
            ValueError,
            "Output shape set in the FeatureConfig should be the factor",
            lambda: served(([[1], [2]],)),
        ),
        (
            ValueError,
            "`initializer` must be set",
            lambda: CustomCombiner(lambda *_: None, 4, num_weights=4),
        ),
    ]
    for error, words, call in refused:
        with pytest.raises(error, match=words):
            call()
