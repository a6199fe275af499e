"""TensorFlow's training ops on their own: dense and sparse, every dtype, every switch, and what they refuse."""

from __future__ import annotations

from functools import partial
from typing import Any

from tests.golden.build import Json, do, scenario, slices, t

op = partial(scenario, "ops")
VAR = [[1.0, -2.0], [0.5, 3.0], [-0.25, 0.0]]
GRADS = [
    [[0.1, -0.2], [0.0, 0.5], [2.0, -1.0]],
    [[-0.3, 0.4], [0.25, 0.0], [1.0, -1.0]],
    [[0.05, 0.05], [-0.5, 1.5], [0.0, -3.0]],
]
# Rows named twice, out of order, and one that is never named.
ROWS = [([[0.1, -0.2], [0.7, 0.5], [2.0, -1.0]], [2, 0, 2]), ([[1.0, 0.3], [-0.5, 0.25]], [0, 2])]
BAD, INF = float("nan"), float("inf")
DTYPES = ("float16", "bfloat16", "float64")

POWERS = {"beta1_power": [0.9, 0.81, 0.729], "beta2_power": [0.999, 0.998001, 0.997002999]}
BETAS = {"lr": 0.1, "beta1": 0.9, "beta2": 0.999, "epsilon": 1e-7}
FTRL = {"lr": 0.1, "l1": 0.0, "l2": 0.0, "lr_power": -0.5}
SQUARES = {"lr": 0.1, "rho": 0.9, "momentum": 0.2, "epsilon": 1e-3}

# op -> (slots with their starts, hyperparameters of each variant); a list is one number for each step.
Variants = dict[str, Json]
OPS: dict[str, tuple[dict[str, float], Variants]] = {
    "GradientDescent": ({}, {"plain": {"alpha": 0.1}}),
    "ProximalGradientDescent": (
        {},
        {"l1": {"alpha": 0.1, "l1": 0.05, "l2": 0.1}, "no_l1": {"alpha": 0.1, "l1": 0.0, "l2": 0.1}},
    ),
    "Adagrad": ({"accum": 0.1}, {"plain": {"lr": 0.1}, "still": {"lr": 0.1, "update_slots": False}}),
    "AdagradV2": ({"accum": 0.1}, {"small": {"lr": 0.1, "epsilon": 1e-7}, "large": {"lr": 0.1, "epsilon": 0.5}}),
    "AdagradDA": (
        {"gradient_accumulator": 0.0, "gradient_squared_accumulator": 0.1},
        {
            "plain": {"lr": 0.1, "l1": 0.0, "l2": 0.0, "global_step": [1, 2, 3]},
            "l1": {"lr": 0.1, "l1": 0.05, "l2": 0.1, "global_step": [1, 2, 3]},
        },
    ),
    "ProximalAdagrad": (
        {"accum": 0.1},
        {"l1": {"lr": 0.1, "l1": 0.05, "l2": 0.1}, "no_l1": {"lr": 0.1, "l1": 0.0, "l2": 0.1}},
    ),
    "Adadelta": ({"accum": 0.0, "accum_update": 0.0}, {"plain": {"lr": 0.5, "rho": 0.9, "epsilon": 1e-3}}),
    "Momentum": (
        {"accum": 0.0},
        {f"nesterov_{n}": {"lr": 0.1, "momentum": 0.9, "use_nesterov": n} for n in (False, True)},
    ),
    "KerasMomentum": (
        {"accum": 0.0},
        {f"nesterov_{n}": {"lr": 0.1, "momentum": 0.9, "use_nesterov": n} for n in (False, True)},
    ),
    "Adam": (
        {"m": 0.0, "v": 0.0},
        {
            "plain": {**BETAS, **POWERS},
            "nesterov": {**BETAS, **POWERS, "use_nesterov": True},
            "uncorrected": {**BETAS, "beta1_power": 0.0, "beta2_power": 0.0},
        },
    ),
    "AdamWithAmsgrad": ({"m": 0.0, "v": 0.0, "vhat": 0.0}, {"plain": {**BETAS, **POWERS}}),
    "AdaMax": ({"m": 0.0, "v": 0.0}, {"plain": {**BETAS, "beta1_power": POWERS["beta1_power"]}}),
    "AddSign": ({"m": 0.0}, {"plain": {"lr": 0.1, "alpha": 1.0, "sign_decay": 0.7, "beta": 0.9}}),
    "PowerSign": ({"m": 0.0}, {"plain": {"lr": 0.1, "logbase": 1.0, "sign_decay": 0.7, "beta": 0.9}}),
    "RMSProp": ({"ms": 1.0, "mom": 0.0}, {"plain": SQUARES, "no_momentum": {**SQUARES, "momentum": 0.0}}),
    "CenteredRMSProp": ({"mg": 0.0, "ms": 1.0, "mom": 0.0}, {"plain": SQUARES}),
    "Ftrl": (
        {"accum": 0.1, "linear": 0.0},
        {
            "plain": FTRL,
            "l1": {**FTRL, "l1": 0.05, "l2": 0.1},
            "power": {**FTRL, "l1": 0.01, "lr_power": -0.75},
            "power_0": {**FTRL, "lr_power": 0.0},
            "multiplied": {**FTRL, "l1": 0.05, "l2": 0.1, "multiply_linear_by_lr": True},
        },
    ),
    "FtrlV2": ({"accum": 0.1, "linear": 0.0}, {"shrunk": {**FTRL, "l1": 0.05, "l2": 0.1, "l2_shrinkage": 0.2}}),
}
# For these dtypes TensorFlow has no kernel.
HALVES = ("float16", "bfloat16")
DENSE_MISSING = {
    "AdaMax": ("bfloat16",),
    "AdagradDA": HALVES,
    "ProximalAdagrad": HALVES,
    "ProximalGradientDescent": HALVES,
}
SPARSE_MISSING = {**DENSE_MISSING, "RMSProp": ("bfloat16",), "CenteredRMSProp": ("bfloat16",)}
# For slices of one element these compute partly in double precision, gradlab does not.
DOUBLE = ("AdagradDA", "ProximalAdagrad", "ProximalGradientDescent")
DENSE_ONLY = ("GradientDescent", "Adam", "AdamWithAmsgrad", "AdaMax", "AddSign", "PowerSign")


