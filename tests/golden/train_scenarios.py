"""TF1 gradient descent and momentum, the three steps, tf.gradients, names and refusals."""

from __future__ import annotations

from functools import partial
from itertools import product
from typing import Any

from .build import Json, do, new, scenario, slices, t

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
    return [*updates(), *descent(), *refused(), *gates(), *three_steps(), *tf_gradients(), *eager()]


def minimize(loss: Json, names: list[str] | None, runs: int | None = 1, **fields: Any) -> Json:
    return do("minimize", loss=loss, var_list=names, **({} if runs is None else {"runs": runs}), **fields)


def updates() -> list[Json]:
    """Each optimizer on each dtype, dense and sparse (indices repeated, a row never named)."""
    found = []
    for (name, opt), dtype in product(OPTIMIZERS.items(), DTYPES):
        dense = [do("apply_gradients", grads=[[t(g, dtype), "v"]]) for g in ([0.1, -0.2, 0.3], [0.5, 0.25, -1.0])]
        rows = slices([[0.1, 0.2], [1.0, -1.0], [0.3, 0.7]], [1, 3, 1], [4, 2], dtype)
        sparse = [do("apply_gradients", grads=[[rows, "e"]])] * 2
        found.append(train(f"v1.{name}.dense.{dtype}", [opt, *dense, STATE], vars={"v": t(START, dtype)}))
        found.append(train(f"v1.{name}.sparse.{dtype}", [opt, *sparse, STATE], vars={"e": t(TABLE, dtype)}))
    return found


def descent() -> list[Json]:
    opt, v, gs = new("GradientDescent", 0.25), {"v": t(START)}, {**t(0, "int64"), "trainable": False}
    coef = t([[0.1, 0.2], [0.3, 0.7]])
    both = {"sum": [{"gather": {"var": "e", "ids": [1, 1], "coef": coef}}, {"gather": {"var": "e", "ids": [2, 1], "coef": coef}}]}
    terms = {"sum": [SQUARE, {"linear": {"v": t([0.1, 0.2, 0.3])}}, SQUARE]}
    methods = ("ADD_N", "EXPERIMENTAL_TREE", "EXPERIMENTAL_ACCUMULATE_N")
    momentum = [OPTIMIZERS["momentum"], minimize(SQUARE, ["v"]), do("slot_names"), do("variables")]
    constrained = {c: {"v": {**t(START), "constraint": c}} for c in ("nonneg", "clip01")}
    return [
        train("v1.gd.minimize", [opt, minimize(SQUARE, ["v"], 3), STATE, do("collection", name="train_op"), do("slot_names"), do("variables")], vars=v),
        train("v1.gd.global_step", [opt, minimize(SQUARE, ["v"], 2, kwargs={"global_step": "gs"}), STATE], vars={**v, "gs": gs}),
        train("v1.gd.all_variables", [opt, minimize(SQUARE, None), STATE], vars={**v, "w": A}),
        train("v1.gd.names", [new("GradientDescent", 0.25, name="Mine"), do("get_name"), minimize(SQUARE, ["v"]), minimize(SQUARE, ["v"]), minimize(SQUARE, ["v"], kwargs={"name": "train"})], vars=v),
        train("v1.gd.some_none", [opt, do("apply_gradients", grads=[[None, "w"], [t([1.0, 1.0, 1.0]), "v"]]), STATE], vars={**v, "w": A}),
        train("v1.gd.list_gradient", [opt, do("apply_gradients", grads=[[[1.0, 2.0, 4.0], "v"]], runs=3), STATE], vars=v),
        train("v1.gd.gather", [opt, do("compute_gradients", loss=both, var_list=["e"]), minimize(both, ["e"], 2), STATE], vars={"e": t(TABLE)}),
        train("v1.gd.rate_is_float32", [new("GradientDescent", 0.1), minimize(SQUARE, ["v"], 2), STATE], vars={"v": t(START, "float64")}),
        *(train(f"v1.gd.aggregation.{m}", [opt, minimize(terms, ["v"], kwargs={"aggregation_method": m}), STATE], vars=v) for m in methods),
        *(train(f"v1.gd.constraint.{c}", [opt, minimize(SQUARE, ["v"]), do("apply_gradients", grads=[[t([-8.0, 4.0, 4.0]), "v"]]), STATE], vars=x) for c, x in constrained.items()),
        train("v1.momentum.slots", [*momentum, do("get_slot", var="v", slot="momentum"), do("get_slot", var="v", slot="other"), do("get_slot", var="w", slot="momentum")], vars={**v, "w": A}),
        train("v1.momentum.two", [OPTIMIZERS["momentum"], {**OPTIMIZERS["nesterov"], "opt": "b"}, minimize(SQUARE, ["v"]), minimize(SQUARE, ["v"], opt="b"), do("variables"), do("variables", opt="b"), STATE], vars=v),
    ]


