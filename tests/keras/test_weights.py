"""Iterations, slots and weights: names, order of creation, reading and writing."""

import numpy as np
import pytest

import gradlab as gl
from gradlab.keras import SGD, Adagrad

F = np.float32


def _names(opt: Adagrad) -> list[str]:
    return [w.name for w in opt.weights]


def _stepped(opt: Adagrad, *variables: gl.Variable) -> Adagrad:
    opt.apply_gradients([(np.zeros(v.shape, v.dtype), v) for v in variables])
    return opt


def test_order_is_that_of_creation() -> None:
    v, w = gl.Variable([1.0], name="v"), gl.Variable([1.0], name="w")
    opt = Adagrad()
    assert (opt.weights, opt.get_weights(), opt.get_slot_names()) == ([], [], [])
    _stepped(_stepped(opt, w), v, w)
    assert _names(opt) == ["Adagrad/iter:0", "Adagrad/w/accumulator:0", "Adagrad/v/accumulator:0"]
    assert (opt.variables(), opt.get_slot_names()) == (opt.weights, ["accumulator"])
    assert opt.get_weights()[0].dtype == np.int64


def test_iterations_read_first_have_a_shorter_name() -> None:
    v, opt = gl.Variable([1.0], name="v"), Adagrad()
    assert opt.iterations.name == "iter:0"
    assert _names(_stepped(opt, v)) == ["iter:0", "Adagrad/v/accumulator:0"]


def test_iterations_may_be_set_as_long_as_there_are_none() -> None:
    opt, mine = Adagrad(), gl.Variable(np.int64(7), name="mine")
    opt.iterations = mine
    assert _stepped(opt, gl.Variable([1.0])).iterations is mine and mine.numpy() == 8
    with pytest.raises(RuntimeError, match="Cannot set `iterations`: there are some already"):
        opt.iterations = gl.Variable(np.int64(0))


@pytest.mark.parametrize(
    ("version", "names"),
    [
        ("keras3", ["Adagrad/iteration:0", "Adagrad/learning_rate:0", "Adagrad/v_accumulator:0"]),
        ("rewrite", ["iteration:0", "Adagrad/accumulator/v:0"]),
    ],
)
def test_names_of_other_versions(version: str, names: list[str]) -> None:
    assert _names(_stepped(Adagrad(semantics=version), gl.Variable([1.0], name="v"))) == names


def test_slots_of_your_own() -> None:
    v, opt = gl.Variable([1.0, 2.0], name="v"), Adagrad()
    extra = opt.add_slot(v, "extra")
    assert (extra.name, extra.numpy().tolist(), opt.add_slot(v, "extra", "ones")) == (
        "v/extra:0",
        [0, 0],
        extra,
    )
    assert opt.add_slot(v, "ones", "ones").numpy().tolist() == [1, 1]
    assert opt.add_slot(
        v, "made", lambda shape, dtype: np.full(shape, 2, dtype)
    ).numpy().tolist() == [2, 2]
    assert opt.add_slot(v, "given", F([3, 4])).numpy().tolist() == [3, 4]
    assert opt.add_slot(v, "other", shape=[3]).shape == (3,)
    with pytest.raises(ValueError, match="initializer must be"):
        opt.add_slot(v, "bad", "nonsense")
    assert _names(_stepped(opt, v))[0] == "v/extra:0"  # ahead of iterations
    assert opt.get_slot_names() == ["extra", "ones", "made", "given", "other", "accumulator"]


def test_a_slot_that_is_there_is_used() -> None:
    v, opt = gl.Variable([0.0], name="v"), SGD(1.0, momentum=0.5)
    opt.add_slot(v, "momentum", "ones")
    _stepped(opt, v)
    assert v.numpy().tolist() == [0.5]


def test_unknown_slots() -> None:
    v, opt = gl.Variable([1.0], name="v"), Adagrad()
    with pytest.raises(KeyError, match="v:0 has no slot 'accumulator'; it has none"):
        opt.get_slot(v, "accumulator")
    _stepped(opt, v)
    with pytest.raises(KeyError, match="it has accumulator"):
        opt.get_slot(v, "momentum")


def test_a_weight_of_your_own_does_not_join() -> None:
    opt = Adagrad()
    w = opt.add_weight("beta", [2], initializer="ones")
    assert (w.name, w.dtype, w.trainable, w.numpy().tolist(), opt.weights) == (
        "beta:0",
        F,
        True,
        [1, 1],
        [],
    )
    assert opt.add_weight("n", (), dtype=np.int64, trainable=False).dtype == np.int64
    # No effect.
    same = opt.add_weight("beta", [2], None, "ones", None, "on_read", aggregation="mean")
    assert (same.dtype, same.trainable, same.numpy().tolist()) == (F, True, [1, 1])


def test_set_weights() -> None:
    v, opt = gl.Variable([1.0, 2.0], name="v"), Adagrad()
    opt.set_weights([])
    with pytest.raises(
        ValueError,
        match="2 weights, but the optimizer was expecting 0 weights: none before the first step",
    ):
        opt.set_weights([np.int64(1), F([1, 2])])
    _stepped(opt, v)
    opt.set_weights([F(4.0), np.array([1.0, 2.0])])
    assert [(w.dtype, w.tolist()) for w in opt.get_weights()] == [(np.int64, 4), (F, [1, 2])]
    with pytest.raises(
        ValueError, match=r"shape \(2,\) is not compatible with provided weight shape \(1,\)"
    ):
        opt.set_weights([np.int64(1), F([9])])
    assert opt.iterations.numpy() == 4
