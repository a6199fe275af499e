"""Keras's legacy Adagrad and SGD: steps, clipping inside, schedules, state, configs, refusals."""

from __future__ import annotations

from functools import partial
from typing import Any

from tests.golden.build import Json, do, scenario, slices, t
from tests.golden.train_scenarios import SQUARE, START, STATE, TABLE, A, minimize

adagrad, clipped = partial(scenario, "adagrad"), partial(scenario, "clip_in_optimizer")
GRADS = ([0.1, -0.2, 0.3], [0.5, 0.25, -1.0], [-0.7, 0.0, 2.0])
V = {"v": t(START)}
BAD, INF = float("nan"), float("inf")


def scenarios() -> list[Json]:
    return [*steps(), *sparse(), *state(), *configs(), *rates(), *clips(), *schedules(), *minimized(), *refused()]


def make(cls: str = "Adagrad", **kwargs: Any) -> Json:
    opt = {"opt": kwargs.pop("opt")} if "opt" in kwargs else {}
    return do("new", **{"class": f"keras.{cls}"}, **({"kwargs": kwargs} if kwargs else {}), **opt)


def step(values: Any, var: str = "v", dtype: str = "float32", **fields: Any) -> Json:
    g = values if isinstance(values, dict) else t(values, dtype)
    return do("apply_gradients", grads=[[g, var]], **fields)


def schedule(cls: str, **config: Any) -> Json:
    return {"schedule": {"class": cls, "config": config}}


def steps() -> list[Json]:
    three = [step(g) for g in GRADS]
    variants = {
        "defaults": {},
        "rate": {"learning_rate": 0.1},
        "epsilon": {"learning_rate": 0.1, "epsilon": 0.5},
        "epsilon_zero": {"learning_rate": 0.1, "epsilon": 0.0},
        "start_zero": {"learning_rate": 0.1, "initial_accumulator_value": 0.0},
        "negative_rate": {"learning_rate": {"callable": -0.1}},
        "callable": {"learning_rate": {"callable": [0.5, 0.25]}},
    }
    found = [adagrad(f"keras.adagrad.{name}", [make(**kw), *three, STATE], vars=V) for name, kw in variants.items()]
    for dtype in ("float16", "bfloat16", "float64"):
        calls = [make(learning_rate=0.1), *(step(g, dtype=dtype) for g in GRADS), STATE]
        found.append(adagrad(f"keras.adagrad.{dtype}", calls, vars={"v": t(START, dtype)}))
    odd = {"nonfinite": [BAD, INF, 1e30], "tiny": [1e-30, 1e-42, -1e-38], "zero": [0.0, -0.0, 0.0]}
    for name, g in odd.items():
        calls = [make(learning_rate=0.1), step(g), STATE, step([1.0] * 3), STATE]
        found.append(adagrad(f"keras.adagrad.{name}", calls, vars=V))
    momenta = {"plain": {}, "momentum": {"momentum": 0.9}, "nesterov": {"momentum": 0.9, "nesterov": True}}
    for name, kw in momenta.items():
        calls = [make("SGD", learning_rate=0.1, **kw), *three, STATE, do("weight_names")]
        found.append(adagrad(f"keras.sgd.{name}", calls, vars=V))
    return found


def sparse() -> list[Json]:
    rows = {
        "unique": ([[0.1, 0.2], [1.0, 1.0]], [1, 3]),
        "duplicates": ([[0.1, 0.2], [0.3, -0.4], [1.0, 1.0]], [1, 1, 3]),
        "unordered": ([[0.7, 0.2], [0.3, -0.4], [1.0, 1.0], [0.1, 0.1]], [3, 0, 3, 3]),
    }
    found = []
    kinds = {"adagrad": make(learning_rate=0.1), "sgd": make("SGD", learning_rate=0.1)}
    kinds["momentum"] = make("SGD", learning_rate=0.1, momentum=0.9, nesterov=True)
    for kind, opt in kinds.items():
        for name, (values, indices) in rows.items():
            calls = [opt, *[step(slices(values, indices, [4, 2]), "e")] * 2, STATE]
            found.append(adagrad(f"keras.{kind}.sparse.{name}", calls, vars={"e": t(TABLE)}))
    return found


