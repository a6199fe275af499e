"""Gradients of losses that read variables: values, forms, threads, and what cannot be
differentiated.
"""

import threading
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import gradlab as gl
from gradlab.errors import DTypeError, InvalidArgumentError
from tests.differences import differs

X = np.float32([[1.0, 2.0], [3.0, 4.0]])


@pytest.mark.parametrize("module", [np, jnp])
def test_it_is_jax_grad(module: Any) -> None:
    a, b = gl.Variable(module.asarray(X)), gl.Variable(module.asarray(X.T))

    def loss(a: Any, b: Any) -> Any:
        return jnp.sum(jnp.tanh(jnp.asarray(a) @ jnp.asarray(b)) ** 2) + jnp.sum(a)

    found = gl.gradients(lambda: loss(a, b), [a, b])
    for g, expected in zip(found, jax.grad(loss, (0, 1))(X, X.T), strict=True):
        np.testing.assert_allclose(g, expected, rtol=1e-6)
        assert isinstance(g, np.ndarray if module is np else jax.Array)


def test_vectors_are_summed_and_weighted_by_grad_ys() -> None:
    v = gl.Variable([1.0, 2.0])
    square = lambda: v * v  # noqa: E731
    assert gl.gradients(square, v)[0].tolist() == [2, 4]
    assert gl.gradients(square, v, grad_ys=[[10.0, -1.0]])[0].tolist() == [20, -4]
    assert gl.gradients([square, lambda: 3 * v], [v], grad_ys=[None, [1.0, 0.0]])[0].tolist() == [
        5,
        4,
    ]


def test_what_is_not_connected_is_none_or_zero() -> None:
    v, w, i = gl.Variable([1.0, 2.0]), gl.Variable([1.0, 2.0]), gl.Variable([1, 2])
    assert gl.gradients(lambda: v.value.sum(), [w, v, i])[::2] == [None, None]
    zeros = gl.gradients(lambda: v.value.sum(), [w, i], unconnected_gradients="zero")
    assert [(z.tolist(), z.dtype) for z in zeros] == [([0, 0], np.float32), ([0, 0], np.int32)]
    # A product with 0 is connected; a stopped gradient or a mere look is not.
    assert gl.gradients(lambda: (0 * v).sum(), v)[0].tolist() == [0, 0]
    assert gl.gradients(lambda: jax.lax.stop_gradient(v.value).sum() + w.value.sum(), v) == [None]
    assert gl.gradients(lambda: float(v.shape[0]) * w.value.sum(), v) == [None]


def test_the_same_variable_twice() -> None:
    v = gl.Variable([1.0])
    assert [g.tolist() for g in gl.gradients(lambda: v * v, [v, v])] == [[2], [2]]


def test_gathers_give_slices_in_order_with_duplicates() -> None:
    e = gl.Variable(np.arange(8.0, dtype=np.float32).reshape(4, 2))

    def loss() -> Any:
        return (gl.gather(e, [[3, 1]]) * 2).sum() + (gl.gather(e, np.array([1])) * 5).sum()

    (g,) = gl.gradients(loss, [e])
    assert isinstance(g, gl.IndexedSlices)
    assert (g.indices.tolist(), g.values[:, 0].tolist(), g.dense_shape) == (
        [3, 1, 1],
        [2, 2, 5],
        (4, 2),
    )
    assert isinstance(g.values, np.ndarray)
    assert gl.gather(e, [2, 0]).tolist() == [[4, 5], [0, 1]]


def test_a_gather_and_a_whole_read_are_dense() -> None:
    e = gl.Variable(np.ones((3, 1), np.float32))
    (g,) = gl.gradients(lambda: (gl.gather(e, [1, 1]) * 3).sum() + jnp.sum(e), [e])
    assert g.tolist() == [[1], [7], [1]]


@differs(
    "the gradient of `gl.gather` where indices are computed inside `jax.jit` or `lax.scan`",
    tensorflow="IndexedSlices",
    gradlab="dense; elsewhere IndexedSlices",
)
def test_a_gather_inside_scan_or_jit_is_dense() -> None:
    e = gl.Variable(np.float32([[1.0], [2.0], [3.0]]))

    def scanned() -> Any:
        return jax.lax.scan(
            lambda c, i: (c + gl.gather(e, i[None]).sum() ** 2, None), 0.0, jnp.array([0, 2, 2])
        )[0]

    (g,) = gl.gradients(scanned, [e])
    assert g.tolist() == [[2], [0], [12]]
    (g,) = gl.gradients(lambda: jax.jit(lambda i: gl.gather(e, i).sum())(jnp.array([1])), [e])
    assert np.asarray(getattr(g, "to_dense", lambda: g)()).tolist() == [[0], [1], [0]]


