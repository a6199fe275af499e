"""Training ops: what the golden scenarios don't show.

Their numbers are in conformance/test_training_ops.py.
"""

from __future__ import annotations

import threading

import jax.numpy as jnp
import numpy as np
import pytest

import gradlab as gl
from tests.differences import differs

OPS = gl.raw_ops


def test_a_variable_of_jax_stays_one() -> None:
    var, accum = gl.Variable(jnp.array([1.0, 2.0])), gl.Variable(jnp.zeros(2))

    OPS.ResourceApplyMomentum(
        var=var, accum=accum, lr=0.5, momentum=0.5, grad=jnp.array([4.0, -4.0])
    )

    assert isinstance(var.value, jnp.ndarray) and isinstance(accum.value, jnp.ndarray)
    assert (var.numpy().tolist(), accum.numpy().tolist()) == ([-1.0, 4.0], [4.0, -4.0])


def test_an_array_that_was_handed_out_never_changes() -> None:
    var = gl.Variable(np.ones(100_000, np.float32))
    seen = var.value

    OPS.ResourceApplyGradientDescent(var=var, alpha=0.5, delta=np.ones(100_000, np.float32))

    assert seen[0] == 1.0 and var.numpy()[0] == 0.5


@pytest.mark.parametrize(
    ("changed", "error"),
    [
        ({"var": np.ones(2, np.float32)}, gl.errors.NotAVariableError),
        ({"accum": np.ones(2, np.float32)}, gl.errors.NotAVariableError),
        ({"accum": gl.Variable([1.0])}, gl.errors.InvalidArgumentError),
        ({"accum": gl.Variable(np.ones(2))}, gl.errors.DTypeError),
        ({"lr": np.float64(0.1)}, gl.errors.DTypeError),
        ({"lr": [0.1]}, gl.errors.InvalidArgumentError),
        ({"grad": [[1.0, 2.0]]}, gl.errors.InvalidArgumentError),
    ],
)
def test_bad_input_changes_nothing(changed: dict[str, object], error: type[Exception]) -> None:
    var, accum = gl.Variable([1.0, 2.0]), gl.Variable([3.0, 4.0])
    given = {"var": var, "accum": accum, "lr": 0.1, "grad": [1.0, 1.0], **changed}

    with pytest.raises(error):
        OPS.ResourceApplyAdagrad(**given)

    assert (var.numpy().tolist(), accum.numpy().tolist()) == ([1.0, 2.0], [3.0, 4.0])


@differs(
    "sparse training ops and an index out of range",
    tensorflow="InvalidArgumentError; some kernels have moved the rows before it",
    gradlab="InvalidArgumentError, and no row has moved",
)
def test_an_index_out_of_range_moves_no_row() -> None:
    var, accum = gl.Variable([[1.0], [2.0]]), gl.Variable([[0.0], [0.0]])

    with pytest.raises(
        gl.errors.InvalidArgumentError, match="Index 2 at offset 1 in indices is out of range"
    ):
        OPS.ResourceSparseApplyMomentum(
            var=var, accum=accum, lr=0.5, momentum=0.5, grad=[[1.0], [1.0]], indices=[0, 2]
        )

    assert var.numpy().tolist() == [[1.0], [2.0]]


def test_no_step_of_several_threads_is_lost() -> None:
    var = gl.Variable([0.0])

    def work() -> None:
        for _ in range(200):
            OPS.ResourceApplyGradientDescent(var=var, alpha=1.0, delta=[-1.0])

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)

    assert var.numpy().tolist() == [800.0]


def test_in_a_graph_an_op_is_done_at_once() -> None:
    with gl.Graph().as_default():
        var = gl.Variable([1.0, 2.0])
        OPS.ResourceApplyGradientDescent(var=var, alpha=1.0, delta=[0.5, 0.5])

    assert var.numpy().tolist() == [0.5, 1.5]
