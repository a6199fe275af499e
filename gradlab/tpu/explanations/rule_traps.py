"""Traps of the rule and what is around it, each tried on the rows of a real step."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from ..._steps.jax import jnp
from ...rules import Adagrad, Adam, Ftrl
from ..quantize import quantize
from .excerpt import Excerpt
from .traps import Trap, differ, farthest

_PROTO = "optimization_parameters.proto, TensorFlow 2.21 (2026)"


def ftrl_forgets(e: Excerpt) -> Trap:
    """FTRL's weights are a function of its slots, which know nothing of the first weights."""
    rule, zero = e.table.rule, e.after([np.zeros_like(g) for g in e.gradients])
    applies = isinstance(rule, Ftrl) and differ((zero[0], ()), (e.before[0], ()))
    at = farthest((zero[0], ()), (e.before[0], ()))
    return Trap(
        "FTRL forgets the initial weight",
        applies,
        "weights are worked out from the slots alone, so a gradient of 0 moves them to what the slots say"
        if applies
        else "the rule is not FTRL, or its slots agree with the weights",
        "start from weights of 0, or load slots that agree with the weights",
        {"row before": e.before[0][at], "after a gradient of 0": zero[0][at], "after this step": e.after()[0][at]},
        "tests of TensorFlow's TPU embedding, which leave such rows out (2.21, 2026)",
    )


def no_bias_correction(e: Excerpt) -> Trap:
    """TPU Adam leaves out what makes its first steps as long as its later ones."""
    rule, rate, steps = e.table.rule, float(e.table.learning_rate), np.arange(1, 5)  # type: ignore[arg-type]
    applies = isinstance(rule, Adam) and not rule.bias_correction
    beta1, beta2 = (rule.beta1, rule.beta2) if isinstance(rule, Adam) else (0.9, 0.999)
    rates = rate * np.sqrt(1 - beta2**steps) / (1 - beta1**steps)
    other = e.after(learning_rate=float(rates[0])) if applies else e.after()
    at = farthest(e.after(), other)
    return Trap(
        "Adam does not correct its bias",
        applies,
        "its means start at 0 and nothing makes up for that" if applies else "the rule is not Adam without correction",
        "give the table a learning-rate tag and send lr * sqrt(1 - beta2**t) / (1 - beta1**t) at step t = 1, 2, ...",
        {"rates to send": rates, "row after": e.after()[0][at], "with the first of these rates": other[0][at]},
        _PROTO,
    )


def no_epsilon(e: Excerpt) -> Trap:
    """TPU Adagrad divides by the root of the accumulator, whatever it is."""
    rule = e.table.rule
    applies = isinstance(rule, Adagrad) and (rule.epsilon_place == "none" or rule.epsilon == 0)
    other = e.after(rule=Adagrad(epsilon=1e-7)) if applies else e.after()
    at, numbers = farthest(e.after(), other), {}
    if applies:
        empty = dataclasses.replace(e.state, slots=((jnp.zeros_like(e.state.tables[0]),),))
        zero = dataclasses.replace(e, state=empty).after([np.zeros_like(g) for g in e.gradients])
        numbers = {"a row whose accumulator is 0, after a gradient of 0": zero[0][0]}
    return Trap(
        "Adagrad has no epsilon",
        applies,
        "only the start of the accumulators keeps the first steps finite"
        if applies
        else "the rule is not that Adagrad",
        "keep the accumulators above 0, from their start and in whatever is loaded",
        {"row after": e.after()[0][at], "with Keras's epsilon": other[0][at], **numbers},
        _PROTO,
    )


def zero_is_a_touch(e: Excerpt) -> Trap:
    """A row that was looked up is updated, also by a gradient of 0."""
    zero = e.after([np.zeros_like(g) for g in e.gradients])
    touched = len(e.rows) - e.untouched
    applies = touched > 0 and differ(tuple_of(zero, touched), tuple_of(e.before, touched))
    at = farthest(tuple_of(zero, touched), tuple_of(e.before, touched)) if touched else 0
    name = type(e.table.rule).__name__
    return Trap(
        "A sum of 0 is a touch",
        applies,
        f"{name} moves rows, or what it keeps for them, by a gradient of 0; not looking a row up is something else"
        if applies
        else f"{name} leaves rows as they are where the gradient is 0",
        "do not look up what is not to move; zeros for gradients that are missing are no way to leave rows alone",
        {"row before": e.before[0][at], "looked up, gradient 0": zero[0][at]}
        | {f"slot {n} then": s[at] for n, s in zip(e.table.rule.slots, zero[1], strict=True)},
        "the hidden slot gradient_accumulators starts at the least denormal, which is not 0 (TensorFlow, 2026)",
    )


def laziness(e: Excerpt) -> Trap:
    """Lazy rules leave rows alone that nobody looks up; the papers' rules do not."""
    rule = e.table.rule
    can = "lazy" in {f.name for f in dataclasses.fields(rule)}
    change: dict[str, Any] = {"lazy": not rule.lazy}
    other = e.after(rule=dataclasses.replace(rule, **change), accumulate=True) if can else e.after()
    applies = can and e.untouched
    return Trap(
        "Rows that nobody looks up",
        applies,
        f"this rule is {'lazy: they stand still' if rule.lazy else 'not lazy: they move by a gradient of 0'}"
        if applies
        else "the rule has no choice, or every row was looked up",
        f"build the rule with lazy={not rule.lazy}",
        {"such a row before": e.before[0][-1], "after": e.after()[0][-1], "the other way": other[0][-1]},
        "AdamParameters.use_non_lazy_adam, LionParameters.use_non_lazy_lion, " + _PROTO,
    )


def decay_of_touched_rows(e: Excerpt) -> Trap:
    """Weight decay reaches a row only when it is looked up."""
    applies = bool(e.table.weight_decay) and e.untouched and bool(e.table.rule.lazy)
    without = e.after(weight_decay=0.0)
    at = farthest((e.after()[0], ()), (without[0], ()))
    return Trap(
        "Weights decay only where they are looked up",
        applies,
        "a rare row keeps its weights however long it is not seen" if applies else "there is no decay, or no such row",
        "scale all tables now and then yourself, or let the loss pull on the rows",
        {
            "touched row after": e.after()[0][at],
            "without decay": without[0][at],
            "untouched row before": e.before[0][-1],
            "after": e.after()[0][-1],
        },
        "weight_decay_factor, " + _PROTO,
    )


def quantized_forward(e: Excerpt) -> Trap:
    """What is looked up is coarse, what is stored and updated is not."""
    levels = e.table.levels
    seen = quantize(e.before[0], *levels) if levels else e.before[0]
    at = farthest((e.before[0], ()), (seen, ()))
    return Trap(
        "Quantization is for lookups only",
        levels is not None,
        "the model sees rounded rows, gradients pass as if it did not" if levels else "the table is not quantized",
        "round the rows yourself when you serve them",
        {"row as it is stored": e.before[0][at], "as the model sees it": seen[at]},
        "SimulatedQuantization, " + _PROTO,
    )


def tuple_of(row: tuple[np.ndarray, tuple[np.ndarray, ...]], n: int) -> tuple[np.ndarray, tuple[np.ndarray, ...]]:
    """The first n rows of weights and slots."""
    return row[0][:n], tuple(s[:n] for s in row[1])


RULE_TRAPS = (
    ftrl_forgets, no_bias_correction, no_epsilon, zero_is_a_touch, laziness, decay_of_touched_rows, quantized_forward,
)  # fmt: skip