def test_a_gather_outside_the_rows_is_refused() -> None:
    e = gl.Variable(np.ones((3, 1), np.float32))
    for bad in (3, -1):
        with pytest.raises(
            InvalidArgumentError, match=rf"indices of gather must be in \[0, 3\), got {bad}"
        ):
            gl.gather(e, [bad])
    with pytest.raises(DTypeError, match="integers"):
        gl.gather(e, [0.5])


def test_variables_inside_nested_jit() -> None:
    v = gl.Variable([3.0])
    assert gl.gradients(lambda: jax.jit(lambda x: jax.jit(jnp.sin)(x) * v.value)(2.0).sum(), v)[
        0
    ] == jnp.sin(2.0)


def test_the_loss_is_called_once() -> None:
    v, calls = gl.Variable([1.0]), []
    gl.gradients(lambda: calls.append(1) or (v * v).sum(), [v, gl.Variable([1.0])])
    gl.train.GradientDescentOptimizer(0.1).minimize(lambda: calls.append(1) or (v * v).sum())
    assert len(calls) == 2


def test_float64_is_kept_without_changing_jax() -> None:
    v = gl.Variable(np.array([1.0 + 1e-12]))
    (g,) = gl.gradients(lambda: (v * v).sum(), [v])
    assert (g.dtype, g[0]) == (np.float64, 2 * (1.0 + 1e-12))
    assert jnp.ones(1).dtype == np.float32


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_gradients_have_the_dtype_of_the_variable(dtype: str) -> None:
    v = gl.Variable(np.ones(2, jnp.dtype(dtype)))
    assert gl.gradients(lambda: (v * v).sum(), v)[0].dtype == v.dtype


