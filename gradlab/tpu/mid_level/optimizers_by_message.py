"""The optimizers that the configuration knows and that no Python class of TensorFlow's gives."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ... import rules
from ...rules import Rule
from ..proto import OptimizationParameters
from .optimizer import Optimizer, Rate, Tags, positional


@positional()
@dataclass(frozen=True)
class Adadelta(Optimizer):
    """Steps as long as the last ones were, on average.

    The update is that of `gl.rules.Adadelta`; for the other arguments see `Optimizer`. Source: `AdadeltaParameters` in
    `optimization_parameters.proto`, TensorFlow 2.21 (2026).

    >>> Adadelta(1.0, rho=0.5).rule.rho
    0.5
    """

    learning_rate: Rate = 0.001
    rho: float = 0.95
    epsilon: float = 1e-8

    @property
    def rule(self) -> Rule:
        return rules.Adadelta(self.rho, self.epsilon)


@positional()
@dataclass(frozen=True)
class CenteredRMSProp(Optimizer):
    """RMSProp with the variance of the gradients in place of their mean square.

    The update is that of `gl.rules.CenteredRMSProp`, with all slots from 0; for the other arguments see `Optimizer`.
    Source: `CenteredRmsPropParameters` in `optimization_parameters.proto`, TensorFlow 2.21 (2026).

    >>> CenteredRMSProp().slot_names
    ('ms', 'mom', 'mg')
    """

    learning_rate: Rate = 0.001
    rho: float = 0.9
    momentum: float = 0.0
    epsilon: float = 1e-10

    @property
    def rule(self) -> Rule:
        return rules.CenteredRMSProp(self.rho, self.momentum, self.epsilon, initial_rms=0.0)


@positional()
@dataclass(frozen=True)
class BoundedAdagrad(Optimizer):
    """Adagrad whose accumulator and update have limits; 0 for none.

    The update is that of `gl.rules.BoundedAdagrad`, a reading of what is not public; for the other arguments see
    `Optimizer`. Source: `BoundedAdagradParameters` in `optimization_parameters.proto`, TensorFlow 2.21 (2026).

    >>> BoundedAdagrad(max_accumulator=2.0).rule.max_accumulator
    2.0
    """

    learning_rate: Rate = 0.001
    update_accumulator_first: bool = False
    max_var_update: float = 0.0
    max_accumulator: float = 0.0
    initial_accumulator_value: float = 0.1

    @property
    def rule(self) -> Rule:
        return rules.BoundedAdagrad(
            self.update_accumulator_first,
            self.max_var_update,
            self.max_accumulator,
            initial_accumulator_value=self.initial_accumulator_value,
        )


@positional()
@dataclass(frozen=True)
class FrequencyAwareAdagrad(Optimizer):
    """Adagrad with longer steps for rows that are seldom hit.

    The update is that of `gl.rules.FrequencyAwareAdagrad`, a reading of what is not public; `step_counter` is a
    function of nothing that gives the step, asked at every step like a learning rate. For the other arguments see
    `Optimizer`. Source: `FrequencyAwareAdagradParameters` in `optimization_parameters.proto`, TensorFlow 2.21 (2026).

    >>> len(FrequencyAwareAdagrad(0.1, step_counter=lambda: 7).functions)
    1
    """

    learning_rate: Rate = 0.001
    l1_regularization_strength: float = 0.0
    l2_regularization_strength: float = 0.0
    max_lr_multiplier: float = 100.0
    probability_exponent: float = 0.5
    accumulator_decay: float = 1.0
    initial_accumulator_value: float = 0.1
    step_counter: Callable[[], float] | None = None

    @property
    def rule(self) -> Rule:
        return rules.FrequencyAwareAdagrad(
            self.l1_regularization_strength,
            self.l2_regularization_strength,
            self.max_lr_multiplier,
            self.probability_exponent,
            self.accumulator_decay,
            self.initial_accumulator_value,
        )

    @property
    def functions(self) -> list[Callable[[], float]]:
        return super().functions + ([] if self.step_counter is None else [self.step_counter])

    def parameters(self, tags: Tags) -> OptimizationParameters:
        made = super().parameters(tags)
        if self.step_counter is not None:
            made.frequency_aware_adagrad.step_counter.tag = tags[self.step_counter]
            made.frequency_aware_adagrad.step_counter.SetInParent()
        return made


@positional()
@dataclass(frozen=True)
class Lion(Optimizer):
    """Steps of one length, by the sign of a mix of momentum and gradient.

        w = w - lr * sign(beta1 * momenta + (1 - beta1) * g);  momenta = beta2 * momenta + (1 - beta2) * g

    The update is that of `gl.rules.Lion`; for the other arguments see `Optimizer`. Raises ValueError where it neither
    is lazy nor accumulates. Source: `LionParameters` in `optimization_parameters.proto`, TensorFlow 2.21 (2026).

    >>> Lion(lazy_lion=False).rule.lazy
    False
    """

    learning_rate: Rate = 0.001
    beta1: float = 0.9
    beta2: float = 0.99
    lazy_lion: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if not (self.lazy_lion or self.use_gradient_accumulation):
            raise ValueError("lazy_lion=False moves every row once in a step: it needs use_gradient_accumulation=True")

    @property
    def rule(self) -> Rule:
        return rules.Lion(self.beta1, self.beta2, self.lazy_lion)


@positional()
@dataclass(frozen=True)
class MDLAdagradLight(Optimizer):
    """Adagrad that gives rows a weight by how much loss they save.

    The update is that of `gl.rules.MdlAdagradLight`, a reading of what is not public; for the other arguments see
    `Optimizer`. Source: `MdlAdagradLightParameters` in `optimization_parameters.proto`, TensorFlow 2.21 (2026).

    >>> MDLAdagradLight(mdl_hard_limit=1.0).slot_names
    ('accumulators', 'weights', 'benefits')
    """

    learning_rate: Rate = 0.001
    l2: float = 0.0
    lr_power: float = -0.5
    min_servable_mdl_benefit: float = 0.0
    mdl_mix_in_margin: float = 0.0
    mdl_benefit_rampup_coeff: float = 0.0
    mdl_min_weight: float = 0.0
    benefit_revisit_scale: float = 1.0
    max_event_benefit: float = 0.0
    max_total_benefit: float = 0.0
    mdl_hard_limit: float = 0.0
    hard_limit_min_benefit: bool = False
    mdl_regularize: bool = False
    initial_accumulator_value: float = 0.1

    @property
    def rule(self) -> Rule:
        return rules.MdlAdagradLight(
            self.l2,
            self.lr_power,
            self.min_servable_mdl_benefit,
            self.mdl_mix_in_margin,
            self.mdl_benefit_rampup_coeff,
            self.mdl_min_weight,
            self.benefit_revisit_scale,
            self.max_event_benefit,
            self.max_total_benefit,
            self.mdl_hard_limit,
            self.hard_limit_min_benefit,
            self.mdl_regularize,
            initial_accumulator_value=self.initial_accumulator_value,
        )


@positional()
@dataclass(frozen=True)
class Assign(Optimizer):
    """A touched row becomes its gradient.

        w = g

    The update is that of `gl.rules.Assign`, a reading of what is not public; for the other arguments see `Optimizer`.
    Source: `AssignParameters` in `optimization_parameters.proto`, TensorFlow 2.21 (2026).

    >>> Assign().rule
    Assign()
    """

    learning_rate: Rate = 0.0

    @property
    def rule(self) -> Rule:
        return rules.Assign()
