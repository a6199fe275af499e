"""Keras's Adagrad."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, Self, overload

import numpy as np

from .. import rules
from .._base.arrays import Array, namespace, take_rows
from .._base.gradients import Gradient
from .._base.slices import IndexedSlices
from ..errors import KerasWarning, warn
from ..rules import apply, pure
from ..rules.rule import Slots
from ..train.update import Look
from ..train.variable import Variable
from .backend import epsilon as default_epsilon
from .built import Keras3, Rewrite
from .clips import has_duplicates
from .optimizer import Optimizer
from .semantics import Name
from .semantics import semantics as version_of
from .settings import Strict


class Adagrad(Optimizer):
    """Adagrad as Keras has it: an accumulator that need not start at 0, and an epsilon.

        accumulator = accumulator + g * g
        w = w - (g * lr_t) / (sqrt(accumulator) + epsilon)      "tf2.3", "legacy"
        w = w - (g * lr_t) / sqrt(accumulator + epsilon)        "rewrite", "keras3"
        lr_t = learning_rate / (1 + decay * iterations), the schedule's rate at `iterations`, or a function's

    Args:
        learning_rate: number, scalar array, Variable, schedule, or function without arguments. A number becomes a
            float32 variable at the first use, so a float64 weight sees 0.1 as 0.10000000149. The sign is not checked.
        initial_accumulator_value: >= 0 (ValueError), in "keras3" and "rewrite" any number.
        epsilon: None and 0 become `gl.keras.epsilon()` in "tf2.3" and "legacy", with a warning for 0.
        name: first part of the names of weights; None or "" make a unique one.
        semantics: which Keras: "tf2.3" (TensorFlow 2.2 and 2.3), "legacy" (`tf.keras.optimizers.legacy`, from 2.4 on),
            "rewrite" (TensorFlow 2.11 to 2.15), "keras3".
        strict: "tf" leaves done what an error comes too late for, as Keras does.
        kwargs: clipnorm, clipvalue, global_clipnorm (not in "tf2.3"), lr, decay; in "legacy" gradient_aggregator and
            gradient_transformers, functions from pairs to pairs; in "rewrite" and "keras3" weight_decay, use_ema,
            ema_momentum, ema_overwrite_frequency; in "keras3" loss_scale_factor and gradient_accumulation_steps; in
            "rewrite" jit_compile, without effect.

    IndexedSlices: slices of one row are summed first, other rows keep weights and accumulator; in "keras3" the
    accumulator gets the sum of their squares instead (a warning says so). Shapes: w, g, accumulator (...); dtypes
    float16, bfloat16, float32, float64, complex64. Which limits clip, when, and in which order: `gl.keras.SEMANTICS`.
    An accumulator that overflows freezes its weight; of that a warning tells, for NumPy arrays only: a look at JAX's
    would wait for the device at every step.

    With semantics="keras3" it is an `AdagradKeras3`, which has `build`, `apply`, `variables` as a property,
    `exclude_from_weight_decay`, `finalize_variable_values`, and `scale_loss`; with "rewrite" an `AdagradRewrite`.

    Raises ValueError for negative arguments and for limits that exclude each other, TypeError for unknown ones.
    Source: `tf.keras.optimizers.Adagrad`, TensorFlow 2.3 (2020), tf_keras 2.21 and Keras 3.15 (2026); Duchi, Hazan &
    Singer, "Adaptive Subgradient Methods for Online Learning and Stochastic Optimization" (2011).

    >>> v = Variable([1.0, -2.0], name="v")
    >>> opt = Adagrad(0.1, initial_accumulator_value=9.0)
    >>> opt.apply_gradients([(np.float32([4.0, 0.0]), v)]).numpy().item()
    1
    >>> v.numpy().tolist(), opt.get_slot(v, "accumulator").numpy().tolist()
    ([0.9200000166893005, -2.0], [25.0, 9.0])
    >>> [w.name for w in opt.weights]
    ['Adagrad/iter:0', 'Adagrad/v/accumulator:0']
    """

    _rebuilds_schedules = False

    if TYPE_CHECKING:  # pyright reads the class from here, mypy from `__init__`

        @overload
        def __new__(cls, *args: Any, semantics: Literal["keras3"], **kwargs: Any) -> AdagradKeras3: ...
        @overload
        def __new__(cls, *args: Any, semantics: Literal["rewrite"], **kwargs: Any) -> AdagradRewrite: ...
        @overload
        def __new__(cls, *args: Any, **kwargs: Any) -> Self: ...

        def __new__(cls, *args: Any, **kwargs: Any) -> Any: ...

    @overload
    def __init__(  # type: ignore[misc]  # the class changes in it
        self: AdagradKeras3,
        learning_rate: Any = ...,
        initial_accumulator_value: float = ...,
        epsilon: float | None = ...,
        name: str | None = ...,
        *,
        semantics: Literal["keras3"],
        strict: Strict = ...,
        **kwargs: Any,
    ) -> None: ...

    @overload
    def __init__(  # type: ignore[misc]  # the class changes in it
        self: AdagradRewrite,
        learning_rate: Any = ...,
        initial_accumulator_value: float = ...,
        epsilon: float | None = ...,
        name: str | None = ...,
        *,
        semantics: Literal["rewrite"],
        strict: Strict = ...,
        **kwargs: Any,
    ) -> None: ...

    @overload
    def __init__(
        self,
        learning_rate: Any = ...,
        initial_accumulator_value: float = ...,
        epsilon: float | None = ...,
        name: str | None = ...,
        semantics: Name = ...,
        *,
        strict: Strict = ...,
        **kwargs: Any,
    ) -> None: ...

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
        lazy = version_of(semantics).lazy
        if lazy and initial_accumulator_value < 0:
            raise ValueError(f"initial_accumulator_value must be >= 0, got {initial_accumulator_value!r}")
        super().__init__(name, semantics, strict, {"learning_rate": learning_rate}, kwargs)
        if lazy and epsilon == 0:
            warn(
                f"gl.keras.Adagrad(semantics={semantics!r}) replaces epsilon 0 by {default_epsilon()}, as Keras does; "
                "give a tiny number instead",
                KerasWarning,
            )
        self._initial_accumulator_value = initial_accumulator_value
        self.epsilon = (epsilon or default_epsilon()) if lazy else epsilon

    def _rule(self) -> rules.Adagrad:
        if self.epsilon is None:
            raise ValueError(
                f"epsilon is None, for which semantics={self._version.name!r} has no default; give a number"
            )
        start = self._initial_accumulator_value
        start = float(np.float32(start)) if self._version.name == "keras3" else start  # for every dtype
        return rules.Adagrad(start, self.epsilon, self._version.epsilon_place)

    def _sparse(self) -> pure.Sparse:
        return apply.rows if self._version.sums_duplicates else unsummed

    def _look(self, v: Variable, g: Gradient) -> Look:
        if not self._version.sums_duplicates and has_duplicates(g):
            warn(
                f"Keras 3 does not sum slices of one row: the accumulator of {v.name} gets the sum of their squares",
                KerasWarning,
            )
        return partial(_warn_of_frozen, v)

    def set_weights(self, weights: Any) -> None:
        """Set the weights as `Optimizer` does; to a list one too short an iteration count of 0 is added.

        >>> v = Variable([1.0], name="v")
        >>> opt = Adagrad()
        >>> opt.apply_gradients([(np.float32([0.0]), v)]).numpy().item()
        1
        >>> opt.set_weights([np.float32([4.0])])
        >>> [w.tolist() for w in opt.get_weights()]
        [0, [4.0]]
        """
        weights = list(weights)
        short = self._version.lazy and len(weights) + 1 == len(self._kept.weights)
        super().set_weights([np.int64(0), *weights] if short else weights)

    def _own_config(self) -> dict[str, Any]:
        return {"initial_accumulator_value": self._initial_accumulator_value, "epsilon": self.epsilon}

    @classmethod
    def from_config(
        cls, config: dict[str, Any], custom_objects: Mapping[str, Any] | None = None, **changes: Any
    ) -> Self:
        config.setdefault("initial_accumulator_value", 0.1)
        return super().from_config(config, custom_objects, **changes)


class AdagradKeras3(Keras3, Adagrad):
    """`Adagrad` with what Keras 3 adds: the class of `Adagrad(semantics="keras3")`."""


class AdagradRewrite(Rewrite, Adagrad):
    """`Adagrad` with what the rewrite adds: the class of `Adagrad(semantics="rewrite")`."""


def _warn_of_frozen(v: Variable, slots: Slots, rows: Any, new: Slots) -> None:
    if not _any_infinite(new[0]):
        return
    frozen = int(np.count_nonzero(np.isinf(new[0]) & ~np.isinf(slots[0][rows])))
    if frozen:
        warn(
            f"{frozen} entries of the accumulator of {v.name} became infinite: the square of a gradient overflows "
            f"{v.dtype}. These weights will never move again",
            KerasWarning,
        )


def _any_infinite(x: Array) -> bool:
    """One quick pass for the usual case; a sum that overflows or is NaN takes a closer look."""
    with np.errstate(all="ignore"):
        return not np.isfinite(x.sum()) and bool(np.isinf(x).any())


_SCATTER = rules.StochasticGradientDescent()


def unsummed(rule: rules.Adagrad, w: Array, slots: Slots, g: IndexedSlices, lr: Any) -> tuple[Array, Slots]:
    """Keras 3's way with slices: all square by themselves into the accumulator, then all move their row.

        accumulator[i_k] += g_k * g_k for every k, then w[i_k] -= (g_k * lr) / sqrt(accumulator[i_k] + epsilon)

    >>> g = IndexedSlices(np.ones((2, 1)), np.array([0, 0]), (1, 1))
    >>> w, (accumulator,) = unsummed(rules.Adagrad(0.0, 0.0, "inside"), np.zeros((1, 1)), (np.zeros((1, 1)),), g, 1.0)
    >>> accumulator.tolist(), w.round(3).tolist()
    ([[2.0]], [[-1.414]])
    """
    rule, lr = rule._in(w.dtype), namespace(w, lr).asarray(lr, w.dtype)
    accumulator, _ = apply.each(_SCATTER, slots[0], (), g.with_values(g.values * g.values), -1.0)
    steps = rule.scaled(g.values, lr, take_rows(accumulator, g.indices))
    return apply.each(_SCATTER, w, (), g.with_values(steps), 1.0)[0], (accumulator,)


unsummed.row_local = True  # type: ignore[attr-defined]  # so large tables are updated in place