def test_threads_differentiate_the_same_variables_at_once() -> None:
    v, start, results = gl.Variable([1.0, 2.0]), threading.Barrier(6), {}

    def work(k: int) -> None:
        start.wait()
        results[k] = [gl.gradients(lambda: (k * v * v).sum(), v)[0].tolist() for _ in range(10)]

    threads = [threading.Thread(target=work, args=(k,)) for k in range(1, 7)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert results == {k: [[2.0 * k, 4.0 * k]] * 10 for k in range(1, 7)}


V = "v:0 is being differentiated: write the loss with jax.numpy"
NOTE = "write it with jax.numpy"
BAD: dict[str, tuple[Any, type[Exception], str]] = {
    "not callable": (
        lambda v: gl.gradients(v.value, [v]),
        TypeError,
        "a function without arguments, got ndarray: write",
    ),
    "None": (lambda v: gl.gradients(lambda: None, [v]), ValueError, "the loss returned None"),
    "a string": (
        lambda v: gl.gradients(lambda: "x", [v]),
        TypeError,
        "the loss must be numbers, got 'x'",
    ),
    "integers": (
        lambda v: gl.gradients(lambda: 1, [v]),
        DTypeError,
        "a loss must be floating point, got int32",
    ),
    "numpy on a variable": (lambda v: gl.gradients(lambda: np.dot(v, v), [v]), TypeError, V),
    "numpy on a value": (
        lambda v: gl.gradients(lambda: np.float32((v * v).sum()), [v]),
        TypeError,
        NOTE,
    ),
    "float()": (lambda v: gl.gradients(lambda: float(v[0]), [v]), TypeError, NOTE),
    "not a variable": (
        lambda v: gl.gradients(lambda: v * v, [v.value]),
        TypeError,
        "xs must be gradlab Variables, got nd",
    ),
    "stop": (
        lambda v: gl.gradients(lambda: v * v, v, stop_gradients=[1]),
        TypeError,
        "stop_gradients must be .* got int",
    ),
    "grad_ys shape": (
        lambda v: gl.gradients(lambda: v * v, v, [1.0]),
        ValueError,
        r"shape \(\), its loss has .*\(2,\)",
    ),
    "grad_ys length": (
        lambda v: gl.gradients(lambda: v, v, [1.0, 2.0]),
        ValueError,
        "1 ys, 2 grad_ys",
    ),
    "grad_ys dtype": (
        lambda v: gl.gradients(lambda: v, v, [np.float64([1, 1])]),
        TypeError,
        "is float64, its loss is",
    ),
    "aggregation": (
        lambda v: gl.gradients(lambda: v, v, aggregation_method=7),
        ValueError,
        "0, 1 or 2, got 7",
    ),
    "outside a graph": (
        lambda v: gl.gradients(lambda: v, v, strict="tf"),
        RuntimeError,
        "inside a Graph only",
    ),
    "unconnected": (
        lambda v: gl.gradients(lambda: v, v, unconnected_gradients="0"),
        ValueError,
        "must be .*got '0'",
    ),
    "an error of the loss": (
        lambda v: gl.gradients(lambda: v.value.nothing, v),
        AttributeError,
        "nothing",
    ),
}


@pytest.mark.every_case
@differs(
    "`gl.gradients` outside a `Graph`",
    tensorflow="RuntimeError",
    gradlab="computes at once",
    strict="TensorFlow's behavior",
)
@pytest.mark.parametrize("case", BAD)
def test_what_cannot_be_differentiated_is_refused_and_leaves_no_trace(case: str) -> None:
    v = gl.Variable([1.0, 2.0], name="v")
    call, error, message = BAD[case]
    with pytest.raises(error, match=message):
        call(v)
    assert v.numpy().tolist() == [1, 2]
    assert isinstance(v.value, np.ndarray), "the tape is still on"
    assert gl.gradients(lambda: (v * v).sum(), v)[0].tolist() == [2, 4]


def test_a_gather_inside_jit_beside_one_outside_is_added_to_it() -> None:
    e = gl.Variable(np.zeros((3, 2), np.float32), name="e")

    def loss() -> Any:
        traced = jax.jit(lambda i: gl.gather(e, i).sum() * 5)
        return gl.gather(e, [0]).sum() * 2 + traced(jnp.array([1]))

    (g,) = gl.gradients(loss, [e])
    assert g.tolist() == [[2.0, 2.0], [5.0, 5.0], [0.0, 0.0]]


def test_an_optimizer_in_a_graph_refuses_unknown_aggregation_and_skips_integers() -> None:
    with gl.Graph().as_default():
        v, count = gl.Variable([1.0], name="v"), gl.Variable([3], name="count")
        opt = gl.train.GradientDescentOptimizer(0.5)
        with pytest.raises(ValueError, match="aggregation_method must be None, 0, 1 or 2, got 7"):
            opt.minimize(lambda: v * v, aggregation_method=7)
        pairs = opt.compute_gradients(lambda: v * v)
        assert [(g, x) for g, x in pairs if g is None] == [(None, count)]
        opt.minimize(lambda: v * v).run()
    assert (v.numpy().tolist(), count.numpy().tolist()) == ([0.0], [3])


def test_a_complex_gradient_is_tensorflows() -> None:
    v = gl.Variable(np.complex64([1j, 2.0]), name="v")
    (g,) = gl.gradients(lambda: v * v, [v], grad_ys=[np.complex64([1 + 1j, 0])])
    assert g.tolist() == [2 - 2j, 0]
    with pytest.raises(TypeError, match="a loss is complex64: give the gradient upstream of it"):
        gl.gradients(lambda: v * v, [v])


@differs(
    "`Optimizer.apply_gradients` with complex variables",
    tensorflow="refused in a Graph, taken outside",
    gradlab="refused; `gl.keras` takes them",
)
def test_steps_of_gl_train_refuse_complex_variables() -> None:
    v, opt = gl.Variable(np.complex64([1j]), name="v"), gl.train.GradientDescentOptimizer(0.5)
    with gl.variable_collection() as collection:
        collection.add(v)
        pairs = opt.compute_gradients(lambda: abs(v.value).sum())
        assert pairs[0][0].tolist() == [1j]
        with pytest.raises(
            TypeError, match="v:0 is complex64; only floating-point variables can be optimized"
        ):
            opt.minimize(lambda: abs(v.value).sum())
    assert v.numpy().tolist() == [1j]
