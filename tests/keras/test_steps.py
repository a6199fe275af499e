"""One step: which gradients count, atomic or as Keras leaves it, constraints, variables that come late."""

import logging
import threading
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

import gradlab as gl
from gradlab.errors import InvalidArgumentError, KerasWarning
from gradlab.keras import SGD, Adagrad
from tests.differences import differs

F = np.float32


def test_none_is_skipped_and_logged(caplog: pytest.LogCaptureFixture) -> None:
    v, w, opt = gl.Variable([1.0], name="v"), gl.Variable([1.0], name="w"), Adagrad()
    with caplog.at_level(logging.WARNING, "gradlab"):
        opt.apply_gradients([(None, w), (F([1.0]), v)])
    assert ["w:0" in r.getMessage() for r in caplog.records] == [True]
    assert [x.name for x in opt.weights] == ["Adagrad/iter:0", "Adagrad/v/accumulator:0"]
    with pytest.warns(KerasWarning, match="Gradients do not exist for variables"):
        SGD(semantics="keras3").apply_gradients([(None, w), (F([1.0]), v)])


@pytest.mark.parametrize("version", ["tf2.3", "legacy", "rewrite", "keras3"])
def test_no_gradients_at_all(version: Any) -> None:
    opt, v = SGD(semantics=version), gl.Variable([1.0], name="v")
    with pytest.raises(ValueError, match="No gradients provided for any variable"):
        opt.apply_gradients([(None, v)])
    if version == "keras3":
        with pytest.raises(ValueError, match="No gradients provided"):
            opt.apply_gradients([])
    elif version == "rewrite":
        assert opt.apply_gradients([]) is opt.iterations
    else:
        assert opt.weights == []
        assert opt.apply_gradients(iter([])) is None
        assert [w.name for w in opt.weights] == ["SGD/iter:0"] and opt.iterations.numpy() == 0


BAD = [(F([1.0, 2.0]), InvalidArgumentError), (np.array([1.0]), InvalidArgumentError)]


@pytest.mark.parametrize(("bad", "error"), BAD)
def test_all_or_nothing(bad: np.ndarray, error: type[Exception]) -> None:
    v, w, opt = gl.Variable([1.0], name="v"), gl.Variable([1.0], name="w"), Adagrad(0.1, clipnorm=1.0)
    with pytest.raises(error, match="w:0"):
        opt.apply_gradients([(F([1.0]), v), (bad, w)])
    assert (v.numpy().tolist(), opt.weights) == ([1.0], [])


def test_a_constraint_that_raises_leaves_all_as_it_was() -> None:
    def refuse(w: np.ndarray) -> np.ndarray:
        raise ArithmeticError

    v, w, opt = gl.Variable([1.0]), gl.Variable([1.0], constraint=refuse), Adagrad()
    with pytest.raises(ArithmeticError):
        opt.apply_gradients([(F([1.0]), v), (F([1.0]), w)])
    assert (v.numpy().tolist(), opt.weights) == ([1.0], [])


@differs(
    "a call of a `gl.keras` `Optimizer` that raises",
    tensorflow="everything ahead of the bad gradient is done",
    gradlab="nothing has changed",
    strict="as TensorFlow",
)
@pytest.mark.parametrize(("bad", "error"), BAD)
def test_strict_leaves_done_what_keras_leaves_done(bad: np.ndarray, error: type[Exception]) -> None:
    v, w, opt = gl.Variable([1.0], name="v"), gl.Variable([1.0], name="w"), Adagrad(0.1, 3.0, strict="tf")
    with pytest.raises(error, match="w:0"):
        opt.apply_gradients([(F([1.0]), v), (bad, w)])
    assert v.numpy().tolist() == [F(0.95)]
    assert [x.tolist() for x in opt.get_weights()] == [0, [4.0], [3.0]]
    assert opt.apply_gradients([(F([1.0]), v), (F([1.0]), w)]).numpy() == 1


def test_rows_out_of_range_change_nothing() -> None:
    v, opt = gl.Variable(np.ones((2, 1), F), name="v"), Adagrad(strict="tf")
    for indices in ([-1], [2]):
        with pytest.raises(InvalidArgumentError, match=r"indices of v:0 must be in \[0, 2\)"):
            opt.apply_gradients([(gl.IndexedSlices(F([[1.0]]), indices), v)])
    assert v.numpy().ravel().tolist() == [1, 1]


@pytest.mark.parametrize("given", [[1.0, 2.0], None, [(1.0,)], "ab"])
def test_not_pairs(given: Any) -> None:
    with pytest.raises(TypeError):
        SGD().apply_gradients(given)


@pytest.mark.parametrize("given", [[(1.0,)], [(1.0, 2.0, 3.0)], {"a": 1}])
def test_pairs_of_another_length_are_a_value_error_too(given: Any) -> None:
    with pytest.raises(ValueError, match=r"must hold \(gradient, variable\) pairs"):
        SGD().apply_gradients(given)


