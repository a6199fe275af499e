"""Graph mode: updates are described first and run later."""

import subprocess
import sys

import numpy as np
import pytest

import gradlab as gl
from tests.differences import differs

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


# Expressions and assignments


@differs(
    "math of a `gl.Tensor`",
    tensorflow="TensorFlow's own functions; NumPy's are refused in a graph",
    gradlab="operators and NumPy's functions",
)
def test_a_loss_may_be_an_expression() -> None:
    with gl.Graph().as_default():
        v = gl.Variable([8.0])
        op = SGD(0.25).minimize(np.sum(np.square(v)))
        op.run()
        op.run()
    assert v.numpy().tolist() == [2]


def test_assignments_wait_until_they_are_run() -> None:
    with gl.Graph().as_default():
        v = gl.Variable(1.0)
        double = v.assign(v * 2)
        less = gl.assign_sub(v, 0.5)
        more = gl.assign_add(v, double)
        assert v.eval() == 1
        assert (double.eval(), less.eval(), more.eval()) == (2, 1.5, 6)
        assert v.eval() == 6
        v.load(3.0)
        assert v.eval() == 3


def test_an_assignment_of_another_shape_is_refused_when_it_is_described() -> None:
    with gl.Graph().as_default():
        v = gl.Variable([1.0])
        with pytest.raises(ValueError, match=r"has shape \(1,\), got a value of shape \(2,\)"):
            v.assign([1.0, 2.0])


@differs(
    "the parts of a `gl.group`",
    tensorflow="run in any order",
    gradlab="run in the order of the arguments",
)
def test_a_group_runs_all_of_its_parts() -> None:
    with gl.Graph().as_default():
        v, w = gl.Variable(1.0), gl.Variable(2.0)
        both = gl.group(v.assign(5.0), gl.no_op(), w.assign_add(v), name="both")
        assert (both.name, both.run(), v.eval(), w.eval()) == ("both", None, 5, 7)
    assert gl.group(v.assign(5.0)) is None


def test_a_decay_is_a_tensor_of_its_graph() -> None:
    with gl.Graph().as_default():
        step = gl.train.create_global_step()
        rate = gl.train.exponential_decay(1.0, step, 1, 0.5)
        half = np.maximum(rate * 0.5, 0.2)
        gl.Session().run(step.assign(2))
        assert gl.Session().run([rate, half]) == [0.25, np.float32(0.2)]


def test_every_clip_takes_tensors() -> None:
    with gl.Graph().as_default():
        v = gl.Variable([3.0, 4.0])
        (g,) = gl.gradients(v * v, [v])
        clipped = [
            gl.clip_by_value(g, -1.0, 1.0),
            gl.clip_by_norm(g, 5.0),
            gl.clip_by_average_norm(g, 1.0),
            gl.clip_by_global_norm([g], 5.0)[0][0],
            gl.clip_by_block_rms(g, 1.0),
            gl.adaptive_grad_clip([g], [v], 0.1)[0],
            gl.global_norm([g]),
        ]
        before = [x.eval().tolist() for x in clipped]
        v.load([30.0, -40.0])
        after = [x.eval().tolist() for x in clipped]
    assert before[0] == [1, 1]
    assert after[0] == [1, -1]
    assert all(x != y for x, y in zip(before, after, strict=True))


@differs(
    "`DropStaleGradientOptimizer.compute_gradients` in a `Graph`",
    tensorflow="gradients and local step are new at every run",
    gradlab="they are those of the call; `minimize` takes new ones at every run",
)
def test_gradients_that_may_be_stale_are_of_one_moment() -> None:
    with gl.Graph().as_default():
        v, step = gl.Variable([8.0]), gl.train.create_global_step()
        opt = gl.train.DropStaleGradientOptimizer(SGD(0.25), staleness=0)
        apply = opt.apply_gradients(opt.compute_gradients(v * v), step)
        minimize = opt.minimize(v * v, step)
        stale = gl.Session().run([apply, apply])
        again = [gl.Session().run(x) for x in (apply, minimize, minimize)]
    assert stale == [0, 0]
    assert again == [1, 1, 1]
    assert v.numpy().item() == 1


# The default graph


def test_a_program_without_blocks_has_a_default_graph() -> None:
    program = """
import gradlab as gl
gl.disable_v2_behavior()
assert not gl.executing_eagerly()
v = gl.Variable([8.0], name="v")
graph = gl.get_default_graph()
train_op = gl.train.GradientDescentOptimizer(0.25).minimize(v * v)
with gl.Session() as sess:
    sess.run(gl.global_variables_initializer())
    sess.run(train_op)
    print(sess.run(v), graph is sess.graph)
gl.reset_default_graph()
print(gl.global_variables(), gl.Variable(1.0, name="v").name, gl.get_default_graph() is graph)
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout == "[4.] True\n[] v:0 False\n"


@differs(
    "`gl.get_default_graph` outside of a block",
    tensorflow="the graph that there always is",
    gradlab="RuntimeError, unless `gl.disable_eager_execution` was called",
)
def test_a_block_has_the_only_graph() -> None:
    assert gl.executing_eagerly()
    with pytest.raises(RuntimeError, match=r"there is no default graph"):
        gl.get_default_graph()
    with gl.Graph().as_default() as graph:
        assert gl.get_default_graph() is graph
        with pytest.raises(RuntimeError, match=r"leave `with"):
            gl.reset_default_graph()
