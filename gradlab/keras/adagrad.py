"""Keras's Adagrad."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, Self

import numpy as np

from .. import rules
from .._base.arrays import CACHED, Array, is_jax, namespace, take_rows
from .._base.gradient_types import Gradient
from .._base.slices import IndexedSlices
from ..errors import KerasWarning, warn
from ..rules import dense_and_sparse
from ..rules.rule import Rule, Slots
from ..train.update import InspectSlots
from ..train.variable import Variable
from .clips import has_duplicates
from .optimizer import Optimizer, own_argument
from .versions import Declaration, Name, Strict

_SCATTER = rules.StochasticGradientDescent()


def step_unsummed(
    rule: rules.Adagrad, w: Array, slots: Slots, g: IndexedSlices, lr: Any
) -> tuple[Array, Slots]:
    """Step as Keras 3 does with slices: all square by themselves into the accumulator, then all move their row.

        accumulator[i_k] += g_k * g_k for every k, then w[i_k] -= (g_k * lr) / sqrt(accumulator[i_k] + epsilon)

    >>> g = IndexedSlices(np.ones((2, 1)), np.array([0, 0]), (1, 1))
    >>> rule = rules.Adagrad(0.0, 0.0, "inside")
    >>> w, (accumulator,) = step_unsummed(rule, np.zeros((1, 1)), (np.zeros((1, 1)),), g, 1.0)
    >>> accumulator.tolist(), w.round(3).tolist()
    ([[2.0]], [[-1.414]])
    """
    rule = rule._in(w.dtype)
    lr = namespace(w, lr).asarray(lr, w.dtype)
    squares = g.with_values(g.values * g.values)
    accumulator, _ = dense_and_sparse.each(_SCATTER, slots[0], (), squares, -1.0)
    steps = rule.scaled(g.values, lr, take_rows(accumulator, g.indices))
    w, _ = dense_and_sparse.each(_SCATTER, w, (), g.with_values(steps), 1.0)
    return w, (accumulator,)


step_unsummed.row_local = True  # type: ignore[attr-defined]  # so large tables are updated in place


def _inspect_gradient(engine: Any, rule: Rule, v: Variable, g: Gradient) -> InspectSlots | None:
    if not engine.version.sums_duplicates and has_duplicates(g):
        warn(
            f"Keras 3 does not sum slices of one row: the accumulator of {v.name} gets the sum of "
            "their squares",
            KerasWarning,
        )
    if _cannot_overflow(engine.weights.slots_of(v).get("accumulator"), v, g):
        return None
    return partial(_warn_of_frozen, v)


def _cannot_overflow(accumulator: Variable | None, v: Variable, g: Gradient) -> bool:
    """Tell whether one look at a large gradient shows that every new accumulator is finite.

    A step whose slots are inspected before they are stored needs new memory for them, which costs a
    large step a third of its time. Small arrays aren't worth the look.
    """
    if accumulator is None or isinstance(g, IndexedSlices) or v._value.size <= CACHED:
        return False
    old: Any = accumulator._buffer.array
    if is_jax(old) or is_jax(g) or v.dtype not in (np.float32, np.float64) or g.dtype != v.dtype:
        return False
    with np.errstate(all="ignore"):
        # Accumulators and squares aren't negative, so each is at most their sum.
        return bool(np.isfinite(old.sum() + np.vdot(g, g)))


def _warn_of_frozen(v: Variable, slots: Slots, rows: Any, new: Slots) -> None:
    if not _has_infinite(new[0]):
        return
    frozen = int(np.count_nonzero(np.isinf(new[0]) & ~np.isinf(slots[0][rows])))
    if frozen:
        warn(
            f"{frozen} entries of the accumulator of {v.name} became infinite: the square of a "
            f"gradient overflows {v.dtype}. These weights will never move again",
            KerasWarning,
        )


def _has_infinite(x: Array) -> bool:
    """Look once in the usual case; a sum that overflows or is NaN takes a closer look."""
    with np.errstate(all="ignore"):
        return not np.isfinite(x.sum()) and bool(np.isinf(x).any())


class Adagrad(Optimizer):
    """Adagrad as Keras has it: an accumulator that need not start at 0, and an epsilon.

        accumulator = accumulator + g * g
        w = w - (g * lr_t) / (sqrt(accumulator) + epsilon)      "tf2.3", "legacy"
        w = w - (g * lr_t) / sqrt(accumulator + epsilon)        "rewrite", "keras3"
        lr_t = learning_rate / (1 + decay * iterations), the schedule's rate at `iterations`, or a function's

    Args:
        learning_rate: number, scalar array, Variable, schedule, or function without arguments. A
            number becomes a float32 variable at the first use, so a float64 weight sees 0.1 as
            0.10000000149. The sign is not checked.
        initial_accumulator_value: >= 0 (ValueError), in "keras3" and "rewrite" any number.
        epsilon: None and 0 become `gl.keras.epsilon()` in "tf2.3" and "legacy", with a warning for
            0.
        name: first part of the names of weights; None or "" make a unique one.
        semantics: which Keras: "tf2.3" (TensorFlow 2.2 and 2.3), "legacy"
            (`tf.keras.optimizers.legacy`, from 2.4 on), "rewrite" (TensorFlow 2.11 to 2.15),
            "keras3".
        strict: "tf" leaves done what an error comes too late for, as Keras does.
        kwargs: clipnorm, clipvalue, global_clipnorm (not in "tf2.3"), lr, decay; in "legacy"
            gradient_aggregator and gradient_transformers, functions from pairs to pairs; in
            "rewrite" and "keras3" weight_decay, use_ema, ema_momentum, ema_overwrite_frequency; in
            "keras3" loss_scale_factor and gradient_accumulation_steps; in "rewrite" jit_compile,
            without effect.

    IndexedSlices: slices of one row are summed first, other rows keep weights and accumulator; in
    "keras3" the accumulator gets the sum of their squares instead (a warning says so). Shapes: w,
    g, accumulator (...); dtypes float16, bfloat16, float32, float64, complex64. Which limits clip,
    when, and in which order: `gl.keras.VERSIONS`. An accumulator that overflows freezes its weight;
    of that a warning tells, for NumPy arrays only: a look at JAX's would wait for the device at
    every step.

    Raises ValueError for negative arguments and for limits that exclude each other, TypeError for
    unknown ones.

    Source: `tf.keras.optimizers.Adagrad`, TensorFlow 2.3 (2020), tf_keras 2.21 and Keras 3.15
    (2026); Duchi, Hazan & Singer, "Adaptive Subgradient Methods for Online Learning and Stochastic
    Optimization" (2011).

    >>> v = Variable([1.0, -2.0], name="v")
    >>> opt = Adagrad(0.1, initial_accumulator_value=9.0)
    >>> opt.apply_gradients([(np.float32([4.0, 0.0]), v)]).numpy().item()
    1
    >>> v.numpy().tolist(), opt.get_slot(v, "accumulator").numpy().tolist()
    ([0.9200000166893005, -2.0], [25.0, 9.0])
    >>> [w.name for w in opt.weights]
    ['Adagrad/iter:0', 'Adagrad/v/accumulator:0']
    """

    _declaration = Declaration(
        choose_rule=lambda version, arguments: rules.Adagrad,
        fields={"initial_accumulator_value": "initial_accumulator_value", "epsilon": "epsilon"},
        version_fields=lambda version: {"epsilon_place": version.epsilon_place},
        nonnegative=("initial_accumulator_value",),
        choose_sparse=lambda version, rule: (
            dense_and_sparse.rows if version.sums_duplicates else step_unsummed
        ),
        inspect_gradient=_inspect_gradient,
        rebuilds_schedules=False,
        needs_count=False,
    )

    def __init__(
        self,
        learning_rate: Any = 0.001,
        initial_accumulator_value: float = 0.1,
        epsilon: float | None = 1e-7,
        name: str | None = "Adagrad",
        semantics: Name = "legacy",
        *,
        strict: Strict = None,
        **kwargs: Any,
    ) -> None:
        own = {"initial_accumulator_value": initial_accumulator_value, "epsilon": epsilon}
        super().__init__(name, semantics, strict, learning_rate, own, kwargs)

    epsilon = own_argument("epsilon", "The number beside the accumulator; it may be set.")

    @classmethod
    def from_config(
        cls, config: dict[str, Any], custom_objects: Mapping[str, Any] | None = None, **changes: Any
    ) -> Self:
        config.setdefault("initial_accumulator_value", 0.1)
        return super().from_config(config, custom_objects, **changes)
