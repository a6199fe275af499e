"""Keras's Muon."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import rules
from .._base.arrays import Array
from .._base.gradient_types import Gradient
from ..errors import InvalidArgumentError
from ..rules.rule import Rule, Shared, Slots, float32
from ..train.variable import Variable as Variable
from .adam import powers_of_betas
from .optimizer import Optimizer, own_argument
from .unsummed import choose_every_row, warn_of_unsummed
from .versions import Declaration, Name, Strict

_EMBEDDINGS = "(?i)embedding"


@dataclass(frozen=True)
class MuonAdam(rules.Adam):
    """Adam for the variables that Muon leaves to it, at a share of the learning rate."""

    lr_ratio: float = 1.0

    def step_sized(
        self, w: Array, slots: Slots, g: Array, size: Array, lr: Array
    ) -> tuple[Array, Slots]:
        lr = (float32(lr) * float32(self.lr_ratio)).astype(w.dtype)
        return super().step_sized(w, slots, g, size, lr)


def _argument_fields(arguments: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the fields that are made of several arguments: the rule of other variables, and which."""
    excluded = tuple(arguments["exclude_layers"])
    if arguments["exclude_embeddings"]:
        excluded = (*excluded, _EMBEDDINGS)
    beta1 = arguments["adam_beta_1"]
    beta2 = arguments["adam_beta_2"]
    adam = MuonAdam(
        beta1=float(np.float32(beta1)),
        beta2=float(np.float32(beta2)),
        epsilon=arguments["epsilon"],
        share1=1 - beta1,
        share2=1 - beta2,
        lr_ratio=arguments["adam_lr_ratio"],
    )
    names = ("muon_a", "muon_b", "muon_c")
    coefficients = tuple(arguments[name] for name in names)
    return {"others": adam, "excluded": excluded, "coefficients": coefficients}


def _step_fields(rule: Any, steps: Any, dtype: Any) -> Shared:
    return powers_of_betas(rule.others, steps, dtype)


def _inspect_gradient(engine: Any, rule: Rule, v: Variable, g: Gradient) -> None:
    """Refuse what TensorFlow refuses to multiply in Keras: a float32 number with another dtype."""
    if not isinstance(rule, rules.Muon):
        warn_of_unsummed(engine, rule, v, g)
        return
    has_number = isinstance(engine.hyper["learning_rate"].value, Variable)
    is_too_wide = v.dtype == np.float64 and rule.rms_rate is not None
    if is_too_wide or (not has_number and v.dtype != np.float32):
        raise InvalidArgumentError(
            f"cannot compute Mul, as the learning rate is float32 and {v.name} is {v.dtype}: Muon of "
            "Keras 3 steps float32 matrices, float16 and bfloat16 with a number as learning rate, "
            "float64 with rms_rate=None besides. Name others in exclude_layers"
        )


