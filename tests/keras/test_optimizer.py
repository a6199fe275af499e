"""minimize, get_gradients and get_updates, at once and in a Graph."""

from types import SimpleNamespace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import gradlab as gl
from gradlab.errors import InvalidArgumentError
from gradlab.keras import SGD, Adagrad
from tests.differences import differs
from tests.golden.tensorflow_values import tensorflow

F = np.float32


def _square(*variables: gl.Variable) -> Any:
    return lambda: sum((v.value * v.value).sum() for v in variables)


def test_minimize_takes_lists_in_lists_functions_and_one_variable() -> None:
    v, w = gl.Variable([1.0, -2.0], name="v"), gl.Variable([[3.0]], name="w")
    opt = SGD(0.25)
    assert opt.minimize(_square(v, w), [[v], (w,)]).numpy() == 1
    assert opt.minimize(_square(v, w), lambda: [v, w], name="step") is opt.iterations
    opt.minimize(_square(v, w), v)
    assert (v.numpy().tolist(), w.numpy().tolist()) == ([0.125, -0.25], [[0.75]])
    assert opt.minimize(_square(v), []) is None


@differs(
    "`minimize` of `gl.keras` with a loss that makes the variables",
    tensorflow="the loss runs once",
    gradlab="it runs twice, first to make the variables, then for gradients; "
    "variables made again in each run get no gradient",
)
def test_variables_may_be_made_by_the_loss() -> None:
    made: list[gl.Variable] = []
    runs: list[int] = []

    def loss() -> Any:
        runs.append(0)
        if not made:
            made.append(gl.Variable([2.0]))
        return made[0].value.sum()

    SGD(1.0).minimize(loss, lambda: made)
    assert made[0].numpy().tolist() == [1.0] and len(runs) == 2


def test_grad_loss_comes_before_the_clip() -> None:
    v = gl.Variable([0.0, 0.0])
    SGD(1.0, clipvalue=5.0).minimize(lambda: v * F([1, 1]), [v], grad_loss=F([2.0, 10.0]))
    assert v.numpy().tolist() == [-2.0, -5.0]
    with pytest.raises(InvalidArgumentError, match="upstream gradient"):
        SGD(1.0).minimize(lambda: v * F([1, 1]), [v], grad_loss=F([2.0]))


@pytest.mark.parametrize(("version", "error"), [("tf2.3", TypeError), ("legacy", ValueError)])
def test_a_tensor_is_no_loss(version: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match="loss is no function"):
        SGD(semantics=version).minimize(F(1.0), [gl.Variable([1.0])])


def test_a_tape_may_bring_the_gradients() -> None:
    v = gl.Variable([1.0])
    tape: Any = SimpleNamespace(gradient=lambda loss, variables, grad_loss: [F([loss])])
    SGD(1.0).minimize(F(4.0), [v], tape=tape)
    assert v.numpy().tolist() == [-3.0]
    with pytest.raises(TypeError, match="no argument 'tape'"):
        SGD(semantics="tf2.3").minimize(F(4.0), [v], tape=tape)


def test_what_minimize_refuses() -> None:
    v, integer = gl.Variable([1.0], name="v"), gl.Variable(np.int32([1]), name="i")
    opt = Adagrad()
    for bad, error in ((None, ValueError), ([integer], ValueError), ([F([1.0])], TypeError)):
        with pytest.raises(error):
            opt.minimize(_square(v), bad)
    assert opt.weights == [] and v.numpy().tolist() == [1.0]


@pytest.mark.parametrize("version", ["tf2.3", "legacy", "rewrite", "keras3"])
def test_minimize_clips_in_every_version(version: Any) -> None:
    v = gl.Variable([0.0, 0.0])
    SGD(1.0, semantics=version, clipnorm=1.0).minimize(lambda: (v.value * F([3, 4])).sum(), [v])
    np.testing.assert_allclose(v.numpy(), [-0.6, -0.8], rtol=1e-6)


@pytest.mark.parametrize("version", ["tf2.3", "legacy"])
def test_in_a_graph_steps_are_described_first(version: Any) -> None:
    with gl.Graph().as_default():
        v, opt = gl.Variable([2.0], name="v"), Adagrad(0.5, 9.0, semantics=version, clipnorm=4.0)
        (operation,) = opt.get_updates(_square(v), [v])
        assert isinstance(operation, gl.Operation) and v.numpy().tolist() == [2.0]
        assert [w.name for w in opt.weights] == ["Adagrad/iter:0", "Adagrad/v/accumulator:0"]
        operation.run(), operation.run()
        assert opt.iterations.numpy() == 2 and v.numpy() == pytest.approx(1.3305, abs=1e-3)
        applied = SGD(0.5).apply_gradients([(F([1.0]), v)], name="mine")
        assert applied.name == "mine"
        before = v.numpy()
        applied.run()
        assert (before - v.numpy()).tolist() == [0.5]


