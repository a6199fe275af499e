"""Errors of Keras's optimizers beside ours: the same classes, and the words that its own tests look
for.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import gradlab as gl
from tests.conformance.runner import attempt
from tests.conformance.test_live_keras import _library
from tests.golden.tensorflow_values import tensorflow

pytestmark = pytest.mark.tensorflow

EAGER, ALL = ("rewrite", "keras3"), ("legacy", "rewrite", "keras3")
# What is done with a class and a variable, in which versions, and the words.
CASES: dict[str, tuple[Any, tuple[str, ...], str]] = {
    "no gradients": (
        lambda cls, v: cls().apply_gradients([(None, v)]),
        ALL,
        "No gradients provided for any variable",
    ),
    "an unknown key, legacy": (
        lambda cls, v: cls.from_config({"foo": 1}),
        ("legacy",),
        "Unexpected keyword argument passed to optimizer",
    ),
    "an unknown key, rewrite": (
        lambda cls, v: cls.from_config({"foo": 1}),
        ("rewrite",),
        "foo is not a valid argument",
    ),
    "an unknown key, Keras 3": (
        lambda cls, v: cls.from_config({"foo": 1}),
        ("keras3",),
        r"Argument\(s\) not recognized",
    ),
    "two limits": (
        lambda cls, v: cls(clipnorm=1.0, global_clipnorm=1.0),
        ALL,
        r"(Cannot accept both|At most one of|Only one of) `clipnorm`",
    ),
    "momentum": (
        lambda cls, v: cls(momentum=2.0),
        ALL,
        r"`momentum` must be (a float )?between \[0, 1\]",
    ),
    "weights before build": (
        lambda cls, v: cls().set_weights([1.0]),
        EAGER,
        r"You are calling `set_weights\(\)`",
    ),
    "too many weights": (
        lambda cls, v: cls().set_weights([1.0] * 5),
        ("legacy",),
        r"`set_weights\(weights\)` .*but the optimizer was",
    ),
    "what the rewrite has no more": (
        lambda cls, v: cls(decay=0.5),
        ("rewrite",),
        "decay is deprecated in the new",
    ),
    "a number for a schedule": (
        lambda cls, v: setattr(cls(_schedule(cls)), "learning_rate", 1.0),
        EAGER,
        "created with a `LearningRateSch",
    ),
    "an average's momentum": (
        lambda cls, v: cls(use_ema=True, ema_momentum=2.0),
        EAGER,
        r"must be in the range \[0, 1\]",
    ),
    "an overwriting that never comes": (
        lambda cls, v: cls(use_ema=True, ema_overwrite_frequency=-1),
        EAGER,
        "`?ema_overwrite_frequency`? must be",
    ),
    "one accumulated gradient": (
        lambda cls, v: cls(gradient_accumulation_steps=1),
        ("keras3",),
        "must be an integer >= 2",
    ),
    "gradients without variables": (
        lambda cls, v: cls().apply([1.0]),
        ("keras3",),
        r"without .*variables",
    ),
}


def _schedule(cls: Any) -> Any:
    """A schedule of the library of an optimizer."""
    if issubclass(cls, gl.keras.Optimizer):
        return gl.schedules.ExponentialDecay(0.1, 10, 0.5)
    version = "keras3" if cls.__module__.startswith("keras.") else "rewrite"
    return _library(version).schedules.ExponentialDecay(0.1, 10, 0.5)


@pytest.mark.parametrize("case", CASES)
def test_words(case: str) -> None:
    call, versions, words = CASES[case]
    tf = tensorflow()
    for version in versions:
        raised = attempt(
            lambda version=version: call(_library(version).SGD, tf.Variable([1.0]))
        ).error
        ours = attempt(lambda version=version: call(_of(version), gl.Variable([1.0]))).error
        assert type(raised) in type(ours).__mro__, (version, raised, ours)
        assert re.search(words, str(raised)) and re.search(words, str(ours)), (
            version,
            raised,
            ours,
        )


def _of(version: Any) -> Any:
    class Of(gl.keras.SGD):
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            super().__init__(*args, **{"semantics": version, **kwargs})

        @classmethod
        def from_config(cls, config: Any, *rest: Any, **changes: Any) -> Any:
            return gl.keras.SGD.from_config(config, semantics=version)

    return Of


def test_minus_slices() -> None:
    tf = tensorflow()
    theirs = -tf.IndexedSlices(tf.constant([[1.0, -2.0]]), tf.constant([3]), tf.constant([4, 2]))
    ours = -gl.IndexedSlices(np.float32([[1.0, -2.0]]), [3], (4, 2))
    assert (ours.values.tolist(), ours.indices.tolist()) == (
        theirs.values.numpy().tolist(), theirs.indices.numpy().tolist(),
    )  # fmt: skip
