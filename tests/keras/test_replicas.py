"""Simulated replicas: sums, clips before and after them, drift, and what each version refuses."""

import weakref
from typing import Any

import numpy as np
import pytest

import gradlab as gl
from gradlab.errors import KerasWarning
from gradlab.keras import SGD, Adagrad, replicas
from gradlab.keras.replicas import divide_gradient, sum_gradients
from tests.differences import differs

F = np.float32
V, T = gl.Variable([0.0, 0.0], name="v"), gl.Variable([[0.0], [0.0]], name="t")
A, B = F([3.0, 4.0, 0.0]), F([1.0, 0.0, 2.0])


def _step(
    opt: Any, two: Any, grads: Any, start: Any = (0.0, 0.0, 0.0), **kwargs: Any
) -> list[list[float]]:
    v = gl.Variable(np.array(start, F), name="v")
    two.apply_gradients(opt, [[(g, v)] for g in grads], **kwargs)
    return [x.tolist() for x in two.values(v)]


def _made(two: Any, version: Any, **kwargs: Any) -> SGD:
    with two.scope():
        return SGD(1.0, semantics=version, **kwargs)


@differs(
    "`gl.keras.Replicas`",
    tensorflow="each replica calls `apply_gradients` in a thread of its own",
    gradlab="one call is given the gradients of all, in one thread",
)
@pytest.mark.parametrize("version", ["tf2.3", "legacy", "rewrite", "keras3"])
def test_gradients_are_summed_not_averaged(version: Any) -> None:
    two = replicas(2)
    opt = _made(two, version)
    assert _step(opt, two, (A, B)) == [[-4, -4, -2]] * 2
    assert opt.iterations.numpy() == 1


@pytest.mark.parametrize(
    ("version", "before"), [("legacy", False), ("rewrite", False), ("keras3", True)]
)
def test_clips_before_or_after_the_sum(version: Any, before: bool) -> None:
    two = replicas(2)
    sums = (
        gl.clip_by_norm(A, 1.0) + gl.clip_by_norm(B, 1.0) if before else gl.clip_by_norm(A + B, 1.0)
    )
    assert _step(_made(two, version, clipnorm=1.0), two, (A, B)) == [(-sums).tolist()] * 2


def test_tf_2_3_refuses_limits_inside_and_ignores_them_outside() -> None:
    two = replicas(2)
    with pytest.raises(ValueError, match="refuses clipnorm for replicas"):
        _made(two, "tf2.3", clipnorm=1.0)
    with pytest.warns(KerasWarning, match="clipnorm does nothing here"):
        assert _step(SGD(1.0, semantics="tf2.3", clipnorm=1.0), two, (A, B)) == [[-4, -4, -2]] * 2


def test_without_aggregation_copies_drift() -> None:
    two = replicas(2)
    opt = _made(two, "legacy")
    assert _step(opt, two, (A, B), experimental_aggregate_gradients=False) == [
        [-3, -4, 0],
        [-1, 0, -2],
    ]
    assert opt.iterations.numpy() == 1
    with pytest.raises(TypeError, match="no experimental_aggregate_gradients"):
        _step(_made(two, "keras3"), two, (A, B), experimental_aggregate_gradients=False)


def test_drifting_copies_have_slots_and_gradients_of_their_own() -> None:
    two = replicas(2)
    with two.scope():
        opt, v = Adagrad(1.0, 0.0), gl.Variable([1.0], name="v")
    losses = [lambda: (v.value * v.value).sum(), lambda: (3 * v.value).sum()]
    for _ in range(2):
        two.apply_gradients(opt, two.gradients(losses, [v]), experimental_aggregate_gradients=False)
    slots = [s.tolist() for s in two.slots(opt, v, "accumulator")]
    assert slots == [[pytest.approx(4.0)], [18.0]]  # the first stood at 0 after one step
    two.assign(v, [5.0])
    assert [x.tolist() for x in two.values(v)] == [[5.0], [5.0]]


