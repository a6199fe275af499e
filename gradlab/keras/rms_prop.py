"""Keras's RMSprop."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from .. import rules
from .._base.arrays import Array, namespace
from ..rules import dense_and_sparse, pure
from ..rules.rms_prop import Order
from ..rules.rule import Rule, SizedRule, Slots
from ..train.kernel_order import with_order
from ..train.variable import Variable as Variable
from .optimizer import Optimizer, own_argument
from .sgd import has_momentum
from .unsummed import choose_every_row, warn_of_unsummed
from .versions import Declaration, Name, Strict, Version, version_of


class _WithoutMomentum(SizedRule):
    """A rule of momentum 0, which keeps no slot for it."""

    def step_sized(
        self, w: Array, slots: Slots, g: Array, size: Array, lr: Array
    ) -> tuple[Array, Slots]:
        rms, *mg = slots
        zero = namespace(w).zeros_like(w)
        w, (rms, _, *mg) = super().step_sized(w, (rms, zero, *mg), g, size, lr)
        return w, (rms, *mg)


@dataclass(frozen=True)
class _Plain(_WithoutMomentum, rules.RMSProp):
    order: Order = "keras"
    epsilon_place: Literal["inside", "outside"] = "outside"
    slots: ClassVar[dict[str, float | str]] = {"rms": "initial_rms"}


@dataclass(frozen=True)
class _Centered(_WithoutMomentum, rules.CenteredRMSProp):
    order: Order = "keras"
    epsilon_place: Literal["inside", "outside"] = "outside"
    slots: ClassVar[dict[str, float | str]] = {"rms": "initial_rms", "mg": 0.0}


def _choose_rule(version: Version, arguments: Mapping[str, Any]) -> type[Rule]:
    if has_momentum(arguments):
        return rules.CenteredRMSProp if arguments["centered"] else rules.RMSProp
    return _Centered if arguments["centered"] else _Plain


def _version_fields(version: Version) -> dict[str, Any]:
    fields: dict[str, Any] = {"initial_rms": 0.0}
    if version.engine == "newer":
        fields["order"] = "sparse" if version.name == "rewrite" else "keras"
        fields["epsilon_place"] = "inside"
    return fields


def _choose_sparse(version: Version, rule: type[Rule]) -> pure.Sparse:
    if version.engine == "newer":
        return choose_every_row(version, rule)
    return (
        dense_and_sparse.every_row if issubclass(rule, _WithoutMomentum) else with_order("sparse")
    )


_NEWER_NAMES = {"rms": "velocity", "mg": "average_gradient"}


class RMSprop(Optimizer):
    """RMSprop as Keras has it: with momentum or without, centered or not.

        rms = rho * rms + (1 - rho) * g * g
        mg = rho * mg + (1 - rho) * g                              centered; else mg is 0 below
        root = sqrt(rms - mg * mg + epsilon)
               sqrt(rms - mg * mg) + epsilon                       "tf2.3" and "legacy" without momentum
        step = momentum * step + g * lr_t / root                   with momentum, else g * lr_t / root
        w = w - step

    Args:
        learning_rate: number, scalar array, Variable, schedule, or function, as of `Adagrad`.
        rho: share of the old mean in the new one; in "tf2.3" and "legacy" also an array, a Variable
            or a function, and a number becomes a float32 variable at the first use.
        momentum: share of the old step, likewise; in "tf2.3" and "legacy" a number in [0, 1].
            Setting it later acts only if it was not 0 at first.
        epsilon: number beside the variance. None and 0 become `gl.keras.epsilon()` in "tf2.3" and
            "legacy", with a warning for 0.
        centered: divide by the standard deviation of the gradient.
        name: as of `Adagrad`.
        semantics: as of `Adagrad`.
        strict: as of `Adagrad`.
        kwargs: as of `Adagrad`; ema_overwrite_frequency is 100 in "rewrite" unless it is given.

    IndexedSlices: in "tf2.3" and "legacy" with momentum other rows keep everything. Else their
    means decay, and with momentum they move on. Slices of one row are summed first; in "keras3" rms
    gets the sum of their squares instead (a warning says so). Shapes: w, g, rms, step, mg (...);
    dtypes float16, bfloat16, float32, float64.

    Raises:
        ValueError: momentum outside [0, 1] in "tf2.3" and "legacy"; limits that exclude each other.
        TypeError: unknown arguments.

    Results agree with Keras's within a few units in the last place.

    Source: `tf.keras.optimizers.RMSprop`, TensorFlow 2.3 (2020), tf_keras 2.21 and Keras 3.15
    (2026); Hinton, "Neural Networks for Machine Learning", lecture 6 (2012); Graves, "Generating
    Sequences With Recurrent Neural Networks" (2013).

    >>> v = Variable([1.0], name="v")
    >>> opt = RMSprop(0.25, rho=0.75)
    >>> opt.apply_gradients([([4.0], v)]).numpy().item()
    1
    >>> round(v.numpy().item(), 4), opt.get_slot(v, "rms").numpy().tolist()
    (0.5, [4.0])
    """

    _declaration = Declaration(
        choose_rule=_choose_rule,
        fields={"rho": "rho", "momentum": "momentum", "epsilon": "epsilon"},
        version_fields=_version_fields,
        shares={"share": "rho"},
        hyperparameters=("rho", "momentum"),
        slots={"rewrite": _NEWER_NAMES, "keras3": _NEWER_NAMES},
        choose_sparse=_choose_sparse,
        inspect_gradient=warn_of_unsummed,
        needs_count=False,
    )

    def __init__(
        self,
        learning_rate: Any = 0.001,
        rho: Any = 0.9,
        momentum: Any = 0.0,
        epsilon: float | None = 1e-7,
        centered: bool = False,
        name: str | None = "RMSprop",
        semantics: Name = "legacy",
        *,
        strict: Strict = None,
        **kwargs: Any,
    ) -> None:
        version = version_of(semantics)
        is_number = isinstance(momentum, int | float)
        if version.engine == "legacy" and is_number and not 0 <= momentum <= 1:
            raise ValueError(
                "`momentum` must be between [0, 1]. Received: "
                f"momentum={momentum!r} (of type {type(momentum)})."
            )
        if version.name == "rewrite":
            kwargs.setdefault("ema_overwrite_frequency", 100)
        own = {"rho": rho, "momentum": momentum, "epsilon": epsilon, "centered": centered}
        super().__init__(name, semantics, strict, learning_rate, own, kwargs)

    rho = own_argument("rho", "The share of the old mean in the new one.")
    momentum = own_argument("momentum", "The share of the old step in the new one.")
    epsilon = own_argument("epsilon", "The number beside the variance; it may be set.")
    centered = own_argument("centered", "Whether the variance counts, not the mean square.")
