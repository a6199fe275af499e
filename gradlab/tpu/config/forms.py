"""The optimizers that a configuration can name: which rule each is, its slots, and which field is which."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from ... import rules
from ...rules import Rule


class Either(NamedTuple):
    """A field of a rule that the message has as a flag: its value with the flag off, and on."""

    field: str
    off: Any
    on: Any


@dataclass(frozen=True)
class Form:
    """One optimizer: its message, its rule, which field is which, and what the message implies.

    `free` are fields of the rule that the message cannot say, and need not: initial values come with the slots, orders
    of operations change last bits only, and some name a reading of what is not public.
    """

    message: str
    rule: type[Rule]
    slots: tuple[str, ...] = ()
    fields: Mapping[str, str | Either] = dataclasses.field(default_factory=dict)
    implied: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    free: tuple[str, ...] = ("initial_accumulator_value", "order")


def _same(*names: str) -> dict[str, str | Either]:
    return {n: n for n in names}


_L1_L2: dict[str, str | Either] = {"l1": "l1_regularization_strength", "l2": "l2_regularization_strength"}

FORMS = (
    Form("stochastic_gradient_descent", rules.StochasticGradientDescent),
    Form(
        "adagrad",
        rules.Adagrad,
        ("accumulators",),
        implied={"epsilon": 0.0, "epsilon_place": "none", "update_slots": True},
    ),
    Form(
        "adagrad_momentum",
        rules.AdagradMomentum,
        ("accumulators", "momenta"),
        _same("momentum", "use_nesterov", "exponent", "beta2", "epsilon"),
        free=("initial_accumulator_value", "initial_momentum_value"),
    ),
    Form(
        "bounded_adagrad",
        rules.BoundedAdagrad,
        ("accumulators",),
        _same("update_accumulator_first", "max_var_update", "max_accumulator"),
        free=("initial_accumulator_value", "bounded"),
    ),
    Form(
        "frequency_aware_adagrad",
        rules.FrequencyAwareAdagrad,
        ("accumulators", "counters"),
        _same(
            "l1_regularization_strength",
            "l2_regularization_strength",
            "max_lr_multiplier",
            "probability_exponent",
            "accumulator_decay",
            "initial_accumulator_value",
        ),
        free=("step_counter",),
    ),
    Form(
        "ftrl",
        rules.Ftrl,
        ("accumulators", "linears"),
        _same("l1", "l2", "lr_power", "beta", "multiply_linear_by_lr"),
        {"l2_shrinkage": 0.0, "order": "sparse"},
    ),
    Form(
        "adam",
        rules.Adam,
        ("momenta", "velocities"),
        {
            **_same("beta1", "beta2", "epsilon"),
            "use_non_lazy_adam": Either("lazy", True, False),
            "use_sum_inside_sqrt": Either("epsilon_place", "outside", "inside"),
        },
        {"bias_correction": False, "use_nesterov": False, "order": "sparse"},
        free=("order", "beta1_power", "beta2_power"),
    ),
    Form("momentum", rules.Momentum, ("momenta",), _same("momentum", "use_nesterov")),
    Form(
        "lion",
        rules.Lion,
        ("momenta",),
        {**_same("beta1", "beta2"), "use_non_lazy_lion": Either("lazy", True, False)},
    ),
    Form(
        "rms_prop",
        rules.RMSProp,
        ("ms", "mom"),
        _same("rho", "momentum", "epsilon"),
        {"initial_rms": 0.0},
        free=("initial_rms", "order"),
    ),
    Form(
        "centered_rms_prop",
        rules.CenteredRMSProp,
        ("ms", "mom", "mg"),
        _same("rho", "momentum", "epsilon"),
        {"initial_rms": 0.0},
        free=("initial_rms", "order"),
    ),
    Form(
        "mdl_adagrad_light",
        rules.MdlAdagradLight,
        ("accumulators", "weights", "benefits"),
        _same(
            "l2",
            "lr_power",
            "min_servable_mdl_benefit",
            "mdl_mix_in_margin",
            "mdl_benefit_rampup_coeff",
            "mdl_min_weight",
            "benefit_revisit_scale",
            "max_event_benefit",
            "max_total_benefit",
            "mdl_hard_limit",
            "hard_limit_min_benefit",
            "mdl_regularize",
        ),
        free=("initial_accumulator_value", "event_benefit"),
    ),
    Form("adadelta", rules.Adadelta, ("accumulators", "updates"), _same("rho", "epsilon")),
    Form("proximal_adagrad", rules.ProximalAdagrad, ("accumulators",), _L1_L2),
    Form("online_yogi", rules.OnlineYogi, ("vs", "linears"), _same("l1", "l2", "beta2")),
    Form("proximal_yogi", rules.ProximalYogi, ("v", "m"), _same("l1", "l2", "beta1", "beta2", "epsilon")),
    Form(
        "frequency_estimator",
        rules.FrequencyEstimator,
        ("last_hit_step",),
        _same("tau", "max_delta", "outlier_threshold", "weight_exponent"),
    ),
    Form("user_defined_program", rules.UserDefined),
    Form("assign", rules.Assign),
)
BY_MESSAGE = {f.message: f for f in FORMS}
BY_RULE = {f.rule: f for f in FORMS}
