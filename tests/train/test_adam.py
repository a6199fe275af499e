"""Adam's powers are variables."""

import threading

import jax
import numpy as np
import pytest

import gradlab as gl
from gradlab.train import AdamOptimizer

F = np.float32


def powers_of(opt: AdamOptimizer) -> list[gl.Variable]:
    return [x for x in opt.variables() if "power" in x.name]


def test_the_powers_are_two_variables_for_all() -> None:
    v, w, opt = gl.Variable([1.0], name="v"), gl.Variable([1.0], name="w"), AdamOptimizer()
    for _ in range(2):
        opt.apply_gradients([([1.0], v), ([1.0], w)])
    powers = powers_of(opt)
    assert [x.name for x in powers] == ["beta1_power:0", "beta2_power:0"]
    assert [x.numpy() for x in powers] == [F(0.9) * F(0.9) * F(0.9), F(0.999) * F(0.999) * F(0.999)]
    assert not {x.name for x in powers} & {x.name for x in gl.trainable_variables()}


def test_names_of_the_powers() -> None:
    def names(opt: AdamOptimizer) -> list[str]:
        opt.apply_gradients([([1.0], v)])
        return [x.name for x in powers_of(opt)]

    with gl.variable_collection():
        v = gl.Variable([1.0], name="v")
        assert (
            names(AdamOptimizer()) == names(AdamOptimizer()) == ["beta1_power:0", "beta2_power:0"]
        )
        own = AdamOptimizer(name="Mine", use_own_namescope_for_non_slot_vars=True)
        assert names(own) == ["Mine/beta1_power:0", "Mine/beta2_power:0"]
    with gl.Graph().as_default():
        v = gl.Variable([1.0], name="v")
        assert names(AdamOptimizer()) == ["beta1_power:0", "beta2_power:0"]
        assert names(AdamOptimizer()) == ["beta1_power_1:0", "beta2_power_1:0"]


def test_an_update_that_fails_leaves_the_powers() -> None:
    v, opt = gl.Variable([1.0], constraint=lambda w: 1 / 0), AdamOptimizer()
    with pytest.raises(ZeroDivisionError):
        opt.apply_gradients([([1.0], v)])
    assert opt.variables() == []


def test_hyperparameters_may_be_functions_and_variables() -> None:
    beta1 = gl.Variable(0.5)
    v, opt = gl.Variable([0.0]), AdamOptimizer(1.0, beta1, beta2=lambda: 0.75, epsilon=F(0.0))
    opt.apply_gradients([([4.0], v)])
    assert opt.get_slot(v, "m").numpy().tolist() == [2.0]
    beta1.assign(0.0)
    opt.apply_gradients([([8.0], v)])
    assert opt.get_slot(v, "m").numpy().tolist() == [8.0]
    assert powers_of(opt)[0].numpy() == 0.0


def test_threads_lose_no_power() -> None:
    variables = [gl.Variable([0.0]) for _ in range(4)]
    opt, start = AdamOptimizer(beta1=0.5), threading.Barrier(4)

    def work(v: gl.Variable) -> None:
        start.wait()
        for _ in range(10):
            opt.apply_gradients([([1.0], v)])

    threads = [threading.Thread(target=work, args=(v,)) for v in variables]
    for t in threads:
        t.start()
    for t in threads:
        t.join(60)
    assert powers_of(opt)[0].numpy() == 0.5**41


def test_the_pure_form_keeps_its_powers_in_the_state() -> None:
    opt, w = AdamOptimizer(beta1=0.5), {"a": jax.numpy.ones(2)}
    state = opt.init(w)
    for _ in range(2):
        w, state = jax.jit(opt.step)(w, state, {"a": jax.numpy.ones(2)})
    assert float(state["shared"]["beta1_power"]) == 0.125
