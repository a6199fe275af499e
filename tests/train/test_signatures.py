"""The arguments of tf.train's optimizers, their order and defaults, and what they refuse."""

import inspect
from typing import Any

import numpy as np
import pytest

import gradlab as gl

L1_L2 = "l1_regularization_strength=0.0, l2_regularization_strength=0.0"
SIGNATURES = {
    "GradientDescentOptimizer": "learning_rate, use_locking=False, name='GradientDescent'",
    "MomentumOptimizer": "learning_rate, momentum, use_locking=False, name='Momentum', use_nesterov=False",
    "AdagradOptimizer": "learning_rate, initial_accumulator_value=0.1, use_locking=False, name='Adagrad'",
    "AdagradDAOptimizer": "learning_rate, global_step, "
    f"initial_gradient_squared_accumulator_value=0.1, {L1_L2}, "
    "use_locking=False, name='AdagradDA'",
    "AdadeltaOptimizer": "learning_rate=0.001, rho=0.95, epsilon=1e-08, use_locking=False, name='Adadelta'",
    "AdamOptimizer": "learning_rate=0.001, beta1=0.9, beta2=0.999, epsilon=1e-08, "
    "use_locking=False, name='Adam', use_own_namescope_for_non_slot_vars=False",
    "FtrlOptimizer": "learning_rate, learning_rate_power=-0.5, initial_accumulator_value=0.1, "
    f"{L1_L2}, use_locking=False, name='Ftrl', accum_name=None, "
    "linear_name=None, l2_shrinkage_regularization_strength=0.0, beta=None",
    "ProximalGradientDescentOptimizer": f"learning_rate, {L1_L2}, use_locking=False, name='ProximalGradientDescent'",
    "ProximalAdagradOptimizer": f"learning_rate, initial_accumulator_value=0.1, {L1_L2}, "
    "use_locking=False, name='ProximalAdagrad'",
    "RMSPropOptimizer": "learning_rate, decay=0.9, momentum=0.0, epsilon=1e-10, "
    "use_locking=False, centered=False, name='RMSProp'",
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
    parameters = [
        p.replace(annotation=p.empty)
        for p in inspect.signature(f).parameters.values()
        if p.name != "self"
    ]
    return ", ".join(map(str, parameters))


@pytest.mark.parametrize("name", SIGNATURES)
def test_constructors_have_tensorflows_arguments(name: str) -> None:
    assert _parameters(getattr(gl.train, name)) == SIGNATURES[name]


@pytest.mark.parametrize("name", METHODS)
def test_methods_have_tensorflows_arguments(name: str) -> None:
    assert _parameters(getattr(gl.train.Optimizer, name)) == METHODS[name]


def test_every_optimizer_is_listed_here() -> None:
    made = {
        n
        for n, x in vars(gl.train).items()
        if inspect.isclass(x) and issubclass(x, gl.train.RuleOptimizer)
    }
    assert made - {"RuleOptimizer"} == SIGNATURES.keys()


@pytest.mark.parametrize("method", ["apply_gradients", "minimize"])
@pytest.mark.parametrize("name", ["DropStaleGradientOptimizer", "SyncReplicasOptimizer"])
def test_wrappers_take_tensorflows_arguments_and_workers_by_keyword(name: str, method: str) -> None:
    given = inspect.signature(getattr(getattr(gl.train, name), method)).parameters.values()
    own = {p.name: p for p in given if p.kind is p.KEYWORD_ONLY}
    assert _parameters(getattr(getattr(gl.train, name), method)).startswith(METHODS[method])
    assert "worker" in own


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        (
            "AdagradOptimizer",
            {"initial_accumulator_value": 0.0},
            r"must be above 0, got 0\.0; a value near 0",
        ),
        (
            "AdagradOptimizer",
            {"initial_accumulator_value": float("nan")},
            "must be above 0, got nan",
        ),
        (
            "ProximalAdagradOptimizer",
            {"initial_accumulator_value": -1.0},
            "initial_accumulator_value must be above 0",
        ),
        (
            "AdagradDAOptimizer",
            {"global_step": 0, "initial_gradient_squared_accumulator_value": 0},
            "initial_gradient_squared_accumulator_value must be above 0",
        ),
        (
            "FtrlOptimizer",
            {"learning_rate_power": 0.5},
            "learning_rate_power must be 0 or less, got 0.5",
        ),
        (
            "FtrlOptimizer",
            {"initial_accumulator_value": -0.1},
            "initial_accumulator_value must be 0 or more, got -0.1",
        ),
        (
            "FtrlOptimizer",
            {"l1_regularization_strength": -1},
            "l1_regularization_strength must be 0 or more",
        ),
        (
            "FtrlOptimizer",
            {"l2_regularization_strength": -1},
            "l2_regularization_strength must be 0 or more",
        ),
        (
            "FtrlOptimizer",
            {"l2_shrinkage_regularization_strength": -1},
            "l2_shrinkage_regularization_strength must be",
        ),
        *((name, {"name": ""}, "name must be a non-empty string, got ''") for name in SIGNATURES),
    ],
)
def test_arguments_that_tensorflow_refuses(
    name: str, arguments: dict[str, Any], message: str
) -> None:
    needed = {"MomentumOptimizer": {"momentum": 0.9}, "AdagradDAOptimizer": {"global_step": 0}}.get(
        name, {}
    )
    with pytest.raises(ValueError, match=message):
        getattr(gl.train, name)(**{"learning_rate": 0.1, **needed, **arguments})


@pytest.mark.parametrize("number", [None, "0.1", [0.1]])
def test_what_is_no_number_is_named(number: Any) -> None:
    with pytest.raises(TypeError, match="initial_accumulator_value must be a number, got "):
        gl.train.AdagradOptimizer(0.1, number)
    with pytest.raises(TypeError, match="l1_regularization_strength must be a number, got "):
        gl.train.FtrlOptimizer(0.1, l1_regularization_strength=number)


@pytest.mark.parametrize("step", [0.5, "0", None, np.zeros(2, np.int32)])
def test_the_step_of_dual_averaging_must_be_an_integer(step: Any) -> None:
    with pytest.raises(TypeError):
        gl.train.AdagradDAOptimizer(0.1, step)


def test_gates() -> None:
    assert (gl.train.GATE_NONE, gl.train.GATE_OP, gl.train.GATE_GRAPH) == (0, 1, 2)
    opt = gl.train.GradientDescentOptimizer
    assert (opt.GATE_NONE, opt.GATE_OP, opt.GATE_GRAPH) == (0, 1, 2)