def test_get_gradients() -> None:
    v, w = gl.Variable([3.0, 4.0], name="v"), gl.Variable([1.0], name="w")
    with pytest.raises(ValueError, match="get_gradients is for"):
        SGD().get_gradients(_square(v), [v])
    with gl.Graph().as_default():
        v, w = gl.Variable([1.5, 2.0], name="v"), gl.Variable([1.0], name="w")
        (g,) = SGD(clipnorm=1.0).get_gradients(_square(v), [v])
        assert g.eval().tolist() == [3.0, 4.0]
        (clipped,) = SGD(clipnorm=1.0, semantics="tf2.3").get_gradients(_square(v), [v])
        np.testing.assert_allclose(clipped, [0.6, 0.8], rtol=1e-6)
        with pytest.raises(ValueError, match="does not depend on w"):
            SGD().get_gradients(_square(v), [v, w])


def test_no_variables_in_a_graph_are_no_step() -> None:
    with gl.Graph().as_default():
        opt = SGD(0.5)
        assert opt.minimize(lambda: 1.0, []) is None
    assert opt.iterations.numpy() == 0


COMPLEX_LOSSES = {
    "holomorphic": lambda v: (v * v * (1 + 1j)).sum(),
    "modulus": lambda v: (abs(v.value) ** 2).sum(),
    "rows": lambda v: (gl.gather(v, [1, 1, 0]) * (3 - 1j)).sum(),
    "rows and all": lambda v: (gl.gather(v, [1, 0]) * v.value).sum(),
}


@pytest.mark.parametrize("version", gl.keras.VERSIONS)
@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("module", [np, jnp])
def test_complex_weights_go_down(version: Any, dtype: str, module: Any) -> None:
    with jax.enable_x64(dtype == "complex128"):
        v = gl.Variable(module.asarray(np.array([1 + 2j, 3 - 1j], dtype)))
        gl.keras.SGD(0.25, semantics=version).minimize(
            lambda: COMPLEX_LOSSES["holomorphic"](v), [v]
        )
        assert v.dtype == dtype and v.numpy().tolist() == [1.5 + 3.5j, 1]
        gl.keras.SGD(0.25, semantics=version).minimize(lambda: COMPLEX_LOSSES["modulus"](v), [v])
    np.testing.assert_allclose(v.numpy(), np.array([0.75 + 1.75j, 0.5]), rtol=1e-6)


@pytest.mark.tensorflow
@pytest.mark.parametrize("name", ["SGD", "Adagrad"])
@pytest.mark.parametrize("loss", COMPLEX_LOSSES)
@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_complex_weights_as_in_tf_keras(name: str, loss: str, dtype: str) -> None:
    tf = tensorflow()
    import tf_keras

    theirs = {
        "holomorphic": lambda v: tf.reduce_sum(v * v * tf.constant(1 + 1j, dtype)),
        "modulus": lambda v: tf.reduce_sum(tf.abs(v) ** 2),
        "rows": lambda v: tf.reduce_sum(tf.gather(v, [1, 1, 0]) * tf.constant(3 - 1j, dtype)),
        "rows and all": lambda v: tf.reduce_sum(tf.gather(v, [1, 0]) * v),
    }[loss]
    start = np.array([1 + 2j, 3 - 1j], dtype)
    mine, want = gl.Variable(start), tf.Variable(start)
    ours, optimizer = getattr(gl.keras, name)(0.25), getattr(tf_keras.optimizers.legacy, name)(0.25)
    for _ in range(3):
        ours.minimize(lambda: COMPLEX_LOSSES[loss](mine), [mine])
        optimizer.minimize(lambda: theirs(want), [want])
    np.testing.assert_allclose(
        mine.numpy(), want.numpy(), rtol=1e-6 if dtype == "complex64" else 1e-13
    )


def test_gradients_of_get_gradients_are_computed_at_every_run() -> None:
    with gl.Graph().as_default():
        v = gl.Variable([3.0], name="v")
        opt = SGD(0.1, semantics="tf2.3")
        grads = opt.get_gradients(_square(v), [v])
        operation = opt.apply_gradients(zip(grads, [v], strict=True))
        operation.run(), operation.run()
    assert v.numpy() == pytest.approx(3 * 0.8 * 0.8)


def test_transformers_cannot_be_set_beside_a_limit() -> None:
    opt = SGD(clipnorm=1.0)
    with pytest.raises(ValueError, match="clipnorm cannot be set beside gradient_transformers"):
        opt.gradient_transformers = [lambda pairs: pairs]
    opt.clipnorm = None
    opt.gradient_transformers = [lambda pairs: [(2 * g, v) for g, v in pairs]]
    v = gl.Variable([1.0])
    opt.learning_rate = 0.5
    opt.apply_gradients([(F([1.0]), v)])
    assert v.numpy().tolist() == [0.0]
