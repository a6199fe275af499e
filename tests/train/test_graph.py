"""Graph mode: updates are described first and run later."""

import numpy as np
import pytest

import gradlab as gl

SGD = gl.train.GradientDescentOptimizer


def test_minimize_waits_until_it_is_run() -> None:
    with gl.Graph().as_default():
        v, step = gl.Variable([8.0], name="v"), gl.get_or_create_global_step()
        op = SGD(0.25).minimize(lambda: (v * v).sum(), global_step=step)
        assert (v.numpy().tolist(), int(step)) == ([8], 0)
    assert [(op.run(), v.numpy().item(), int(step)) for _ in range(3)] == [
        (None, 4, 1),
        (None, 2, 2),
        (None, 1, 3),
    ]


def test_apply_gradients_keeps_the_arrays_it_was_given() -> None:
    with gl.Graph().as_default():
        v = gl.Variable([8.0], name="v")
        op = SGD(1.0).apply_gradients([([1.0], v)])
    op.run(), op.run()
    assert v.numpy().tolist() == [6]


def test_names_are_unique_and_operations_are_collected() -> None:
    graph = gl.Graph()
    with graph.as_default():
        v, w = gl.Variable([1.0], name="v"), gl.Variable([1.0], name="v")
        fixed = gl.Variable([1.0], name="v", trainable=False)
        opt = gl.train.MomentumOptimizer(0.1, 0.9)
        ops = [
            opt.minimize(lambda: v * w),
            opt.minimize(lambda: v * w),
            opt.minimize(lambda: v * w, name="train"),
        ]
        slots = opt.variables()
    assert [x.name for x in (v, w, fixed)] == ["v:0", "v_1:0", "v_2:0"]
    assert [op.name for op in ops] == ["Momentum", "Momentum_1", "train"]
    assert graph.get_collection("train_op") == ops
    assert graph.get_collection("trainable_variables") == [v, w]
    assert [x.name for x in slots] == ["v/Momentum:0", "v_1/Momentum:0"] and opt.variables() == []
    assert graph.get_collection("variables") == [v, w, fixed, *slots]
    assert graph.get_collection("losses") == []
    assert repr(ops[1]) == "<gradlab.Operation 'Momentum_1'>"


def test_a_graph_trains_all_its_variables_by_default() -> None:
    with gl.Graph().as_default():
        v, w = gl.Variable([1.0], name="v"), gl.Variable([1.0], name="w")
        ((g, first), last) = SGD(0.1).compute_gradients(lambda: v * 3)
        assert g.eval().tolist() == [3]
    assert (first, last) == (v, (None, w))


def test_an_operation_that_fails_changes_nothing() -> None:
    def explode(w: np.ndarray) -> np.ndarray:
        raise ArithmeticError("too large")

    with gl.Graph().as_default():
        v, w = gl.Variable([1.0], name="v"), gl.Variable([1.0], name="w", constraint=explode)
        op = SGD(0.1).minimize(lambda: v * w)
    with pytest.raises(ArithmeticError):
        op.run()
    assert (v.numpy().tolist(), w.numpy().tolist()) == ([1], [1])


def test_outside_its_block_a_graph_is_not_current() -> None:
    with gl.Graph().as_default():
        inside = gl.Variable([1.0], name="inside")
    assert inside not in gl.trainable_variables()
    assert SGD(0.5).minimize(lambda: inside * inside, var_list=[inside]) is None
    assert inside.numpy().tolist() == [0]
