"""What a learning rate may be, what becomes of it, and the rate of one step."""

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import gradlab as gl
from gradlab.errors import InvalidArgumentError, KerasWarning
from gradlab.keras import SGD, Adagrad

F = np.float32
STAIRS = gl.schedules.PiecewiseConstantDecay([1], [0.5, 0.25])


def _rates(opt: SGD, steps: int = 3, dtype: Any = F) -> list[float]:
    """What SGD subtracts of a gradient of 1, step by step."""
    v, path = gl.Variable(np.zeros(1, dtype)), [0.0]
    for _ in range(steps):
        opt.apply_gradients([(np.ones(1, dtype), v)])
        path.append(float(v.numpy()[0]))
    return [a - b for a, b in pairwise(path)]


def test_python_numbers_are_float32_arrays_keep_their_bits() -> None:
    for rate in (0.1, lambda: 0.1, F(0.1), gl.Variable(0.1)):
        assert _rates(SGD(rate), 1, np.float64) == [float(F(0.1))]
    for rate in (
        np.float64(0.1),
        np.array(0.1),
        lambda: np.float64(0.1),
        gl.Variable(np.array(0.1)),
    ):
        assert _rates(SGD(rate), 1, np.float64) == [0.1]
    assert _rates(SGD(gl.schedules.ExponentialDecay(0.1, 1, 1.0)), 1, np.float64) == [float(F(0.1))]


def test_a_number_becomes_a_variable_at_the_first_use() -> None:
    opt = SGD(0.5)
    assert type(opt.get_config()["learning_rate"]) is float
    opt.learning_rate.assign(0.25)
    assert opt.lr is opt.learning_rate and opt.lr.name == "learning_rate:0"
    assert opt.get_config()["learning_rate"].dtype == F
    assert _rates(opt, 1) == [0.25]
    opt.lr = 1.0
    assert _rates(opt, 1) == [1.0]


def test_an_integer_becomes_an_integer_variable_which_then_is_said() -> None:
    opt = SGD(1)
    assert opt.lr.dtype == np.int32
    with pytest.warns(KerasWarning, match=r"learning_rate was given as an integer.*0.5 becomes 0"):
        opt.lr = 0.5
    opt.lr = 2
    assert _rates(opt, 1) == [2.0]


def test_functions_are_called_once_for_each_dtype_and_step() -> None:
    calls: list[int] = []
    opt = SGD(lambda: calls.append(0) or 0.5)  # type: ignore[func-returns-value]
    opt.apply_gradients([(np.ones(1, t), gl.Variable(np.ones(1, t))) for t in (F, np.float64, F)])
    assert len(calls) == 2


def test_schedules_and_what_replaces_them() -> None:
    opt = SGD(STAIRS)
    assert opt.learning_rate is STAIRS and _rates(opt) == [0.5, 0.5, 0.25]
    opt.learning_rate = 1.0
    assert opt.learning_rate == 1.0 and type(opt.learning_rate) is float
    assert _rates(opt, 1) == [1.0]
    opt.learning_rate = STAIRS
    assert _rates(opt, 1) == [0.25]  # its own count goes on
    number = SGD(1.0)
    assert isinstance(number.lr, gl.Variable)
    number.lr = STAIRS
    assert number.lr is STAIRS
    fixed = SGD(STAIRS, semantics="keras3")
    with pytest.raises(
        TypeError, match=r"created with a `LearningRateSchedule`.*take the place of this"
    ):
        fixed.learning_rate = 1.0


def test_newer_versions_show_the_rate_of_a_schedule() -> None:
    seen = {}
    for opt in (SGD(STAIRS, semantics="rewrite"), SGD(STAIRS, semantics="keras3")):
        v = gl.Variable([1.0])
        seen[opt.get_config()["semantics"]] = [
            opt.lr,
            *((opt.apply_gradients([([1.0], v)]), opt.lr)[1] for _ in range(3)),
        ]
    assert seen["rewrite"] == [0.5, 0.5, 0.5, 0.25]  # of the last step
    assert seen["keras3"] == [0.5, 0.5, 0.25, 0.25]  # of the next


def test_the_step_is_cast_to_the_dtype_of_the_variable_first() -> None:
    opt = SGD(gl.schedules.PiecewiseConstantDecay([2048], [1.0, 0.5]))
    opt.iterations = gl.Variable(np.int64(2049))
    half, single = gl.Variable(np.float16([0.0])), gl.Variable(F([0.0]))
    opt.apply_gradients([(np.float16([1.0]), half), (F([1.0]), single)])
    assert (half.numpy().tolist(), single.numpy().tolist()) == ([-1.0], [-0.5])


@pytest.mark.parametrize(
    ("bad", "error"), [(None, TypeError), ("0.1", ValueError), ([0.1], InvalidArgumentError)]
)
def test_what_is_no_rate_is_refused_at_the_first_use(bad: Any, error: type[Exception]) -> None:
    opt, v = Adagrad(bad), gl.Variable(F([1.0]))
    with pytest.raises(error, match="learning_rate must be"):
        opt.apply_gradients([(F([1.0]), v)])
    assert v.numpy().tolist() == [1.0] and opt.weights == []


@pytest.mark.parametrize("bad", [None, 1, "0.1"])
def test_keras_3_wants_a_float_at_once(bad: Any) -> None:
    with pytest.raises((TypeError, ValueError)):
        SGD(bad, semantics="keras3")


@pytest.mark.parametrize("odd", [-0.5, float("inf")])
def test_signs_are_not_checked(odd: float) -> None:
    assert _rates(SGD(odd), 1) == [odd]


def test_the_rewrite_makes_a_float32_variable_of_anything() -> None:
    for rate in (1, lambda: 1.0, np.float64(1)):
        opt = SGD(rate, semantics="rewrite")
        assert (opt.learning_rate.dtype, _rates(opt, 1)) == (F, [1.0])


@pytest.mark.parametrize("version", gl.keras.VERSIONS)
def test_in_a_graph_a_rate_is_set_at_once(version: Any) -> None:
    with gl.Graph().as_default():
        opt = gl.keras.SGD(0.5, semantics=version)
        opt.learning_rate = 0.25

    assert float(opt.learning_rate) == 0.25
