"""Sessions run the operations and compute the tensors of a Graph."""

import threading
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pytest

import gradlab as gl
from tests.differences import differs

SGD = gl.train.GradientDescentOptimizer


@pytest.fixture
def graph() -> Iterator[gl.Graph]:
    with gl.Graph().as_default() as graph:
        yield graph


class Pair(NamedTuple):
    first: object
    second: object


def test_fetches_keep_their_structure(graph: gl.Graph) -> None:
    v = gl.Variable([1.0, 2.0])
    fetches = {"pair": Pair(v, [v * 2, (None, v[0])]), "function": lambda: v.value + 1}

    fetched = gl.Session().run(fetches)

    pair = fetched["pair"]
    assert isinstance(pair, Pair)
    assert pair.first.tolist() == [1, 2]
    double, (nothing, entry) = pair.second
    assert (double.tolist(), nothing, entry) == ([2, 4], None, 1)
    assert isinstance(entry, np.float32)
    assert fetched["function"].tolist() == [2, 3]


def test_values_are_those_from_before_the_step(graph: gl.Graph) -> None:
    v = gl.Variable([8.0])
    step = gl.train.create_global_step()
    loss = v * v
    train_op = SGD(0.25).minimize(loss, step)

    with gl.Session() as sess:
        runs = [sess.run([train_op, loss, step]) for _ in range(2)]

    assert [(x[0], x[1].item(), x[2]) for x in runs] == [(None, 64, 0), (None, 16, 1)]
    assert (v.eval().item(), step.eval()) == (2, 2)


def test_fetched_values_are_copies(graph: gl.Graph) -> None:
    v = gl.Variable([1.0])
    fetched = gl.Session().run(v)

    fetched[0] = 5

    assert v.eval().item() == 1


def test_a_tensor_is_computed_once_in_a_run(graph: gl.Graph) -> None:
    v = gl.Variable([1.0])
    calls = []

    def loss() -> object:
        calls.append(1)
        return v * v

    (gradient,) = gl.gradients(loss, [v])
    calls.clear()

    gl.Session().run([gradient, gradient * 2, gl.global_norm([gradient])])

    assert len(calls) == 1


def test_an_operation_runs_once_in_a_run(graph: gl.Graph) -> None:
    v = gl.Variable(0.0)
    add = gl.assign_add(v, 1.0)

    gl.Session().run([add, gl.group(add, add)])

    assert v.eval() == 1


def test_clipped_gradients_are_those_of_each_run(graph: gl.Graph) -> None:
    v = gl.Variable([8.0])
    (gradient,) = gl.gradients(v * v, [v])
    (clipped,), norm = gl.clip_by_global_norm([gradient], 4.0)
    train_op = SGD(1.0).apply_gradients([(clipped, v)])

    with gl.Session() as sess:
        norms = [sess.run([norm, train_op])[0] for _ in range(3)]

    assert norms == [16, 8, 0]
    assert v.eval().item() == 0


def test_slices_stay_slices_through_a_clip(graph: gl.Graph) -> None:
    table = gl.Variable(np.ones((3, 2), np.float32))
    (gradient,) = gl.gradients(gl.gather(table, [1, 1]) * 3, [table])
    halved = gl.IndexedSlices(gradient.values * 0.5, gradient.indices, gradient.dense_shape)
    clipped = gl.clip_by_value(halved, -1.0, 1.0)
    train_op = SGD(0.25).apply_gradients([(clipped, table)])

    with gl.Session() as sess:
        fetched = sess.run(clipped)
        sess.run(train_op)

    assert fetched.indices.tolist() == [1, 1]
    assert fetched.values.tolist() == [[1, 1], [1, 1]]
    assert table.eval().tolist() == [[1, 1], [0.5, 0.5], [1, 1]]