def state() -> list[Json]:
    opt, one = make(learning_rate=0.1), step(GRADS[0])
    shown = [do("slot_names"), do("slot_name_of", var="v", slot="accumulator"), do("weight_names"), do("get_weights")]
    weights = [t(7, "int64"), t([1.0, 2.0, 3.0])]
    back = [do("set_weights", weights=weights), one, STATE, do("set_weights", weights=weights[:1])]
    return [
        adagrad("keras.adagrad.names", [opt, do("weight_names"), one, *shown], vars=V),
        adagrad("keras.adagrad.weights", [opt, one, *back], vars=V),
        adagrad(
            "keras.adagrad.late_variable", [opt, one, step([[1.0, 1.0], [0.5, 0.5]], "w"), STATE], vars={**V, "w": A}
        ),
        adagrad("keras.adagrad.iterator", [opt, step(GRADS[0], iterator=True), STATE], vars=V),
        adagrad("keras.adagrad.unknown_slot", [opt, one, do("get_slot", var="v", slot="momentum")], vars=V),
    ]


def configs() -> list[Json]:
    every = {"learning_rate": 0.5, "initial_accumulator_value": 0.2, "epsilon": 1e-3, "name": "Ada", "decay": 0.01}
    again = do("from_config", **{"class": "keras.Adagrad", "from": "opt", "opt": "b"})
    get = do("get_config")
    decaying = make(
        learning_rate=schedule("ExponentialDecay", initial_learning_rate=0.1, decay_steps=2, decay_rate=0.5)
    )
    return [
        adagrad("keras.config.adagrad", [make(), get, step(GRADS[0]), get], vars=V),
        adagrad("keras.config.round_trip", [make(**every), again, do("get_config", opt="b")], vars=V),
        adagrad(
            "keras.config.clips", [make(clipnorm=1.0), get, make(clipvalue=0.5), get, make(global_clipnorm=2.0), get]
        ),
        adagrad("keras.config.sgd", [make("SGD"), get, make("SGD", momentum=0.5, nesterov=True, name="Mine"), get]),
        adagrad("keras.config.schedule", [decaying, get]),
        adagrad("keras.config.sgd_after_a_step", _again(), vars=V),
    ]


def _again() -> list[Json]:
    """After a step the config holds NumPy scalars: a momentum of 0 must still make no slot."""
    again = do("from_config", **{"class": "keras.SGD", "from": "opt", "opt": "b"})
    return [make("SGD"), step(GRADS[0]), again, step(GRADS[1], opt="b"), do("state", opt="b")]


def rates() -> list[Json]:
    opt, one = make(learning_rate=0.1), step(GRADS[0])
    read = [do("getattr", name=name) for name in ("lr", "learning_rate", "decay", "epsilon", "iterations")]
    assign = [do("assign_attr", name="learning_rate", value=0.5), do("setattr", name="lr", value=0.25)]
    return [
        adagrad("keras.rate.read", [opt, one, *read], vars=V),
        adagrad("keras.rate.set", [opt, one, assign[0], one, assign[1], one, STATE, read[1]], vars=V),
        adagrad("keras.rate.decay", [make(learning_rate=0.1, decay=0.5), *[one] * 3, STATE], vars=V),
        adagrad("keras.rate.lr", [make(lr=0.5), one, STATE], vars=V),
    ]


def clips() -> list[Json]:
    """The three limits, in `minimize` and in `apply_gradients`, on large and small gradients, for both optimizers."""
    both, found = {"v": t(START), "w": A}, []
    large, small = t([3.0, 4.0, 0.0]), t([[0.3, 0.4], [0.0, 0.0]])
    given = do("apply_gradients", grads=[[large, "v"], [small, "w"]])
    loss = minimize({"linear": {"v": large, "w": small}}, ["v", "w"], None)
    rows = slices([[3.0, 0.0], [4.0, 0.0]], [1, 1], [4, 2])
    for name, limit in {"clipnorm": 1.0, "clipvalue": 0.35, "global_clipnorm": 1.0}.items():
        for cls in ("SGD", "Adagrad"):
            opt = make(cls, learning_rate=1.0, **{name: limit})
            found.append(clipped(f"keras.{cls}.{name}", [opt, loss, STATE, given, STATE], vars=both))
        opt = make("SGD", learning_rate=1.0, **{name: limit})
        found.append(clipped(f"keras.{name}.slices", [opt, step(rows, "e"), STATE], vars={"e": t(TABLE)}))
        later = [make("SGD", learning_rate=1.0), do("setattr", name=name, value=limit), given, STATE]
        found.append(clipped(f"keras.{name}.later", [*later, do("getattr", name=name)], vars=both))
        zero = make("SGD", learning_rate=1.0, **{name: 0.0})
        found.append(clipped(f"keras.{name}.zero", [zero, given, STATE], vars=both))
    pair = make("SGD", learning_rate=1.0, clipnorm=1.0, clipvalue=0.35)
    return [*found, clipped("keras.clipnorm_and_clipvalue", [pair, given, STATE], vars=both)]