def test_no_variable() -> None:
    for error in (AttributeError, NotImplementedError, TypeError):
        with pytest.raises(error, match="can only update a gradlab Variable"):
            SGD().apply_gradients([(F([1.0]), F([1.0]))])


def test_integers_have_no_slots() -> None:
    for strict in (None, "tf"):
        with pytest.raises(TypeError, match="only floating-point variables"):
            Adagrad(strict=strict).apply_gradients([(np.int32([1]), gl.Variable(np.int32([1])))])


def test_lists_take_the_dtype_of_the_variable() -> None:
    v = gl.Variable(np.array([1.0]))
    SGD(1.0).apply_gradients([([1], v)])
    assert v.numpy().tolist() == [0.0]


def test_the_same_variable_twice_means_two_updates() -> None:
    v, opt = gl.Variable([0.0], name="v"), SGD(1.0, momentum=0.5)
    assert opt.apply_gradients([(F([1.0]), v), (F([1.0]), v)]).numpy() == 1
    assert v.numpy().tolist() == [-2.5]


def test_constraints() -> None:
    def make() -> gl.Variable:
        return gl.Variable(F([[1.0], [-4.0]]), name="c", constraint=lambda w: gl.clip_by_value(w, 0.0, 9.0))

    dense, sparse = F([[2.0], [1.0]]), gl.IndexedSlices(F([[2.0]]), [0])
    c = make()
    SGD(1.0).apply_gradients([(dense, c)])
    assert c.numpy().ravel().tolist() == [0, 0]
    with pytest.raises(RuntimeError, match="has a constraint"):
        SGD(1.0).apply_gradients([(sparse, c)])
    c = make()
    SGD(1.0, semantics="keras3").apply_gradients([(sparse, c)])
    assert c.numpy().ravel().tolist() == [0, 0]


@pytest.mark.parametrize(("version", "error"), [("keras3", ValueError), ("rewrite", KeyError), ("legacy", None)])
def test_variables_that_come_late(version: Any, error: type[Exception] | None) -> None:
    v, w, opt = gl.Variable([1.0], name="v"), gl.Variable([1.0], name="w"), Adagrad(semantics=version)
    with pytest.raises(InvalidArgumentError):
        opt.apply_gradients([(F([1.0, 1.0]), w)])  # was no first step
    opt.apply_gradients([(F([1.0]), v)])
    if error is None:
        opt.apply_gradients([(F([1.0]), w)])
        return
    with pytest.raises(error, match="w:0 was not among the variables of the first step"):
        opt.apply_gradients([(F([1.0]), w)])


def test_the_variables_of_the_first_step_stay_known() -> None:
    v, w, opt = gl.Variable([1.0], name="v"), gl.Variable([1.0], name="w"), SGD(1.0, semantics="keras3")
    for variables in ((v, w), (v,), (w,)):
        opt.apply_gradients([(F([1.0]), x) for x in variables])
    assert (v.numpy().tolist(), w.numpy().tolist()) == ([-1.0], [-1.0])


def test_aggregator_and_transformers() -> None:
    def times(k: float) -> Any:
        return lambda pairs: [(k * g, v) for g, v in pairs]

    v = gl.Variable([0.0])
    opt = SGD(1.0, gradient_aggregator=times(F(3)), gradient_transformers=[times(F(2))])
    opt.apply_gradients([(F([1.0]), v)])
    assert v.numpy().tolist() == [-6.0]
    opt.apply_gradients([(F([1.0]), v)], experimental_aggregate_gradients=False)
    assert v.numpy().tolist() == [-8.0]


def test_jax_variables_stay_jax() -> None:
    v, opt = gl.Variable(jnp.ones(2), name="v"), Adagrad(0.5, 3.0, clipnorm=10.0)
    opt.apply_gradients([(jnp.ones(2), v)])
    assert type(v.value) is type(jnp.ones(2)) is type(opt.get_slot(v, "accumulator").value)
    np.testing.assert_allclose(v.numpy(), [0.75, 0.75])


def test_threads_lose_no_step() -> None:
    v, opt = gl.Variable([0.0], name="v"), SGD(1.0)
    work = [
        threading.Thread(target=lambda: [opt.apply_gradients([(F([1.0]), v)]) for _ in range(50)]) for _ in range(4)
    ]
    for t in work:
        t.start()
    for t in work:
        t.join()
    assert (v.numpy().tolist(), opt.iterations.numpy()) == ([-200.0], 200)


def test_strict_makes_the_count_before_it_reads_a_rate_that_is_none() -> None:
    opt, v = Adagrad(None, strict="tf"), gl.Variable([1.0], name="v")
    with pytest.raises(TypeError, match="learning_rate"):
        opt.apply_gradients([(F([1.0]), v)])
    assert [w.name for w in opt.weights] == ["Adagrad/iter:0"]