def test_slices_become_dense_in_each_run(graph: gl.Graph) -> None:
    table = gl.Variable(np.ones((3, 1), np.float32))
    (gradient,) = gl.gradients(gl.gather(table, [1, 1]) ** 2, [table])
    dense = gradient.to_dense()
    train_op = SGD(0.125).apply_gradients([(dense, table)])

    with gl.Session() as sess:
        fetched = [sess.run([dense, train_op])[0].ravel().tolist() for _ in range(2)]

    assert fetched == [[0, 4, 0], [0, 2, 0]]
    assert dense.shape == (3, 1)


# Assignments that a gradient depends on


@pytest.fixture
def counted(graph: gl.Graph) -> tuple[gl.Variable, gl.Tensor]:
    """A variable that counts, and a tensor that counts it up."""
    count = gl.Variable([0.0], trainable=False)
    return count, count.assign_add([1.0])


APPLIERS = {
    "gl.train": lambda: SGD(0.125),
    "loss scale": lambda: gl.train.MixedPrecisionLossScaleOptimizer(SGD(0.125), "dynamic"),
    "gl.keras": lambda: gl.keras.SGD(0.125),
}


@pytest.mark.parametrize("api", APPLIERS)
def test_a_step_that_is_described_assigns_nothing(
    graph: gl.Graph, counted: tuple[gl.Variable, gl.Tensor], api: str
) -> None:
    count, count_up = counted
    v = gl.Variable([8.0])
    (gradient,) = gl.gradients(v * v, [v])
    train_op = APPLIERS[api]().apply_gradients([(gradient * count_up, v)])
    assert count.eval() == 0

    with gl.Session() as sess:
        for runs in (1, 2):
            sess.run(train_op)
            assert count.eval() == runs


def test_a_worker_that_describes_a_step_assigns_nothing(
    graph: gl.Graph, counted: tuple[gl.Variable, gl.Tensor]
) -> None:
    count, count_up = counted
    step = gl.train.create_global_step()
    v = gl.Variable([8.0])
    loss = v * v
    pairs = [(gl.gradients(loss, [v])[0] * count_up, v)]
    opt = gl.train.DropStaleGradientOptimizer(SGD(0.125), 0)
    operations = []

    def work() -> None:
        opt.compute_gradients(loss, var_list=[v])
        operations.append(opt.apply_gradients(pairs, step))

    worker = threading.Thread(target=work)
    worker.start()
    worker.join()
    assert count.eval() == 0

    gl.Session().run(operations)

    assert count.eval() == 1


def test_rows_that_an_assignment_chooses_assign_nothing_either(graph: gl.Graph) -> None:
    row = gl.Variable(np.int32([0]), trainable=False)
    next_row = row.assign_add([1])
    table = gl.Variable(np.ones((3, 1), np.float32))
    gradient = gl.IndexedSlices(np.ones((1, 1), np.float32), next_row, (3, 1))
    chosen = table[next_row]
    train_op = SGD(0.5).apply_gradients([(gradient, table)])
    assert row.eval() == 0

    gl.Session().run([train_op, chosen])

    assert row.eval() == 1
    assert table.eval().ravel().tolist() == [1, 0.5, 1]


@pytest.mark.parametrize("kind", ["tensor", "function", "loss scale", "in a list", "custom"])
def test_an_assignment_in_a_loss_is_done_once_in_a_run(
    graph: gl.Graph, counted: tuple[gl.Variable, gl.Tensor], kind: str
) -> None:
    count, count_up = counted
    v = gl.Variable([3.0])

    @gl.custom_gradient
    def scale(x: object) -> object:
        return x * count_up(), lambda upstream: upstream * count_up()

    losses = {"function": lambda: v * count_up, "custom": lambda: scale(v.value)}
    loss = losses.get(kind, v * count_up)
    opt = APPLIERS["loss scale" if kind == "loss scale" else "gl.train"]()
    if kind == "in a list":
        (gradient,) = gl.gradients([loss, 0 * v], [v])
        train_op = opt.apply_gradients([(gradient, v)])
    else:
        train_op = opt.minimize(loss, var_list=[v])
    assert count.eval() == 0

    with gl.Session() as sess:
        fetches = [train_op] if kind == "custom" else [train_op, count_up * 1]
        sess.run(fetches)
        assert (count.eval(), v.eval()) == (1, 2.875)
        sess.run(train_op)
        assert (count.eval(), v.eval()) == (2, 2.625)