def refused() -> list[Json]:
    opt, v = new("GradientDescent", 0.5), {"v": t(START), "w": A}
    sparse = do("apply_gradients", grads=[[slices([[1.0, 1.0]], [1], [4, 2]), "e"]])
    constrained = {"e": {**t(TABLE), "constraint": "nonneg"}}
    return [
        train("v1.err.empty_name", [new("GradientDescent", 0.5, name="")]),
        train("v1.err.apply", [opt, do("apply_gradients", grads=[]), do("apply_gradients", grads=[[None, "v"]])], vars=v),
        train("v1.err.no_gradient", [opt, minimize(SQUARE, ["w"])], vars=v),
        train("v1.err.string_gradient", [opt, do("apply_gradients", grads=[["abc", "v"]])], vars=v),
        train("v1.err.no_variables", [opt, do("compute_gradients", loss={"const": 1.0}, var_list=None)]),
        train("v1.err.gate", [opt, minimize(SQUARE, ["v"], kwargs={"gate_gradients": 7})], vars=v),
        train("v1.err.integer", [opt, do("compute_gradients", loss={"square": ["i"]}, var_list=["i"])], vars={"i": t([1, 2], "int32")}),
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


def three_steps() -> list[Json]:
    v, opt, loss = {"v": t(START), "w": A}, new("GradientDescent", 0.5), {"square": ["v", "w"]}
    clips = {
        "clip_by_value": {"clip_value_min": -1.0, "clip_value_max": 1.0},
        "clip_by_norm": {"clip_norm": 1.0},
        "clip_by_global_norm": {"clip_norm": 1.0},
        "clip_by_average_norm": {"clip_norm": 0.1},
    }

    def steps(fn: str, loss: Json = loss, **clip: Any) -> Json:
        return do("three_step", loss=loss, var_list=["v", "w"], clip={"fn": fn, "kwargs": clips[fn], **clip}, runs=2)

    return [
        *(train(f"v1.three_step.{fn}", [opt, steps(fn)], vars=v) for fn in clips),
        train("v1.three_step.momentum", [OPTIMIZERS["momentum"], steps("clip_by_global_norm"), STATE], vars=v),
        train("v1.three_step.eager", [opt, steps("clip_by_norm")], vars=v, mode="eager"),
        *(train(f"v1.three_step.none.{fn}", [opt, steps(fn, SQUARE, clip_none=True)], vars=v) for fn in clips),
        train("v1.three_step.none_kept", [opt, steps("clip_by_norm", SQUARE)], vars=v),
    ]


def tf_gradients() -> list[Json]:
    def of(name: str, ys: list[Json], xs: list[str], v: Json, **fields: Any) -> Json:
        return train(f"tfgradients.{name}", [do("gradients", ys=ys, xs=xs, **fields)], vars=v)

    v, product_of = {"v": t(START), "w": A}, {"matmul_sum": ["a", "b"]}
    linear, vector = {"linear": {"v": t([1.0, 1.0, 1.0])}}, {"vector": {"var": "v", "coef": t([1.0, 2.0, 3.0])}}
    gather = {"gather": {"var": "w", "ids": [1, 0, 1], "coef": t([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])}}
    return [
        of("unconnected", [SQUARE], ["v", "w"], v),
        of("unconnected_zero", [SQUARE], ["v", "w"], v, kwargs={"unconnected_gradients": "zero"}),
        of("two_ys", [SQUARE, linear], ["v"], v),
        of("vector", [vector], ["v"], v),
        of("grad_ys", [vector], ["v"], v, kwargs={"grad_ys": [t([1.0, 10.0, 100.0])]}),
        of("grad_ys_shape", [vector], ["v"], v, kwargs={"grad_ys": [t([1.0, 10.0])]}),
        of("gather", [gather], ["w", "v"], v),
        of("stop", [product_of], ["a", "b"], {"a": A, "b": B}, stop_gradients=["a"]),
        train("trainable_variables", [do("trainable_variables"), do("trainable_variables", kwargs={"scope": "v"})], vars={**v, "v2": {**A, "trainable": False}, "v3": B}),
    ]


def eager() -> list[Json]:
    made, v, opt = partial(train, mode="eager"), {"v": t(START), "w": A}, new("GradientDescent", 0.5)
    step = partial(minimize, SQUARE, ["v"], None)
    return [
        made("v1.eager.callable_rate", [new("GradientDescent", {"callable": [0.5, 0.25]}), step(), step(), STATE], vars=v),
        made("v1.eager.grad_loss", [opt, step(kwargs={"grad_loss": t(0.25)}), STATE], vars=v),
        made("v1.eager.touched_variables", [opt, minimize(SQUARE, None, None), STATE], vars=v),
        made("v1.eager.gate_is_ignored", [opt, step(kwargs={"gate_gradients": 7}), STATE], vars=v),
        made("v1.eager.tensor_loss", [opt, step(tensor_loss=True)], vars=v),
        made("v1.eager.apply_refused", [opt, do("apply_gradients", grads=[]), do("apply_gradients", grads=[[None, "v"]])], vars=v),
        made("v1.eager.momentum", [OPTIMIZERS["momentum"], step(), step(), STATE, do("slot_names"), do("variables"), do("get_slot", var="v", slot="momentum")], vars=v),
    ]
