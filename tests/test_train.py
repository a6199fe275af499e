"""tf.train's optimizers: signatures, defaults and the formulas they choose."""

import inspect

import numpy as np
import pytest

import gradlab as gl
from gradlab import rules

SIGNATURES = {
    "GradientDescentOptimizer": "learning_rate, use_locking=False, name='GradientDescent'",
    "MomentumOptimizer": "learning_rate, momentum, use_locking=False, name='Momentum', use_nesterov=False",
}
METHODS = {
    "compute_gradients": "loss, var_list=None, gate_gradients=1, aggregation_method=None, "
    "colocate_gradients_with_ops=False, grad_loss=None",
    "apply_gradients": "grads_and_vars, global_step=None, name=None",
    "minimize": "loss, global_step=None, var_list=None, gate_gradients=1, aggregation_method=None, "
    "colocate_gradients_with_ops=False, name=None, grad_loss=None",
    "get_slot": "var, name",
}


def _parameters(f: object) -> str:
    parameters = [p.replace(annotation=p.empty) for p in inspect.signature(f).parameters.values() if p.name != "self"]
    return ", ".join(map(str, parameters))


@pytest.mark.parametrize("name", SIGNATURES)
def test_constructors_have_tensorflows_arguments(name: str) -> None:
    assert _parameters(getattr(gl.train, name)) == SIGNATURES[name]


@pytest.mark.parametrize("name", METHODS)
def test_methods_have_tensorflows_arguments(name: str) -> None:
    assert _parameters(getattr(gl.train.Optimizer, name)) == METHODS[name]


def test_every_optimizer_is_listed_here() -> None:
    made = {n for n, x in vars(gl.train).items() if inspect.isclass(x) and issubclass(x, gl.train.Optimizer)}
    assert made - {"Optimizer"} == SIGNATURES.keys()


def test_gates() -> None:
    assert (gl.train.GATE_NONE, gl.train.GATE_OP, gl.train.GATE_GRAPH) == (0, 1, 2)
    opt = gl.train.GradientDescentOptimizer
    assert (opt.GATE_NONE, opt.GATE_OP, opt.GATE_GRAPH) == (0, 1, 2)


def test_gradient_descent_takes_slices_one_by_one() -> None:
    v = gl.Variable(np.float32([[1e8], [0.0]]))
    g = gl.IndexedSlices(np.float32([[3.0], [3.0], [1.0]]), [0, 0, 1])
    gl.train.GradientDescentOptimizer(1.0).apply_gradients([(g, v)])
    one_by_one = np.float32(np.float32(1e8) - np.float32(3)) - np.float32(3)
    assert v.numpy().ravel().tolist() == [one_by_one, -1]
    assert one_by_one != np.float32(1e8) - np.float32(6)


def test_momentum_sums_slices_and_leaves_other_rows() -> None:
    v = gl.Variable(np.zeros((3, 1), np.float32))
    opt = gl.train.MomentumOptimizer(1.0, 0.5)
    for indices in ([0, 0, 2], [2, 2, 1]):
        opt.apply_gradients([(gl.IndexedSlices(np.ones((3, 1), np.float32), indices), v)])
    assert opt.get_slot(v, "momentum").numpy().ravel().tolist() == [2, 1, 2.5]
    assert v.numpy().ravel().tolist() == [-2, -1, -3.5]


def test_momentum_is_rounded_to_float32() -> None:
    assert gl.train.MomentumOptimizer(0.1, 0.9)._rule == rules.Momentum(float(np.float32(0.9)))
    assert gl.train.MomentumOptimizer(0.1, 0.9, use_nesterov=True)._rule.use_nesterov


def test_locking_changes_no_value() -> None:
    v, w = gl.Variable([1.0]), gl.Variable([1.0])
    gl.train.GradientDescentOptimizer(0.1, use_locking=True).apply_gradients([([1.0], v)])
    gl.train.GradientDescentOptimizer(0.1).apply_gradients([([1.0], w)])
    assert v.numpy() == w.numpy()