class Muon(Optimizer):
    """Muon as Keras 3 has it: matrices move by a momentum with singular values of about 1.

        m = momentum * m + g
        ahead = g + momentum * m                                 nesterov; else m
        w = w - lr_t * orthogonalize(ahead) * sqrt(max(rows, columns)) * rms_rate

    Variables that aren't matrices, embeddings and the layers of `exclude_layers` make the step of
    `Adam` instead, at adam_lr_ratio * lr_t. See `gl.rules.Muon` for orthogonalize.

    Args:
        learning_rate: float, schedule, or function without arguments.
        adam_beta_1: as beta_1 of `Adam`.
        adam_beta_2: as beta_2 of `Adam`.
        adam_weight_decay: weight decay of Adam's variables, or None; `weight_decay` is that of the
            matrices.
        epsilon: as of `Adam`.
        weight_decay: number or None; every step takes this share, times the rate, of each weight.
        exclude_layers: regular expressions of the names of matrices that are Adam's.
        exclude_embeddings: a matrix whose name holds "embedding" is Adam's.
        muon_a: coefficient of x in the iteration of `gl.rules.muon.orthogonalize`.
        muon_b: that of its third power.
        muon_c: that of its fifth power.
        adam_lr_ratio: Adam's rate, as a share of the learning rate.
        momentum: the share of the old momentum that is kept.
        ns_steps: how often the iteration runs.
        nesterov: look ahead.
        rms_rate: the size of an entry of the step; None leaves it and the root out.
        name: as of `Adagrad`.
        semantics: "keras3"; older versions have no Muon.
        strict: as of `Adagrad`.
        kwargs: as of `Adagrad`.

    IndexedSlices are gradients of whole variables, 0 in other rows; slices of one row are summed,
    for Adam's v their squares. In the pure form the name of a weight is its path in the tree.
    Shapes: w, g, m (rows, columns), Adam's (...); dtypes float16, bfloat16, float32, float64. As in
    Keras on TensorFlow, matrices that aren't float32 need a number as learning rate, those of
    float64 also rms_rate=None.

    Raises:
        ValueError: another version; unknown arguments; limits that exclude each other.
        InvalidArgumentError: a step of a matrix of such a dtype.

    Source: `keras.optimizers.Muon`, Keras 3.15 (2026); Jordan et al., "Muon: An optimizer for
    hidden layers in neural networks" (2024); Liu et al., "Muon is Scalable for LLM Training"
    (2025).

    >>> w, bias = Variable([[0.0, 0.0], [0.0, 0.0]], name="w"), Variable([1.0], name="bias")
    >>> opt = Muon(0.5, rms_rate=None)
    >>> opt.apply_gradients([([[3.0, 0.0], [0.0, -4.0]], w), ([2.0], bias)]).numpy().item()
    1
    >>> w.numpy().round(2), bias.numpy().round(2)
    (array([[-0.36,  0.  ],
           [ 0.  ,  0.56]], dtype=float32), array([0.5], dtype=float32))
    >>> opt.get_slot_names()
    ['momentum', 'velocity']
    """

    _declaration = Declaration(
        choose_rule=lambda version, arguments: rules.Muon,
        fields={
            "momentum": "momentum",
            "use_nesterov": "nesterov",
            "steps": "ns_steps",
            "rms_rate": "rms_rate",
        },
        shares={"share": "momentum"},
        argument_fields=_argument_fields,
        step_fields=_step_fields,
        slots={"keras3": {"m": "momentum", "v": "velocity"}},
        slots_by_variable=lambda version: ("m", "v"),
        decay_arguments={MuonAdam: "adam_weight_decay"},
        only=("keras3",),
        choose_sparse=choose_every_row,
        inspect_gradient=_inspect_gradient,
    )

    def __init__(
        self,
        learning_rate: Any = 0.001,
        adam_beta_1: float = 0.9,
        adam_beta_2: float = 0.999,
        adam_weight_decay: float | None = 0.004,
        epsilon: float = 1e-7,
        weight_decay: float | None = 0.004,
        exclude_layers: Sequence[str] | None = None,
        exclude_embeddings: bool = True,
        muon_a: float = 3.4445,
        muon_b: float = -4.7750,
        muon_c: float = 2.0315,
        adam_lr_ratio: float = 1,
        momentum: float = 0.95,
        ns_steps: int = 5,
        nesterov: bool = True,
        rms_rate: float | None = 0.2,
        name: str | None = "Muon",
        semantics: Name = "keras3",
        *,
        strict: Strict = None,
        **kwargs: Any,
    ) -> None:
        own = {
            "adam_beta_1": adam_beta_1,
            "adam_beta_2": adam_beta_2,
            "epsilon": epsilon,
            "exclude_layers": exclude_layers or [],
            "muon_a": muon_a,
            "muon_b": muon_b,
            "muon_c": muon_c,
            "adam_lr_ratio": adam_lr_ratio,
            "momentum": momentum,
            "ns_steps": ns_steps,
            "nesterov": nesterov,
            "exclude_embeddings": exclude_embeddings,
            "adam_weight_decay": adam_weight_decay,
            "rms_rate": rms_rate,
        }
        kwargs["weight_decay"] = weight_decay
        super().__init__(name, semantics, strict, learning_rate, own, kwargs)

    adam_beta_1 = own_argument("adam_beta_1", "The share of the old mean in Adam's new one.")
    adam_beta_2 = own_argument("adam_beta_2", "The share of the old mean square in Adam's new one.")
    epsilon = own_argument("epsilon", "The number beside Adam's root.")
    exclude_layers = own_argument("exclude_layers", "Patterns of the names of Adam's matrices.")
    exclude_embeddings = own_argument("exclude_embeddings", "Whether embeddings are Adam's.")
    muon_a = own_argument("muon_a", "The first coefficient of the iteration.")
    muon_b = own_argument("muon_b", "The coefficient of its third power.")
    muon_c = own_argument("muon_c", "The coefficient of its fifth power.")
    adam_lr_ratio = own_argument("adam_lr_ratio", "Adam's share of the learning rate.")
    momentum = own_argument("momentum", "The share of the old momentum that is kept.")
    ns_steps = own_argument("ns_steps", "How often the iteration runs.")
    nesterov = own_argument("nesterov", "Whether the step looks ahead.")
    rms_rate = own_argument("rms_rate", "The size of an entry of the step.")
    adam_weight_decay = own_argument("adam_weight_decay", "The weight decay of Adam's variables.")
