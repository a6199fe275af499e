"""TF1 gradient descent and momentum in a graph: updates, names, slots, gates and refusals."""

from __future__ import annotations

from functools import partial
from itertools import product
from typing import Any

from tests.golden.build import Json, do, new, scenario, slices, t

train = partial(scenario, "v1", use_resource=True, mode="graph")
STATE, START = do("state"), [1.0, -2.0, 3.0]
TABLE = [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0]]
DTYPES = ("float16", "bfloat16", "float32", "float64")
A, B = t([[1.0, 2.0], [3.0, 4.0]]), t([[5.0, 6.0], [7.0, 8.0]])
OPTIMIZERS = {
    "gd": new("GradientDescent", 0.1),
    "momentum": new("Momentum", 0.1, 0.9),
    "nesterov": new("Momentum", 0.1, 0.9, use_nesterov=True),
}
SQUARE = {"square": ["v"]}


def scenarios() -> list[Json]:
    return [*updates(), *descent(), *descent_details(), *momentum(), *refused(), *gates()]


def minimize(loss: Json, names: list[str] | None, runs: int | None = 1, **fields: Any) -> Json:
    return do("minimize", loss=loss, var_list=names, **({} if runs is None else {"runs": runs}), **fields)


def updates() -> list[Json]:
    """Each optimizer on each dtype, dense and sparse (indices repeated, a row never named)."""
    found: list[Json] = []
    for (name, opt), dtype in product(OPTIMIZERS.items(), DTYPES):
        dense = [do("apply_gradients", grads=[[t(g, dtype), "v"]]) for g in ([0.1, -0.2, 0.3], [0.5, 0.25, -1.0])]
        rows = slices([[0.1, 0.2], [1.0, -1.0], [0.3, 0.7]], [1, 3, 1], [4, 2], dtype)
        sparse = [do("apply_gradients", grads=[[rows, "e"]])] * 2
        found.append(train(f"v1.{name}.dense.{dtype}", [opt, *dense, STATE], vars={"v": t(START, dtype)}))
        found.append(train(f"v1.{name}.sparse.{dtype}", [opt, *sparse, STATE], vars={"e": t(TABLE, dtype)}))
    return found


def descent() -> list[Json]:
    opt, v, gs = new("GradientDescent", 0.25), {"v": t(START)}, {**t(0, "int64"), "trainable": False}
    shown = [do("collection", name="train_op"), do("slot_names"), do("variables")]
    step, to_step = minimize(SQUARE, ["v"]), {"global_step": "gs"}
    named = [new("GradientDescent", 0.25, name="Mine"), do("get_name"), step, step]
    some_none = [[None, "w"], [t([1.0, 1.0, 1.0]), "v"]]
    return [
        train("v1.gd.minimize", [opt, minimize(SQUARE, ["v"], 3), STATE, *shown], vars=v),
        train("v1.gd.global_step", [opt, minimize(SQUARE, ["v"], 2, kwargs=to_step), STATE], vars={**v, "gs": gs}),
        train("v1.gd.all_variables", [opt, minimize(SQUARE, None), STATE], vars={**v, "w": A}),
        train("v1.gd.names", [*named, minimize(SQUARE, ["v"], kwargs={"name": "train"})], vars=v),
        train("v1.gd.some_none", [opt, do("apply_gradients", grads=some_none), STATE], vars={**v, "w": A}),
        train(
            "v1.gd.list_gradient", [opt, do("apply_gradients", grads=[[[1.0, 2.0, 4.0], "v"]], runs=3), STATE], vars=v
        ),
    ]


