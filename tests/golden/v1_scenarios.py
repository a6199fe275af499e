"""The other optimizers of tf.compat.v1.train in a graph: updates in every dtype, switches, names, slots, refusals."""

from __future__ import annotations

from functools import partial
from typing import Any

from tests.golden.build import Json, do, new, scenario, slices, t
from tests.golden.op_scenarios import HALVES
from tests.golden.train_scenarios import DTYPES, SQUARE, START, STATE, TABLE, A, minimize

train = partial(scenario, "v1", use_resource=True, mode="graph")
L1, L2 = "l1_regularization_strength", "l2_regularization_strength"
GS = {**t(0, "int64"), "trainable": False}
STEP = {"global_step": "gs"}

# Each with the switches it has; the first of each is the one that goes through every dtype.
OPTIMIZERS: dict[str, list[Json]] = {
    "adagrad": [new("Adagrad", 0.1), new("Adagrad", 0.1, 2.0)],
    "adagrad_da": [new("AdagradDA", 0.1, **STEP), new("AdagradDA", 0.1, **STEP, **{L1: 0.05, L2: 0.1})],
    "adadelta": [new("Adadelta", 0.5, 0.9, 1e-3), new("Adadelta")],
    "adam": [new("Adam", 0.1), new("Adam", beta1=0.5, beta2=0.75, epsilon=0.1)],
    "ftrl": [
        new("Ftrl", 0.1),
        new("Ftrl", 0.1, **{L1: 0.05, L2: 0.1}),
        new("Ftrl", 0.1, -0.75, l2_shrinkage_regularization_strength=0.2, beta=0.5),
    ],
    "proximal_gd": [new("ProximalGradientDescent", 0.1, 0.05, 0.1), new("ProximalGradientDescent", 0.1)],
    "proximal_adagrad": [new("ProximalAdagrad", 0.1, 0.1, 0.05, 0.1), new("ProximalAdagrad", 0.1)],
    "rms_prop": [new("RMSProp", 0.1, 0.9, 0.2, 1e-3), new("RMSProp", 0.1)],
    "centered": [new("RMSProp", 0.1, 0.9, 0.2, 1e-3, centered=True), new("RMSProp", 0.1, centered=True)],
}
NO_HALVES = ("adagrad_da", "proximal_gd", "proximal_adagrad")
NO_DENSE_FLOAT64 = ("proximal_gd", "proximal_adagrad")  # they hand their float32 l1 to a float64 kernel: TypeError
NO_SPARSE_BFLOAT16 = ("rms_prop", "centered")


def scenarios() -> list[Json]:
    return [*dtypes(), *switches(), *details(), *refused()]


def applied(g: Json, var: str, **fields: Any) -> Json:
    return do("apply_gradients", grads=[[g, var]], kwargs=STEP, **fields)


def dense(dtype: str = "float32") -> list[Json]:
    return [applied(t(g, dtype), "v") for g in ([0.1, -0.2, 0.3], [0.5, 0.0, -1.0])]


def sparse(dtype: str = "float32") -> list[Json]:
    """A row named twice, one never named."""
    rows = slices([[0.1, 0.2], [1.0, -1.0], [0.3, 0.7]], [1, 3, 1], [4, 2], dtype)
    return [applied(rows, "e"), applied(slices([[0.5, -0.5]], [0], [4, 2], dtype), "e")]


def dtypes() -> list[Json]:
    found = []
    for name, (opt, *_) in OPTIMIZERS.items():
        for dtype in [d for d in DTYPES if not (d in HALVES and name in NO_HALVES)]:
            both = {"v": t(START, dtype), "gs": GS}
            if not (dtype == "float64" and name in NO_DENSE_FLOAT64):
                found.append(train(f"v1.{name}.dense.{dtype}", [opt, *dense(dtype), STATE], vars=both))
            if dtype == "bfloat16" and name in NO_SPARSE_BFLOAT16:
                continue
            table = {"e": t(TABLE, dtype), "gs": GS}
            found.append(train(f"v1.{name}.sparse.{dtype}", [opt, *sparse(dtype), STATE], vars=table))
    return found