def test_an_assignment_is_a_constant_to_derivatives(graph: gl.Graph) -> None:
    v, copied = gl.Variable([3.0]), gl.Variable([0.0])
    doubled = copied.assign(v * 2)
    first = gl.gradients(v * v * doubled, [v, copied])
    second = gl.hessians(v * v * doubled, v)

    (at_v, at_copied), hessian = gl.Session().run([first, second[0]])

    assert (at_v, at_copied, hessian) == (36, None, 12)


# Variables and their initial values


def test_the_initializer_takes_everything_back(graph: gl.Graph) -> None:
    v = gl.Variable([1.0])
    step = gl.train.create_global_step()
    opt = gl.train.AdamOptimizer(0.5)
    train_op = opt.minimize(v * v, step)
    init = gl.global_variables_initializer()
    with gl.Session() as sess:
        sess.run(train_op)
        once = sess.run(gl.global_variables())
        sess.run(train_op)
        sess.run([init, gl.local_variables_initializer()])
        start = sess.run(gl.global_variables())
        sess.run(train_op)
        again = sess.run(gl.global_variables())

    names = [variable.name for variable in gl.global_variables()]
    assert names == [
        "Variable:0",
        "global_step:0",
        "beta1_power:0",
        "beta2_power:0",
        "Variable/Adam:0",
        "Variable/Adam_1:0",
    ]
    assert [x.item() for x in start] == pytest.approx([1, 0, 0.9, 0.999, 0, 0])
    assert again == once


@differs(
    "`gl.variables_initializer` and `gl.global_variables_initializer` of a function's values",
    tensorflow="the function is computed again",
    gradlab="the values that it gave first",
)
def test_an_initial_value_is_computed_once(graph: gl.Graph) -> None:
    values = iter([1.0, 2.0])
    v = gl.Variable(lambda: next(values))
    gl.Session().run(v.assign(5.0))

    gl.Session().run(gl.global_variables_initializer())

    assert v.eval() == 1


def test_one_variable_is_initialized_alone(graph: gl.Graph) -> None:
    v = gl.Variable(1.0)
    w = gl.Variable(2.0)
    gl.Session().run([v.assign(5.0), w.assign(6.0)])

    gl.Session().run(gl.variables_initializer([v]))

    assert (v.eval(), w.eval()) == (1, 6)


def test_outside_a_graph_there_is_nothing_to_initialize() -> None:
    assert gl.global_variables_initializer() is None
    assert gl.local_variables_initializer() is None


@differs(
    "variables of a `gl.Session`",
    tensorflow="each session has values of its own, which an initializer sets first",
    gradlab="the graph has them: initial values are there from the start, sessions share them",
)
def test_sessions_share_variables(graph: gl.Graph) -> None:
    v = gl.Variable(1.0)

    gl.Session().run(v.assign_add(1.0))

    assert gl.Session().run(v) == 2


# Order


def test_control_dependencies_run_first(graph: gl.Graph) -> None:
    v = gl.Variable([8.0])
    minimize = SGD(0.25).minimize(v * v)
    averages = gl.train.ExponentialMovingAverage(0.5)
    with gl.control_dependencies([minimize]):
        train_op = averages.apply([v])

    gl.Session().run(train_op)

    assert v.eval().item() == 4
    assert averages.average(v).eval().item() == 6


