"""Keras's SGD: plain, with momentum, with slices, and momentum that is set later."""

import numpy as np
import pytest

import gradlab as gl
from gradlab.keras import SGD

F = np.float32
SLICES = gl.IndexedSlices(F([[1.0], [2.0]]), [0, 0], (2, 1))


def _weights(opt: SGD, grads: list[object], shape: tuple[int, ...] = (1,)) -> list[float]:
    v = gl.Variable(np.zeros(shape, F), name="v")
    for g in grads:
        opt.apply_gradients([(g, v)])
    return v.numpy().ravel().tolist()


@pytest.mark.parametrize("version", ["tf2.3", "legacy", "rewrite", "keras3"])
def test_plain_momentum_and_nesterov(version: str) -> None:
    grads = [F([1.0]), F([1.0])]
    assert _weights(SGD(0.5, semantics=version), grads) == [-1.0]
    assert _weights(SGD(0.5, momentum=0.5, semantics=version), grads) == [-1.25]
    assert _weights(SGD(0.5, momentum=0.5, nesterov=True, semantics=version), grads) == [-1.625]


def test_only_rows_named_roll_in_legacy_all_rows_in_keras_3() -> None:
    rolling = gl.IndexedSlices(F([[1.0]]), [0], (2, 1)), gl.IndexedSlices(F([[1.0]]), [1], (2, 1))
    assert _weights(SGD(1.0, momentum=0.5), list(rolling), (2, 1)) == [-1.0, -1.0]
    assert _weights(SGD(1.0, momentum=0.5, semantics="keras3"), list(rolling), (2, 1)) == [
        -1.5,
        -1.0,
    ]
    assert _weights(SGD(1.0, momentum=0.5), [SLICES], (2, 1)) == [-3.0, 0.0]
    assert _weights(SGD(1.0), [SLICES], (2, 1)) == [-3.0, 0.0]


def test_without_momentum_slices_of_one_row_round_one_by_one() -> None:
    big = gl.Variable(F([[-(2.0**24)]]))
    SGD(1.0).apply_gradients([(gl.IndexedSlices(F([[1.0], [1.0]]), [0, 0]), big)])
    assert big.numpy().item() == -(2.0**24)
    SGD(1.0, momentum=0.5).apply_gradients([(gl.IndexedSlices(F([[1.0], [1.0]]), [0, 0]), big)])
    assert big.numpy().item() == -(2.0**24) - 2


@pytest.mark.parametrize("bad", [-0.1, 1.5])
def test_momentum_out_of_range(bad: float) -> None:
    with pytest.raises(ValueError, match=r"`momentum` must be between \[0, 1\]"):
        SGD(momentum=bad)


def test_momentum_of_no_number() -> None:
    with pytest.raises(TypeError):
        SGD(momentum=None)
    with pytest.raises(ValueError, match="must be a float"):
        SGD(momentum=1, semantics="keras3")


def test_momentum_that_was_0_at_first_stays_without_effect() -> None:
    opt = SGD(0.5)
    opt.momentum = 0.5
    assert _weights(opt, [F([1.0]), F([1.0])]) == [-1.0]
    rolling = SGD(0.5, momentum=0.5)
    assert isinstance(rolling.momentum, gl.Variable)
    rolling.momentum = 0.0
    assert _weights(rolling, [F([1.0]), F([1.0])]) == [-1.0]
    assert _weights(SGD(0.5, momentum=lambda: 0.5), [F([1.0]), F([1.0])]) == [-1.25]


def test_momentum_of_a_function_is_asked_once_for_each_step() -> None:
    calls: list[int] = []
    opt = SGD(1.0, momentum=lambda: calls.append(0) or 0.5)  # type: ignore[func-returns-value]
    for n in (1, 2):
        opt.apply_gradients([(F([1.0]), gl.Variable([0.0])) for _ in range(3)])
        assert len(calls) == n


def test_config() -> None:
    opt = SGD(0.5, momentum=0.25, nesterov=True)
    assert opt.get_config() == {
        "name": "SGD",
        "learning_rate": 0.5,
        "decay": 0.0,
        "momentum": 0.25,
        "nesterov": True,
    }
    assert SGD.from_config(opt.get_config()).get_config() == opt.get_config()
    schedule = gl.schedules.InverseTimeDecay(0.5, 2, 0.25)
    again = SGD.from_config(SGD(schedule).get_config()).learning_rate
    assert (type(again), again.get_config()) == (type(schedule), schedule.get_config())
    assert SGD(momentum=0.5, semantics="rewrite").momentum == 0.5


def test_a_momentum_of_0_out_of_a_config_makes_no_slot() -> None:
    """After a step a config holds NumPy scalars."""
    v, opt = gl.Variable([1.0], name="v"), SGD(0.5)
    opt.apply_gradients([(F([1.0]), v)])
    again = SGD.from_config(opt.get_config())
    again.apply_gradients([(F([1.0]), v)])
    assert isinstance(opt.get_config()["momentum"], F)
    assert again.get_slot_names() == []
