"""Names and order of what tf.train's optimizers keep, as TensorFlow 2.21 gives them."""

from typing import Any

import numpy as np
import pytest

import gradlab as gl

T = gl.train
KEPT: dict[str, tuple[Any, dict[str, str]]] = {
    "gradient descent": (lambda: T.GradientDescentOptimizer(0.1), {}),
    "momentum": (lambda: T.MomentumOptimizer(0.1, 0.9), {"momentum": "v/Momentum"}),
    "adagrad": (lambda: T.AdagradOptimizer(0.1), {"accumulator": "v/Adagrad"}),
    "dual averaging": (
        lambda: T.AdagradDAOptimizer(0.1, 0),
        {"gradient_accumulator": "v/AdagradDA", "gradient_squared_accumulator": "v/AdagradDA_1"},
    ),
    "adadelta": (lambda: T.AdadeltaOptimizer(), {"accum": "v/Adadelta", "accum_update": "v/Adadelta_1"}),
    "adam": (lambda: T.AdamOptimizer(), {"m": "v/Adam", "v": "v/Adam_1"}),
    "proximal descent": (lambda: T.ProximalGradientDescentOptimizer(0.1), {}),
    "proximal adagrad": (lambda: T.ProximalAdagradOptimizer(0.1), {"accumulator": "v/ProximalAdagrad"}),
    "rms": (lambda: T.RMSPropOptimizer(0.1), {"rms": "v/RMSProp", "momentum": "v/RMSProp_1"}),
    "centered rms": (
        lambda: T.RMSPropOptimizer(0.1, centered=True),
        {"rms": "v/RMSProp", "mg": "v/RMSProp_1", "momentum": "v/RMSProp_2"},
    ),
    "ftrl": (lambda: T.FtrlOptimizer(0.1), {"accum": "v/Ftrl", "linear": "v/Ftrl_1"}),
    "ftrl, one named": (lambda: T.FtrlOptimizer(0.1, accum_name="acc"), {"accum": "v/acc", "linear": "v/Ftrl"}),
    "ftrl, named": (
        lambda: T.FtrlOptimizer(0.1, accum_name="A", linear_name="L"),
        {"accum": "v/A", "linear": "v/L"},
    ),
}
every_kind = pytest.mark.parametrize("kind", KEPT)


@every_kind
@pytest.mark.parametrize("graph", [False, True])
def test_names_of_slots(kind: str, graph: bool) -> None:
    make, names = KEPT[kind]
    with gl.Graph().as_default() if graph else gl.variable_collection():
        v, opt = gl.Variable([1.0, 2.0], name="v"), make()
        opt.apply_gradients([([1.0, 1.0], v)])  # in a Graph described only: that is when slots are made
        assert opt.get_slot_names() == sorted(names)
        assert {slot: opt.get_slot(v, slot).name for slot in names} == {s: f"{n}:0" for s, n in names.items()}


@every_kind
def test_a_second_optimizer_counts_on(kind: str) -> None:
    make, names = KEPT[kind]
    with gl.variable_collection():
        v, opts = gl.Variable([1.0, 2.0], name="v"), [make(), make()]
        for opt in opts:
            opt.apply_gradients([([1.0, 1.0], v)])
        everything = [opt.get_slot(v, slot).name for opt in opts for slot in names]
        assert len(set(everything)) == 2 * len(names)


def test_describing_another_update_touches_no_slot() -> None:
    with gl.Graph().as_default():
        v, opt = gl.Variable([1.0, 2.0], name="v"), T.MomentumOptimizer(0.1, 0.9)
        opt.apply_gradients([([1.0, 1.0], v)]).run()
        before = opt.get_slot(v, "momentum").value
        opt.apply_gradients([([2.0, 2.0], v)])
        assert opt.get_slot(v, "momentum").value is before


def test_slots_start_as_tensorflows_do() -> None:
    with gl.Graph().as_default():
        v = gl.Variable([1.0, 2.0], name="v")
        starts = {}
        for kind, (make, names) in KEPT.items():
            opt = make()
            opt.apply_gradients([([1.0, 1.0], v)])
            starts[kind] = {slot: float(opt.get_slot(v, slot).numpy()[0]) for slot in names}
    tenth = float(np.float32(0.1))
    assert starts["centered rms"] == {"rms": 1.0, "mg": 0.0, "momentum": 0.0}
    assert starts["adagrad"] == starts["proximal adagrad"] == {"accumulator": tenth}
    assert starts["ftrl"] == {"accum": tenth, "linear": 0.0}
    assert starts["dual averaging"] == {"gradient_accumulator": 0.0, "gradient_squared_accumulator": tenth}
    assert starts["adadelta"] == {"accum": 0.0, "accum_update": 0.0}


def test_initial_values_are_not_rounded_to_float32() -> None:
    v, opt = gl.Variable(np.zeros(1)), T.AdagradOptimizer(0.1)
    opt.apply_gradients([(np.zeros(1), v)])
    assert opt.get_slot(v, "accumulator").numpy()[0] == 0.1