def test_reduce_first_then_no_aggregation() -> None:
    two, v = replicas(2), gl.Variable(np.zeros(3, F))
    mean = two.reduce([[(A, v)], [(B, v)]], "mean")
    two.apply_gradients(_made(two, "legacy"), mean, experimental_aggregate_gradients=False)
    assert v.numpy().tolist() == [-2, -2, -1]
    two.apply_gradients(_made(two, "legacy"), mean)  # the flag forgotten: two times too big
    assert v.numpy().tolist() == [-6, -6, -3]
    with pytest.raises(ValueError, match="how must be"):
        two.reduce(mean, "max")  # type: ignore[arg-type]


def test_slices_are_joined_then_summed() -> None:
    two = replicas(2)
    with two.scope():
        opt, v = Adagrad(1.0, 1.0), gl.Variable(np.zeros((3, 1), F), name="v")
    slices = [
        gl.IndexedSlices(F([[1.0], [1.0]]), [0, 2], (3, 1)),
        gl.IndexedSlices(F([[2.0]]), [2], (3, 1)),
    ]
    two.apply_gradients(opt, [[(g, v)] for g in slices])
    assert opt.get_slot(v, "accumulator").numpy().ravel().tolist() == [2, 1, 10]


def test_none_on_all_replicas_is_skipped_on_one_refused() -> None:
    two, v, w = replicas(2), gl.Variable(np.zeros(3, F)), gl.Variable([1.0], name="w")
    opt = _made(two, "legacy", global_clipnorm=1e6)
    two.apply_gradients(opt, [[(A, v), (None, w)], [(B, v), (None, w)]])
    assert w.numpy().tolist() == [1.0]
    with pytest.raises(ValueError, match="w:0: either all replicas"):
        two.apply_gradients(opt, [[(A, v), (F([1.0]), w)], [(B, v), (None, w)]])
    assert opt.iterations.numpy() == 1


def test_keras_3_outside_the_scope_counts_every_replica() -> None:
    three, opt = replicas(3), SGD(1.0, semantics="keras3")
    _step(opt, three, (A, B, A))
    assert opt.iterations.numpy() == 3
    with pytest.raises(RuntimeError, match="cannot make slots"):
        _step(Adagrad(semantics="keras3"), three, (A, B, A))
    legacy = SGD(1.0)
    _step(legacy, three, (A, B, A))
    assert legacy.iterations.numpy() == 1


def test_a_state_from_before_is_shared_out() -> None:
    two, v, opt = replicas(2), gl.Variable([0.0], name="v"), SGD(1.0, momentum=0.5)
    opt.apply_gradients([(F([1.0]), v)])
    two.apply_gradients(opt, [[(F([0.0]), v)]] * 2)
    assert [x.tolist() for x in two.values(v)] == [[-1.5], [-1.5]]
    assert opt.iterations.numpy() == 2


def test_what_is_refused_changes_nothing() -> None:
    two, v = replicas(2), gl.Variable(np.zeros(3, F), name="v")
    opt = _made(two, "legacy")
    with two.scope(), pytest.raises(RuntimeError, match=r"use replicas\.apply_gradients"):
        SGD().apply_gradients([(A, v)])
    with pytest.raises(RuntimeError, match=r"use replicas\.apply_gradients"):
        opt.apply_gradients([(A, v)])
    for lists in ([[(A, v)]], [[(A, v)], [(F([1.0]), v)]], [[(A, v)], []]):
        with pytest.raises(ValueError):  # noqa: PT011
            two.apply_gradients(opt, lists)
    with pytest.raises(gl.errors.InvalidArgumentError):
        two.apply_gradients(
            opt, [[(A, v)], [(F([1.0]), v)]], experimental_aggregate_gradients=False
        )
    with pytest.raises(ValueError, match="other replicas"):
        replicas(2).apply_gradients(opt, [[(A, v)], [(A, v)]])
    with pytest.raises(ValueError, match="at least one"):
        replicas(0)
    assert (v.numpy().tolist(), opt.weights) == ([0, 0, 0], [])


