"""jax-tpu-embedding's lookups and steps: buffers read back, and gradlab's table looked up, or moved
by a rule.
"""

from __future__ import annotations

import dataclasses
from types import SimpleNamespace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import gradlab as gl
from gradlab.tpu.sparsecore.buffers import Buffers, read
from gradlab.tpu.sparsecore.preprocess import batch_of
from gradlab.tpu.sparsecore.stacking import stack
from gradlab.tpu.update import check_gradients

PER_CORE = 4  # SparseCores of a device


def moved(
    rule: Any, rate: Any, given: Any, tables: Any, gradient: Any, options: Any
) -> tuple[np.ndarray, ...]:
    """The table and its slots after a step, rows where the SparseCores have them."""
    limits = options.get("min_value"), options.get("max_value")
    plan = _plan(
        tables[0], len(gradient), rule=rule, learning_rate=float(rate), weight_limits=limits
    )
    check_gradients(plan, [gradient])
    state = gl.tpu.create(plan, [_rows(tables[0])], [[_rows(x) for x in tables[1:]]])
    state = dataclasses.replace(
        state, shared=({name: getattr(rule, name) for name in rule.start()},)
    )
    dedup = gl.tpu.lookup(state, _batch(plan, given, options))[1]
    state = gl.tpu.update(state, [gradient], [], dedup)
    return tuple(_dealt(x) for x in (state.tables[0], *state.slots[0]))


def looked_up(
    *arguments: Any, device_batch_size: int, quantization_config: Any = None, **options: Any
) -> np.ndarray:
    """The activations of each sample; tables may be vectors."""
    given, table = arguments[:5], np.reshape(arguments[5], (len(arguments[5]), -1))
    levels = quantization_config and gl.tpu.Levels(*quantization_config)
    plan = _plan(table, device_batch_size, levels=levels)
    (activations,), _ = gl.tpu.lookup(
        gl.tpu.create(plan, [_rows(table)]), _batch(plan, given, options)
    )
    return np.reshape(activations, (-1, *np.shape(arguments[5])[1:]))


def _plan(table: Any, samples: int, **options: Any) -> Any:
    return gl.tpu.Plan(
        (gl.tpu.Table("t", *np.atleast_2d(table).shape, combiner="sum", **options),),
        (gl.tpu.Feature("f", 0, (samples,)),),
    )


def _batch(plan: Any, given: Any, options: Any) -> Any:
    """The lookups that buffers hold."""
    pointers, ids, samples, gains, minibatches = given
    layout = stack(plan, PER_CORE)
    if np.size(pointers) < layout.shards * minibatches * 8:
        raise NotImplementedError("buffers that are not those of these SparseCores")
    pointers = np.reshape(pointers, (-1, 8))[
        : layout.shards * minibatches
    ]  # as many as are asked for, one after another
    buffers = Buffers(pointers, *(np.asarray(x)[None] for x in (ids, samples, gains)), np.zeros(0))
    found = read(buffers, layout, minibatches, shared=options.get("enable_minibatching", False))
    return batch_of(plan, layout, {"t": found})


def _rows(x: Any) -> Any:
    """Rows in their order, from SparseCore by SparseCore."""
    x = np.asarray(x)
    return (
        x.reshape(PER_CORE, -1, x.shape[-1]).swapaxes(0, 1).reshape(x.shape) if _is_dealt(x) else x
    )


def _dealt(x: Any) -> np.ndarray:
    return np.asarray(x).reshape(-1, PER_CORE, x.shape[-1]).swapaxes(0, 1).reshape(x.shape)


def _is_dealt(x: Any) -> bool:
    return x.ndim == 2 and len(x) % PER_CORE == 0


