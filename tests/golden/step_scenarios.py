"""The three steps by hand, tf.gradients, and the same optimizers run eagerly."""

from __future__ import annotations

from functools import partial
from typing import Any

from tests.golden.build import Json, do, new, t
from tests.golden.train_scenarios import OPTIMIZERS, SQUARE, START, STATE, A, B, minimize, train


def scenarios() -> list[Json]:
    return [*three_steps(), *tf_gradients(), *eager()]


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
        train(
            "trainable_variables",
            [do("trainable_variables"), do("trainable_variables", kwargs={"scope": "v"})],
            vars={**v, "v2": {**A, "trainable": False}, "v3": B},
        ),
    ]


def eager() -> list[Json]:
    made, v, opt = partial(train, mode="eager"), {"v": t(START), "w": A}, new("GradientDescent", 0.5)
    step = partial(minimize, SQUARE, ["v"], None)
    return [
        made(
            "v1.eager.callable_rate", [new("GradientDescent", {"callable": [0.5, 0.25]}), step(), step(), STATE], vars=v
        ),
        made("v1.eager.grad_loss", [opt, step(kwargs={"grad_loss": t(0.25)}), STATE], vars=v),
        made("v1.eager.touched_variables", [opt, minimize(SQUARE, None, None), STATE], vars=v),
        made("v1.eager.gate_is_ignored", [opt, step(kwargs={"gate_gradients": 7}), STATE], vars=v),
        made("v1.eager.tensor_loss", [opt, step(tensor_loss=True)], vars=v),
        made(
            "v1.eager.apply_refused",
            [opt, do("apply_gradients", grads=[]), do("apply_gradients", grads=[[None, "v"]])],
            vars=v,
        ),
        made(
            "v1.eager.momentum",
            [
                OPTIMIZERS["momentum"],
                step(),
                step(),
                STATE,
                do("slot_names"),
                do("variables"),
                do("get_slot", var="v", slot="momentum"),
            ],
            vars=v,
        ),
    ]