@pytest.mark.parametrize("size", [3, 40_000])  # new arrays, and arrays in place
@pytest.mark.parametrize("bad", [0, 1, 2])
def test_a_replica_that_raises_leaves_all_as_they_were(bad: int, size: int) -> None:
    turns = iter(range(3))

    def constraint(w: Any) -> Any:
        if next(turns) == bad:
            raise ArithmeticError
        return w

    three = replicas(3)
    opt = _made(three, "legacy", momentum=0.5)
    v, w = gl.Variable(np.zeros(size, F), name="v"), gl.Variable(A, name="w", constraint=constraint)
    with pytest.raises(ArithmeticError):
        three.apply_gradients(opt, [[(np.ones(size, F), v), (A, w)]] * 3)
    assert [
        (x.any(), y.tolist()) for x, y in zip(three.values(v), three.values(w), strict=True)
    ] == [(False, A.tolist())] * 3
    assert (opt.weights, [weights.all for weights in three._weights[opt]]) == ([], [[], []])


def test_an_aggregator_of_ones_own_has_nothing_to_reach() -> None:
    two, v = replicas(2), gl.Variable(np.zeros(3, F))
    opt = SGD(1.0, gradient_aggregator=lambda pairs: pairs)
    with pytest.raises(NotImplementedError, match="reduce the gradients yourself"):
        two.apply_gradients(opt, [[(A, v)], [(B, v)]])


def test_a_variable_that_nobody_else_holds_is_gone() -> None:
    two, v = replicas(2), gl.Variable([1.0])
    two.apply_gradients(gl.keras.SGD(0.1), [[([1.0], v)]] * 2)
    kept = weakref.ref(v)
    del v
    assert kept() is None


def _slices(value: float, row: int) -> gl.IndexedSlices:
    return gl.IndexedSlices(F([[value]]), np.int32([row]), (2, 1))


def test_dense_gradients_are_added_and_slices_joined() -> None:
    (g, v), (s, t), (none, _) = sum_gradients(
        [[(F([k, 1.0]), V), (_slices(k, 1), T), (None, V)] for k in (1.0, 2.0, 4.0)]
    )
    assert (g.tolist(), v, t, none) == ([7, 3], V, T, None)
    assert (s.values.ravel().tolist(), s.indices.tolist(), s.dense_shape) == (
        [1, 2, 4],
        [1, 1, 1],
        (2, 1),
    )


def test_a_mean_keeps_the_dtype_and_the_rows() -> None:
    half = divide_gradient(np.float16([3.0]), 2)
    assert (half.dtype, half.tolist(), divide_gradient(None, 2)) == (np.float16, [1.5], None)
    by_rows = divide_gradient(_slices(3.0, 1), 2)
    assert (by_rows.values.tolist(), by_rows.indices.tolist()) == ([[1.5]], [1])


@pytest.mark.parametrize(
    ("lists", "message"),
    [
        ([[(F([1, 1]), V)], [(_slices(1.0, 0), T)]], "the same variables in the same order"),
        ([[(F([1, 1]), V)], []], "the same variables in the same order"),
        ([[(F([1, 1]), V)], [(None, V)]], "v:0: either all replicas give a dense gradient"),
        (
            [[(F([[1], [1]]), T)], [(_slices(1.0, 0), T)]],
            "t:0: either all replicas give a dense gradient",
        ),
        ([[(F([1, 1]), V)], [(F([1]), V)]], r"shape \(1,\)"),
    ],
)
def test_gradients_of_another_kind_are_refused(lists: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        sum_gradients(lists)


@pytest.mark.parametrize("version", ["tf2.3", "legacy", "rewrite", "keras3"])
def test_in_a_graph_replicas_step_at_once(version: Any) -> None:
    values = []
    for collection in (gl.variable_collection(), gl.Graph().as_default()):
        with collection:
            two = replicas(2)
            with two.scope():
                v = gl.Variable([1.0], name="v")
                opt = SGD(0.5, momentum=0.5, semantics=version)
            two.assign(v, [2.0])
            for _ in range(2):
                two.apply_gradients(opt, [[([1.0], v)], [([1.0], v)]])
            values.append([two.values(v), opt.get_weights()])

    np.testing.assert_equal(values[1], values[0])