SCHEDULES = {
    "exponential": schedule("ExponentialDecay", initial_learning_rate=0.1, decay_steps=3, decay_rate=0.7),
    "staircase": schedule("ExponentialDecay", initial_learning_rate=0.1, decay_steps=3, decay_rate=0.7, staircase=True),
    "piecewise": schedule("PiecewiseConstantDecay", boundaries=[2, 5], values=[0.3, 0.2, 0.1]),
    "polynomial": schedule("PolynomialDecay", initial_learning_rate=0.1, decay_steps=4, power=2.0),
    "cycle": schedule("PolynomialDecay", initial_learning_rate=0.1, decay_steps=4, cycle=True),
    "inverse_time": schedule("InverseTimeDecay", initial_learning_rate=0.1, decay_steps=2, decay_rate=0.5),
    "cosine": schedule("CosineDecay", initial_learning_rate=0.1, decay_steps=6, alpha=0.1),
    "restarts": schedule("CosineDecayRestarts", initial_learning_rate=0.1, first_decay_steps=3, t_mul=2.0, m_mul=0.5),
}


def schedules() -> list[Json]:
    """Values by themselves, and three steps under each; cosines and powers are not promised bit by bit."""
    found, timed = [], partial(scenario, "schedule", compare="rtol 1e-6")
    for name, given in SCHEDULES.items():
        alone = [do("schedule", **given, steps=[*range(8), 10, 100]), do("schedule_config", **given)]
        found.append(timed(f"keras.schedule.{name}", alone))
        calls = [make(learning_rate=given), *[step(g) for g in GRADS], STATE]
        found.append(timed(f"keras.schedule.{name}.steps", calls, vars=V))
    return found


def minimized() -> list[Json]:
    opt, one = make(learning_rate=0.1), minimize(SQUARE, ["v"], None)
    group = partial(scenario, "minimize")
    return [
        group("keras.minimize.returns", [opt, one, one, STATE], vars=V),
        group("keras.minimize.callable_list", [opt, {**one, "var_list_callable": True}, STATE], vars=V),
        group("keras.minimize.no_gradient", [opt, minimize({"const": 1.0}, ["v"], None)], vars=V),
        group("keras.minimize.tensor", [opt, {**one, "tensor_loss": True}], vars=V),
        group("keras.minimize.gather", [opt, _gathered(), _gathered(), STATE], vars={"e": t(TABLE)}),
    ]


def _gathered() -> Json:
    loss = {"gather": {"var": "e", "ids": [2, 0, 2], "coef": t([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])}}
    return minimize(loss, ["e"], None)


def refused() -> list[Json]:
    opt = make(learning_rate=0.1)
    kwargs: dict[str, Json] = {
        "unknown": {"momentum": 0.9},
        "clipnorm": {"clipnorm": -1.0},
        "start": {"initial_accumulator_value": -1.0},
        "two_norms": {"clipnorm": 1.0, "global_clipnorm": 1.0},
    }
    found = [adagrad(f"keras.refused.{name}", [make(**kw)]) for name, kw in kwargs.items()]
    found.append(adagrad("keras.refused.empty", [opt, do("apply_gradients", grads=[])]))
    found.append(adagrad("keras.refused.all_none", [opt, do("apply_gradients", grads=[[None, "v"]])], vars=V))
    found.append(adagrad("keras.refused.attribute", [opt, do("getattr", name="nothing")]))
    return found
