"""What a rule says of numbers that the dtype of the weights cannot hold."""

import ml_dtypes
import numpy as np
import pytest

import gradlab as gl
from gradlab import rules
from gradlab.rules.rule import _warn_if_lost


@pytest.fixture(autouse=True)
def nothing_was_said() -> None:
    _warn_if_lost.cache_clear()


def test_a_decay_that_rounds_to_1_is_warned_of_once() -> None:
    w = np.ones(2, ml_dtypes.bfloat16)
    rule = rules.Adam()
    with pytest.warns(
        gl.errors.PrecisionWarning,
        match=r"beta2=0\.999, which is 1 in bfloat16.*gl\.optax\.from_rule",
    ):
        rule(w, rule.init(w), w, 0.1)
    rule(w, rule.init(w), w, 0.1)  # any warning is an error here


def test_an_epsilon_that_rounds_to_0_is_warned_of() -> None:
    w = np.ones(2, np.float16)
    rule = rules.Adam(epsilon=1e-8)
    with pytest.warns(
        gl.errors.PrecisionWarning, match=r"epsilon=1e-08, which is 0 in float16.*0 by 0"
    ):
        rule(w, rule.init(w), w, 0.1)


def test_the_optimizers_of_tensorflow_1_warn_as_well() -> None:
    v = gl.Variable(np.ones(2, ml_dtypes.bfloat16))
    with pytest.warns(gl.errors.PrecisionWarning, match=r"beta2=0\.999, which is 1 in bfloat16"):
        gl.train.AdamOptimizer(0.01).apply_gradients([(np.ones(2, ml_dtypes.bfloat16), v)])


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_numbers_that_the_dtype_holds_are_not_warned_of(dtype: type) -> None:
    w = np.ones(2, dtype)
    rule = rules.Adam()  # 0.999 and 1e-7 have a place in float16
    rule(w, rule.init(w), w, 0.1)
