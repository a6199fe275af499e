"""stop_gradient, custom_gradient, hessians, and how gradients are added."""

import sys
from typing import Any

import numpy as np
import pytest

import gradlab as gl
from gradlab._base.arrays import namespace
from tests.differences import differs

M = gl.AggregationMethod


@pytest.fixture(params=["jax", "autograd"], autouse=True)
def differentiator(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "autograd":
        monkeypatch.setitem(sys.modules, "jax", None)


def test_a_stopped_gradient_is_a_constant() -> None:
    v = gl.Variable([3.0])
    (gradient,) = gl.gradients(lambda: v * gl.stop_gradient(v), [v])
    assert gradient.tolist() == [3]
    assert gl.stop_gradient([1.0]).tolist() == [1]
    with gl.Graph().as_default():
        w = gl.Variable([3.0])
        (gradient,) = gl.gradients(w * gl.stop_gradient(w * 2), [w])
        assert gradient.eval().tolist() == [6]


@gl.custom_gradient
def log1pexp(x: Any) -> Any:
    xp = namespace(x)
    e = xp.exp(x)
    return xp.log(1 + e), lambda upstream: upstream * (1 - 1 / (1 + e))


def test_a_custom_gradient_takes_the_place_of_the_real_one() -> None:
    v = gl.Variable([100.0, 0.0])  # e ** 100 is infinite in float32
    with np.errstate(over="ignore"):
        (gradient,) = gl.gradients(lambda: log1pexp(v), [v])
        value = log1pexp(np.float32([0.0]))
    assert gradient.tolist() == [1, 0.5]
    assert value == pytest.approx(np.log(2))
    with gl.Graph().as_default():
        w = gl.Variable([0.0])
        (gradient,) = gl.gradients(log1pexp(w * 1), [w])
        assert gradient.eval().tolist() == [0.5]


@differs(
    "a variable that a `gl.custom_gradient` function reads and isn't given",
    tensorflow="the function's gradient may return one for it",
    gradlab="no gradient",
)
def test_a_variable_that_is_not_an_argument_has_no_gradient() -> None:
    v, w = gl.Variable([2.0]), gl.Variable([3.0])
    times_w = gl.custom_gradient(lambda x: (x * w.value, lambda upstream: upstream * 7))
    gradients = gl.gradients(lambda: times_w(v), [v, w])
    assert [None if g is None else g.tolist() for g in gradients] == [[7], None]


def test_a_custom_gradient_of_several_arguments() -> None:
    @gl.custom_gradient
    def product(x: Any, y: Any) -> Any:
        return x * y, lambda upstream: (3 * upstream, 4 * upstream)

    v, w = gl.Variable([1.0]), gl.Variable([2.0])
    gradients = gl.gradients(lambda: product(v, w), [v, w])
    assert [g.tolist() for g in gradients] == [[3], [4]]


def test_hessians_are_the_second_derivatives() -> None:
    v, w = gl.Variable([1.0, 2.0]), gl.Variable([[3.0]])
    of_v, of_w = gl.hessians([lambda: v * v * v, lambda: w * w * v[0]], [v, w])
    assert of_v.tolist() == [[6, 0], [0, 12]]
    assert of_w.tolist() == [[[[2]]]]
    assert type(of_v) is np.ndarray


def test_hessians_of_gathered_rows() -> None:
    table = gl.Variable([[1.0], [2.0]])
    (hessian,) = gl.hessians(lambda: gl.gather(table, [0, 0]) ** 2, table)
    assert hessian.reshape(2, 2).tolist() == [[4, 0], [0, 0]]


def test_hessians_of_a_graph_are_computed_at_every_run() -> None:
    with gl.Graph().as_default():
        v = gl.Variable([1.0])
        (hessian,) = gl.hessians(v * v * v, v)
        gl.Session().run(v.assign([2.0]))
        assert hessian.eval().tolist() == [[12]]


@differs(
    "`gl.hessians` by a variable that the loss does not read",
    tensorflow="ValueError",
    gradlab="zeros",
)
def test_hessians_of_nothing_are_zeros() -> None:
    v, w = gl.Variable([1.0]), gl.Variable([1.0])
    (hessian,) = gl.hessians(lambda: v * v, w)
    assert hessian.tolist() == [[0]]


def test_gradients_are_added_by_any_method() -> None:
    v = gl.Variable([3.0])
    assert (M.DEFAULT, M.ADD_N, M.EXPERIMENTAL_TREE, M.EXPERIMENTAL_ACCUMULATE_N) == (0, 0, 1, 2)
    for method in (None, M.ADD_N, M.EXPERIMENTAL_TREE, M.EXPERIMENTAL_ACCUMULATE_N):
        (gradient,) = gl.gradients(lambda: v * v + v, [v], aggregation_method=method)
        assert gradient.tolist() == [7]
        assert gl.hessians(lambda: v * v, v, aggregation_method=method)[0].tolist() == [[2]]


@pytest.mark.parametrize("function", [gl.gradients, gl.hessians])
def test_other_methods_are_refused(function: Any) -> None:
    v = gl.Variable([3.0])
    with pytest.raises(ValueError, match=r"aggregation_method must be None, 0, 1 or 2"):
        function(lambda: v * v, [v], aggregation_method=3)
