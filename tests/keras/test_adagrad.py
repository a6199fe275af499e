"""Keras's Adagrad: its formula bit for bit, what it does to slices, and the traps it warns of."""

from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

import gradlab as gl
from gradlab.errors import KerasWarning
from gradlab.keras import Adagrad

F = np.float32
VERSIONS = ["tf2.3", "legacy", "rewrite", "keras3"]
GRADS = [F([0.3, -2.0, 0.0]), F([1.5, 0.25, -1.0]), F([0.0, 4.0, 0.5])]


def _steps(opt: Adagrad, grads: list[Any], start: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    v = gl.Variable(start, name="v")
    for g in grads:
        opt.apply_gradients([(g, v)])
    return v.numpy(), opt.get_slot(v, "accumulator").numpy()


@pytest.mark.parametrize("version", VERSIONS)
def test_three_steps_bit_for_bit(version: str) -> None:
    w, acc, lr, eps = F([1.0, -2.0, 3.0]), F([0.1] * 3), F(0.1), F(0.5)
    got = _steps(Adagrad(0.1, epsilon=0.5, semantics=version), GRADS, w)
    for g in GRADS:
        acc = acc + g * g
        outside = version in ("tf2.3", "legacy")
        w = w - g * lr / (np.sqrt(acc) + eps if outside else np.sqrt(acc + eps))
    assert (got[0].tolist(), got[1].tolist()) == (w.tolist(), acc.tolist())


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64", "complex64"])
def test_dtypes_stay(dtype: str) -> None:
    import ml_dtypes

    kind = np.dtype(ml_dtypes.bfloat16 if dtype == "bfloat16" else dtype)
    w, acc = _steps(Adagrad(1.0, 1.0), [np.ones(2, kind)], np.zeros(2, kind))
    assert (w.dtype, acc.dtype) == (kind, kind)
    np.testing.assert_allclose(w.astype(complex), -(2**-0.5), rtol=1e-2)


def test_slices_of_one_row_are_summed_first_and_other_rows_rest() -> None:
    g = gl.IndexedSlices(F([[3.0], [-3.0], [1.0]]), [0, 0, 2], (4, 1))
    w, acc = _steps(Adagrad(1.0, 1.0), [g], np.ones((4, 1), F))
    assert acc.ravel().tolist() == [1, 1, 2, 1]
    assert w.ravel().tolist() == [1, 1, F(1) - F(1) / (np.sqrt(F(2)) + F(1e-7)), 1]


def test_keras_3_squares_slices_one_by_one_and_says_so() -> None:
    g = gl.IndexedSlices(F([[3.0], [-3.0]]), [0, 0], (2, 1))
    with pytest.warns(KerasWarning, match="accumulator of v:0 gets the sum of their squares"):
        w, acc = _steps(Adagrad(1.0, 1.0, semantics="keras3"), [g], np.zeros((2, 1), F))
    assert (w.tolist(), acc.ravel().tolist()) == ([[0.0], [0.0]], [19.0, 1.0])


def test_arguments_of_its_own() -> None:
    with pytest.raises(ValueError, match=r"initial_accumulator_value must be >= 0, got -1"):
        Adagrad(initial_accumulator_value=-1.0)
    with pytest.raises(TypeError):
        Adagrad(initial_accumulator_value=None)  # type: ignore[arg-type]
    assert (
        Adagrad(initial_accumulator_value=-1.0, semantics="keras3").get_config()[
            "initial_accumulator_value"
        ]
        == -1
    )
    v = gl.Variable([1.0])
    with pytest.raises(
        ValueError, match="epsilon is None, for which semantics='keras3' has no default"
    ):
        Adagrad(epsilon=None, semantics="keras3").apply_gradients([(F([1.0]), v)])


def test_epsilon_0_is_replaced_where_keras_does_so_and_said() -> None:
    with pytest.warns(
        KerasWarning, match=r"gl.keras.Adagrad\(semantics='legacy'\) replaces epsilon 0 by 1e-07"
    ):
        assert Adagrad(epsilon=0.0).epsilon == 1e-7
    assert Adagrad(epsilon=None).epsilon == 1e-7
    opt = Adagrad(1.0, 0.0, epsilon=0.0, semantics="keras3")
    assert np.isnan(_steps(opt, [F([0.0])], F([1.0]))[0]).all()


def test_epsilon_may_be_set_later() -> None:
    opt = Adagrad(1.0, 3.0)
    opt.epsilon = 8.0
    assert _steps(opt, [F([1.0])], F([0.0]))[0].tolist() == [F(-0.1)]


def test_an_entry_that_freezes_is_said_once_it_does() -> None:
    v, opt = gl.Variable(F([1.0, 1.0]), name="v"), Adagrad(0.5)
    with pytest.warns(KerasWarning, match="1 entries of the accumulator of v:0 became infinite"):
        opt.apply_gradients([(F([1e20, 1.0]), v)])
    before = v.numpy()
    opt.apply_gradients([(F([1.0, 1.0]), v)])  # frozen already: no second warning
    assert v.numpy()[0] == before[0] == 1.0 and v.numpy()[1] < before[1]


def test_an_entry_of_a_large_variable_that_freezes_is_said() -> None:
    v = gl.Variable(np.ones(100_000, np.float32), name="v")
    opt = Adagrad(0.5)
    gradient = np.ones(100_000, np.float32)
    opt.apply_gradients([(gradient, v)])
    opt.apply_gradients([(gradient, v)])  # no warning, which would be an error
    gradient[7] = 1e30
    with pytest.warns(KerasWarning, match="1 entries of the accumulator of v:0 became infinite"):
        opt.apply_gradients([(gradient, v)])


@pytest.mark.parametrize("size", [2, 40_000])
def test_of_what_freezes_on_a_device_nothing_is_said(size: int) -> None:
    v, opt = gl.Variable(jnp.ones(size), name="v"), Adagrad(0.5)
    opt.apply_gradients([(jnp.full(size, 1e20), v)])
    assert (
        np.isinf(opt.get_slot(v, "accumulator").numpy()).all()
        and v.numpy().tolist() == [1.0] * size
    )


def test_weights_one_too_few_get_a_count_of_0_in_front() -> None:
    v, opt = gl.Variable(F([1.0]), name="v"), Adagrad()
    opt.apply_gradients([(F([0.0]), v)])
    opt.set_weights([F([5.0])])
    assert [w.tolist() for w in opt.get_weights()] == [0, [5.0]]
    with pytest.raises(ValueError, match="0 weights, but the optimizer was expecting 2 weights"):
        opt.set_weights([])
    modern = Adagrad(semantics="keras3")
    modern.build([v])
    with pytest.raises(ValueError, match="1 weights, but the optimizer was expecting 3 weights"):
        modern.set_weights([F(1.0)])


def test_a_schedule_does_not_come_back_and_the_warning_says_what_to_do() -> None:
    config = Adagrad(gl.schedules.ExponentialDecay(0.5, 2, 0.5)).get_config()
    del config["initial_accumulator_value"]
    with pytest.warns(
        KerasWarning, match=r"does not rebuild a schedule.*gl\.schedules\.deserialize"
    ):
        opt = Adagrad.from_config(config)
    assert config["initial_accumulator_value"] == 0.1
    v = gl.Variable(F([1.0]))
    with pytest.raises(ValueError, match="learning_rate is the config of a schedule"):
        opt.apply_gradients([(F([1.0]), v)])
    assert v.numpy().tolist() == [1.0]
    del config["decay"]
    again = Adagrad.from_config({**config, "semantics": "keras3"})
    assert again.get_config()["learning_rate"]["class_name"] == "ExponentialDecay"