def primitive(slots: int, rule_of: Any) -> Any:
    """A step that is given the table, its slots, the gradient, the rate, and numbers that a rule is
    made of.
    """

    def bind(*arguments: Any, **options: Any) -> Any:
        given, tables, (gradient, rate, *numbers) = (
            arguments[:5], arguments[5 : 6 + slots], arguments[6 + slots :],
        )  # fmt: skip
        rule = rule_of(
            *numbers, **{k: options[k] for k in options if k == "multiply_linear_by_learning_rate"}
        )
        made = moved(rule, rate, given, tables, gradient, options)
        return made if slots else made[0]

    return SimpleNamespace(bind=bind)


def _ftrl(
    power: float, l1: float, l2: float, beta: float, multiply_linear_by_learning_rate: bool
) -> Any:
    times_rate = bool(multiply_linear_by_learning_rate)
    return gl.rules.Ftrl(lr_power=power, l1=l1, l2=l2, beta=beta, multiply_linear_by_lr=times_rate)


def _f2a(rho: float, l1: float, l2: float, most: float, step: float) -> Any:
    return gl.rules.FrequencyAwareAdagrad(l1, l2, most, rho, step_counter=step)


def _momentum(
    momentum: float, beta2: float, epsilon: float, exponent: float, nesterov: bool
) -> Any:
    return gl.rules.AdagradMomentum(momentum, bool(nesterov), exponent, beta2, epsilon)


def _program(*arguments: Any, num_hyperparameters: int, stablehlo: str, **options: Any) -> Any:
    """A step whose rule is a compiled program of (gradient, weights, slots..., numbers...) on one
    row.
    """
    given, gradient, rest = arguments[:5], arguments[5], arguments[6:]
    numbers, tables = rest[:num_hyperparameters], rest[num_hyperparameters:]
    run = _compiled(stablehlo)

    def step(w: Any, slots: Any, g: Any, lr: Any) -> Any:
        def rows(*parts: Any) -> Any:
            fixed = [np.full((1, w.shape[-1]), x, np.float32) for x in numbers]
            each = [
                run(*(x[None] for x in row), *fixed)
                for row in zip(*map(np.asarray, parts), strict=True)
            ]
            return tuple(np.concatenate(x) for x in zip(*each, strict=True))

        kinds = tuple(jax.ShapeDtypeStruct(x.shape, x.dtype) for x in (w, *slots))
        new, *others = jax.pure_callback(rows, kinds, g, w, *slots)
        return new, tuple(others)

    rule = gl.rules.UserDefined(step, {f"slot{k}": 0.0 for k in range(len(tables) - 1)})
    return moved(rule, 0.0, given, tables, gradient, options)


def _compiled(stablehlo: str) -> Any:
    """The function that a text of StableHLO is."""
    from jax._src.interpreters import mlir
    from jax._src.lib import xla_client
    from jax._src.lib.mlir import ir

    with mlir.make_ir_context():
        code = mlir.module_to_bytecode(ir.Module.parse(stablehlo))
    device = jax.devices()[0]
    program = device.client.compile_and_load(
        code, xla_client.DeviceList((device,)), xla_client.CompileOptions()
    )
    return lambda *numbers: [
        np.asarray(x) for x in program.execute([jnp.asarray(x) for x in numbers])
    ]


RULES: dict[str, tuple[int, Any]] = {
    "sgd": (0, gl.rules.StochasticGradientDescent),
    "adagrad": (1, lambda: gl.rules.Adagrad(epsilon=0.0, epsilon_place="none")),
    "adagrad_momentum": (2, _momentum),
    "adam": (2, lambda b1, b2, epsilon: gl.rules.Adam(b1, b2, epsilon, bias_correction=False)),
    "f2a": (2, _f2a),
    "ftrl": (2, _ftrl),
    "laprop": (2, gl.rules.LaProp),
}
PRIMITIVES = {
    "tpu_sparse_dense_matmul_csr_primitive": SimpleNamespace(bind=looked_up),
    **{
        f"tpu_sparse_dense_matmul_grad_with_{name}_primitive": primitive(*made)
        for name, made in RULES.items()
    },
    "tpu_sparse_dense_matmul_optimizer_grad_primitive": SimpleNamespace(bind=_program),
}