def test_control_dependencies_nest_and_can_be_cleared(graph: gl.Graph) -> None:
    v = gl.Variable(1.0)
    with gl.control_dependencies([v.assign(2.0)]):
        with gl.control_dependencies([v.assign_add(3.0)]):
            both = gl.no_op()
        with gl.control_dependencies(None):
            neither = gl.no_op()

    neither.run()
    assert v.eval() == 1
    both.run()
    assert v.eval() == 5


@differs(
    "order of what one `Session.run` fetches",
    tensorflow="any that the graph allows",
    gradlab="values first, then operations and assignments in the order of the fetches",
)
def test_values_come_before_assignments(graph: gl.Graph) -> None:
    v = gl.Variable(1.0)

    fetched = gl.Session().run([v.assign(5.0), v, v.assign_add(1.0)])

    assert fetched == [5, 1, 6]


# Refusals


@differs(
    "`target` and `config` of a `gl.Session`",
    tensorflow="the server and the settings that it uses",
    gradlab="no effect",
)
def test_a_session_runs_in_this_process(graph: gl.Graph) -> None:
    v = gl.Variable(1.0)
    with gl.Session("grpc://nowhere:1", config={"allow_soft_placement": True}) as sess:
        assert sess.run(v) == 1


@differs(
    "`feed_dict` of `Session.run`",
    tensorflow="values of placeholders",
    gradlab="NotImplementedError, because there are no placeholders",
)
def test_what_is_not_there_is_refused_by_name(graph: gl.Graph) -> None:
    v = gl.Variable(1.0)
    with pytest.raises(NotImplementedError, match=r"placeholders.*trainable=False"):
        gl.Session().run(v, feed_dict={v: 2.0})
    assert gl.Session().run(v, feed_dict={}) == 1


@pytest.mark.parametrize("fetch", ["v:0", 3, np.ones(2)])
def test_other_things_are_no_fetches(graph: gl.Graph, fetch: object) -> None:
    v = gl.Variable(1.0)
    with pytest.raises(TypeError, match=r"Fetch argument .* has invalid type"):
        gl.Session().run([v.assign(2.0), fetch])
    assert v.eval() == 1


def test_another_graph_is_refused(graph: gl.Graph) -> None:
    with gl.Graph().as_default() as other:
        v = gl.Variable(1.0)
        operation = gl.no_op()
    for fetch in (v, operation):
        with pytest.raises(ValueError, match=r"is not an element of this graph"):
            gl.Session().run(fetch)
        gl.Session(graph=other).run(fetch)


def test_a_closed_session_runs_nothing(graph: gl.Graph) -> None:
    v = gl.Variable(1.0)
    with gl.Session() as sess:
        sess.run(v)
    with pytest.raises(RuntimeError, match=r"closed Session"):
        sess.run(v)


def test_a_session_needs_a_graph() -> None:
    with pytest.raises(RuntimeError, match=r"gl\.Graph\(\)\.as_default\(\)"):
        gl.Session()
    with pytest.raises(TypeError, match=r"must be a gl\.Graph"):
        gl.Session(graph="graph")


# Keras's optimizers


@pytest.mark.parametrize("semantics", ["tf2.3", "legacy", "rewrite", "keras3"])
def test_a_keras_optimizer_applies_tensors(graph: gl.Graph, semantics: str) -> None:
    v = gl.Variable([8.0])
    table = gl.Variable(np.ones((2, 1), np.float32))
    loss = [v * v, gl.gather(table, [1]) * 3]
    gradients, norm = gl.clip_by_global_norm(gl.gradients(loss, [v, table]), 1e6)
    opt = gl.keras.SGD(0.25, semantics=semantics)
    train_op = opt.apply_gradients(zip(gradients, [v, table], strict=True))

    with gl.Session() as sess:
        norms = [sess.run([norm, train_op])[0] for _ in range(2)]

    assert norms == pytest.approx([np.hypot(16, 3), np.hypot(8, 3)])
    assert (v.eval().tolist(), table.eval().tolist()) == ([2], [[1], [-0.5]])