def scenarios() -> list[Json]:
    return [*dense(), *sparse(), *edges(), *refused()]


def steps(name: str, hyper: Json, grads: list[Json], var: Json, **fields: Any) -> Json:
    """The op on fresh slots, once for each gradient; `last` records the end only."""
    return do("op", op=name, var=var, slots=OPS[name][0], hyper=hyper, grads=grads, **fields)


def dense() -> list[Json]:
    found = []
    for name, (_, variants) in OPS.items():
        calls = [steps(name, hyper, [t(g) for g in GRADS], t(VAR)) for hyper in variants.values()]
        found.append(op(f"op.{name}.dense", calls, note=", ".join(variants)))
        hyper = next(iter(variants.values()))
        for dtype in [d for d in DTYPES if d not in DENSE_MISSING.get(name, ())]:
            call = steps(name, hyper, [t(g, dtype) for g in GRADS], t(VAR, dtype), last=True)
            found.append(op(f"op.{name}.dense.{dtype}", [call]))
    return found


def sparse() -> list[Json]:
    """Every occurrence of a row counts by itself, in the order given."""
    found = []
    for name in [name for name in OPS if name not in DENSE_ONLY]:
        variants = OPS[name][1]
        calls = [steps(name, hyper, _rows(), t(VAR)) for hyper in variants.values()]
        found.append(op(f"op.{name}.sparse", calls, note=", ".join(variants)))
        singles = [steps(name, hyper, _vectors(), t([1.0, -2.0, 0.5])) for hyper in variants.values()]
        found.append(op(f"op.{name}.sparse.vector", singles, compare="ulp 2" if name in DOUBLE else "bitwise"))
        for dtype in [d for d in DTYPES if d not in SPARSE_MISSING.get(name, ())]:
            call = steps(name, next(iter(variants.values())), _rows(dtype), t(VAR, dtype), last=True)
            found.append(op(f"op.{name}.sparse.{dtype}", [call]))
    return found


def _rows(dtype: str = "float32") -> list[Json]:
    return [slices(values, indices, [3, 2], dtype) for values, indices in ROWS]


def _vectors() -> list[Json]:
    return [slices([row[0] for row in values], indices, [3]) for values, indices in ROWS]


def edges() -> list[Json]:
    """Non-finite, tiny and zero gradients."""
    grads = [[BAD, INF, -INF, 1e30], [1e-30, -1e-38, 1e-42, 0.0], [0.0, -0.0, 0.0, 0.0]]
    found = []
    for name in OPS:
        hyper, var = next(iter(OPS[name][1].values())), t([1.0, -2.0, 0.5, 0.0])
        calls = [steps(name, hyper, [t(g), t([1.0] * 4)], var, last=True) for g in grads]
        found.append(op(f"op.{name}.edges", calls, note="non-finite, tiny, zero"))
    return found


def refused() -> list[Json]:
    """A row outside of the table, and gradients of another shape."""
    found = []
    bad = [slices([[1.0, 1.0]], [3], [3, 2]), slices([[1.0, 1.0]], [-1], [3, 2])]
    wide = [slices([[1.0, 1.0, 1.0]], [1], [3, 3]), t([1.0, 2.0])]
    for name in ("Adagrad", "Momentum", "Ftrl", "RMSProp"):
        hyper = next(iter(OPS[name][1].values()))
        found.append(op(f"op.{name}.refused", [steps(name, hyper, [g], t(VAR)) for g in (*bad, *wide)]))
    return found