def switches() -> list[Json]:
    found = []
    v = {"v": t(START), "e": t(TABLE), "gs": GS}
    for name, (_, *others) in OPTIMIZERS.items():
        for k, opt in enumerate(others):
            found.append(train(f"v1.{name}.switch.{k}", [opt, *dense(), *sparse(), STATE], vars=v))
    return found


SLOTS = {
    "adagrad": ["accumulator"],
    "adagrad_da": ["gradient_accumulator", "gradient_squared_accumulator"],
    "adadelta": ["accum", "accum_update"],
    "adam": ["m", "v"],
    "ftrl": ["accum", "linear"],
    "proximal_gd": [],
    "proximal_adagrad": ["accumulator"],
    "rms_prop": ["rms", "momentum"],
    "centered": ["rms", "mg", "momentum"],
}


def details() -> list[Json]:
    """Names and slots; several variables; a second optimizer of the same name; the three steps; eagerly."""
    found = []
    v = {"v": t(START), "w": A, "gs": GS}
    shown = [do("slot_names"), do("variables"), do("get_name"), do("collection", name="train_op")]
    step = minimize({"square": ["v", "w"]}, ["v", "w"], kwargs=STEP)
    clip = {"fn": "clip_by_global_norm", "kwargs": {"clip_norm": 1.0}}
    by_hand = do("three_step", loss=SQUARE, var_list=["v"], clip=clip, runs=2)
    for name, (opt, *_) in OPTIMIZERS.items():
        slots = [do("get_slot", var="v", slot=slot) for slot in (*SLOTS[name], "other")]
        found.append(train(f"v1.{name}.names", [opt, step, *shown, *slots], vars=v))
        two = [opt, {**opt, "opt": "b"}, step, {**step, "opt": "b"}, STATE, do("variables", opt="b")]
        found.append(train(f"v1.{name}.two", two, vars=v))
        found.append(train(f"v1.{name}.three_step", [opt, by_hand], vars=v))
        if name != "adagrad_da":  # eager AdagradDA wants a step that lives in no graph
            once = minimize(SQUARE, ["v"], None)
            found.append(train(f"v1.{name}.eager", [opt, once, once, STATE], vars=v, mode="eager"))
    return found


REFUSED = {
    "adagrad_start": [new("Adagrad", 0.1, 0.0), new("Adagrad", 0.1, -1.0)],
    "adagrad_da_start": [new("AdagradDA", 0.1, **STEP, initial_gradient_squared_accumulator_value=0.0)],
    "proximal_adagrad_start": [new("ProximalAdagrad", 0.1, 0.0)],
    "ftrl": [
        new("Ftrl", 0.1, initial_accumulator_value=-1.0),
        new("Ftrl", 0.1, 0.5),
        new("Ftrl", 0.1, **{L1: -1.0}),
        new("Ftrl", 0.1, **{L2: -1.0}),
        new("Ftrl", 0.1, l2_shrinkage_regularization_strength=-1.0),
    ],
    "no_rate": [new(cls) for cls in ("Adagrad", "Ftrl", "RMSProp", "ProximalGradientDescent")],
    "empty_name": [new(cls, 0.1, name="") for cls in ("Adagrad", "Adam", "Ftrl", "RMSProp", "Adadelta")],
}


def refused() -> list[Json]:
    found = [train(f"v1.refused.{name}", calls, vars={"gs": GS}) for name, calls in REFUSED.items()]
    for name in ("adagrad", "adam", "ftrl", "rms_prop"):
        opt = OPTIMIZERS[name][0]
        outside = do("apply_gradients", grads=[[slices([[1.0, 1.0]], [4], [4, 2]), "e"]])
        shape = do("apply_gradients", grads=[[t([1.0, 1.0]), "e"]])
        v = {"e": t(TABLE)}
        found.append(train(f"v1.refused.{name}_row", [opt, outside, shape], vars=v, mode="eager"))
    return found