def descent_details() -> list[Json]:
    opt, v = new("GradientDescent", 0.25), {"v": t(START)}
    coef = t([[0.1, 0.2], [0.3, 0.7]])
    gathers = {"sum": [{"gather": {"var": "e", "ids": ids, "coef": coef}} for ids in ([1, 1], [2, 1])]}
    gathered = [do("compute_gradients", loss=gathers, var_list=["e"]), minimize(gathers, ["e"], 2), STATE]
    terms = {"sum": [SQUARE, {"linear": {"v": t([0.1, 0.2, 0.3])}}, SQUARE]}
    found = [
        train("v1.gd.gather", [opt, *gathered], vars={"e": t(TABLE)}),
        train(
            "v1.gd.rate_is_float32",
            [OPTIMIZERS["gd"], minimize(SQUARE, ["v"], 2), STATE],
            vars={"v": t(START, "float64")},
        ),
    ]
    for method in ("ADD_N", "EXPERIMENTAL_TREE", "EXPERIMENTAL_ACCUMULATE_N"):
        step = minimize(terms, ["v"], kwargs={"aggregation_method": method})
        found.append(train(f"v1.gd.aggregation.{method}", [opt, step, STATE], vars=v))
    for name in ("nonneg", "clip01"):
        push = do("apply_gradients", grads=[[t([-8.0, 4.0, 4.0]), "v"]])
        constrained = {"v": {**t(START), "constraint": name}}
        found.append(train(f"v1.gd.constraint.{name}", [opt, minimize(SQUARE, ["v"]), push, STATE], vars=constrained))
    return found


def momentum() -> list[Json]:
    opt, step, v = OPTIMIZERS["momentum"], minimize(SQUARE, ["v"]), {"v": t(START), "w": A}
    slots = [do("get_slot", var=var, slot=slot) for var, slot in (("v", "momentum"), ("v", "other"), ("w", "momentum"))]
    two = [opt, {**OPTIMIZERS["nesterov"], "opt": "b"}, step, {**step, "opt": "b"}]
    return [
        train("v1.momentum.slots", [opt, step, do("slot_names"), do("variables"), *slots], vars=v),
        train("v1.momentum.two", [*two, do("variables"), do("variables", opt="b"), STATE], vars={"v": v["v"]}),
    ]


def refused() -> list[Json]:
    opt, v = new("GradientDescent", 0.5), {"v": t(START), "w": A}
    sparse = do("apply_gradients", grads=[[slices([[1.0, 1.0]], [1], [4, 2]), "e"]])
    constrained = {"e": {**t(TABLE), "constraint": "nonneg"}}
    return [
        train("v1.err.empty_name", [new("GradientDescent", 0.5, name="")]),
        train(
            "v1.err.apply", [opt, do("apply_gradients", grads=[]), do("apply_gradients", grads=[[None, "v"]])], vars=v
        ),
        train("v1.err.no_gradient", [opt, minimize(SQUARE, ["w"])], vars=v),
        train("v1.err.string_gradient", [opt, do("apply_gradients", grads=[["abc", "v"]])], vars=v),
        train("v1.err.no_variables", [opt, do("compute_gradients", loss={"const": 1.0}, var_list=None)]),
        train("v1.err.gate", [opt, minimize(SQUARE, ["v"], kwargs={"gate_gradients": 7})], vars=v),
        train(
            "v1.err.integer",
            [opt, do("compute_gradients", loss={"square": ["i"]}, var_list=["i"])],
            vars={"i": t([1, 2], "int32")},
        ),
        train("v1.err.sparse_constraint", [opt, sparse], vars=constrained),
    ]


def gates() -> list[Json]:
    """The product whose ungated update races; ungated, only the gradients are the same in every run."""
    opt, loss, v, found = new("GradientDescent", 0.1), {"matmul_sum": ["a", "b"]}, {"a": A, "b": B, "z": t([1.0])}, []
    for gate in ("GATE_NONE", "GATE_OP", "GATE_GRAPH"):
        compute = do("compute_gradients", loss=loss, var_list=["a", "b", "z"], kwargs={"gate_gradients": gate})
        step = [minimize(loss, ["a", "b"], kwargs={"gate_gradients": gate}), STATE]
        race = {"nondeterministic": True} if gate == "GATE_NONE" else {}
        found.append(train(f"v1.gate.{gate}", [opt, compute, *step], vars=v, **race))
    return found
