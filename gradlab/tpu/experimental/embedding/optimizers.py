"""The optimizers of tables: each is a rule, with TensorFlow's arguments in its order.

Five are those of `tf.tpu.experimental.embedding`, then come those of TensorFlow 1, then those that
only the configuration knows. A class lists its arguments with TensorFlow's defaults, because these
are what a user sees. Which field of the rule each of them is, the rule says by `in_tables`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass

from .... import rules
from ....rules import Rule
from ...engine.proto import OptimizationParameters
from .optimizer import Optimizer, Rate, Tags, updated_by


@updated_by(rules.StochasticGradientDescent, without=("slot_variable_creation_fn",))
@dataclass(frozen=True)
class SGD(Optimizer):
    """Gradient descent.

        w = w - lr * g

    The update is that of `gl.rules.StochasticGradientDescent`; the other arguments are those of all
    optimizers of
    tables: see `Optimizer`. Source: `tf.tpu.experimental.embedding.SGD`, TensorFlow 2.21 (2026).

    >>> SGD(0.5, clipvalue=1.0).rule
    StochasticGradientDescent()
    """

    learning_rate: Rate = 0.01


@updated_by(rules.Adagrad, positive=("initial_accumulator_value",))
@dataclass(frozen=True)
class Adagrad(Optimizer):
    """Adagrad without an epsilon, which is why the accumulator begins above 0.

        accumulators = accumulators + g²;  w = w - lr * g / sqrt(accumulators)

    The update is that of `gl.rules.Adagrad`; for the other arguments see `Optimizer`. Raises
    ValueError for an initial value that is not positive.

    Source: `tf.tpu.experimental.embedding.Adagrad`, TensorFlow 2.21 (2026).

    >>> Adagrad(0.1, 0.5).slot_initializers
    (Constant(value=0.5),)
    """

    learning_rate: Rate = 0.001
    initial_accumulator_value: float = 0.1


@updated_by(rules.AdagradMomentum, positive=("epsilon", "exponent"))
@dataclass(frozen=True)
class AdagradMomentum(Optimizer):
    """Adagrad whose scaled gradients are collected in a momentum.

        accumulators = accumulators + g²              where beta2 is 1, else their decaying mean
        momenta = momentum * momenta + (accumulators + epsilon)^(-1 / exponent) * g
        w = w - lr * momenta

    The update is that of `gl.rules.AdagradMomentum`; for the other arguments see `Optimizer`.
    Raises ValueError for an epsilon or an exponent that is not positive.

    Source: `tf.tpu.experimental.embedding.AdagradMomentum`, TensorFlow 2.21 (2026).

    >>> AdagradMomentum(momentum=0.9).slot_names
    ('accumulators', 'momenta')
    """

    learning_rate: Rate = 0.001
    momentum: float = 0.0
    use_nesterov: bool = False
    exponent: float = 2
    beta2: float = 1
    epsilon: float = 1e-10


@updated_by(
    rules.Ftrl,
    last=(
        "clipvalue",
        "multiply_linear_by_learning_rate",
        "allow_zero_accumulator",
        "low_dimensional_packing_status",
    ),
    positive=("initial_accumulator_value",),
)
@dataclass(frozen=True)
class FTRL(Optimizer):
    """Follow the regularized leader. A row's first update keeps only a share of its initial values.

    The update is that of `gl.rules.Ftrl`, which says what share; for the other arguments see
    `Optimizer`. `allow_zero_accumulator` is written into the configuration and has no other
    effect. Raises ValueError for an initial value that is not positive, with
    `allow_zero_accumulator` too. Source: `tf.tpu.experimental.embedding.FTRL`, TensorFlow 2.21
    (2026).

    >>> FTRL(l1_regularization_strength=0.5).rule.l1
    0.5
    """

    learning_rate: Rate = 0.001
    learning_rate_power: float = -0.5
    l1_regularization_strength: float = 0.0
    l2_regularization_strength: float = 0.0
    beta: float = 0.0
    initial_accumulator_value: float = 0.1
    multiply_linear_by_learning_rate: bool = False
    allow_zero_accumulator: bool = False

    def parameters(self, tags: Tags) -> OptimizationParameters:
        made = super().parameters(tags)
        made.ftrl.allow_zero_accumulator = self.allow_zero_accumulator
        return made


@updated_by(rules.Adam, betas=("beta_1", "beta_2"), positive=("epsilon",))
@dataclass(frozen=True)
class Adam(Optimizer):
    """Adam without bias correction; put sqrt(1 - beta_2^t) / (1 - beta_1^t) into the rate for it.

        momenta = beta_1 * momenta + (1 - beta_1) * g;  velocities = beta_2 * velocities + (1 - beta_2) * g²
        w = w - lr * momenta / sqrt(velocities + epsilon²)      or  / (sqrt(velocities) + epsilon)

    Lazy: only rows that were looked up move, unless `lazy_adam` is False. The second line depends
    on `sum_inside_sqrt`. The update is that of `gl.rules.Adam`; for the other arguments see
    `Optimizer`.

    Raises:
        ValueError: a beta outside [0, 1), an epsilon that is not positive, or neither lazy nor
            accumulating.

    Source: `tf.tpu.experimental.embedding.Adam`, TensorFlow 2.21 (2026).

    >>> Adam(lambda: 0.1, epsilon=1e-3).rule.bias_correction
    False
    """

    learning_rate: Rate = 0.001
    beta_1: float = 0.9
    beta_2: float = 0.999
    epsilon: float = 1e-07
    lazy_adam: bool = True
    sum_inside_sqrt: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if not (self.lazy_adam or self.use_gradient_accumulation):
            raise ValueError(
                "lazy_adam=False moves every row once in a step: it needs "
                "use_gradient_accumulation=True"
            )

    @property
    def rule(self) -> Rule:
        rule = super().rule
        assert isinstance(rule, rules.Adam)
        return dataclasses.replace(
            rule, epsilon_place="inside" if self.sum_inside_sqrt else "outside"
        )


@updated_by(
    rules.ProximalAdagrad,
    positive=("initial_accumulator_value",),
    not_negative=("l1_regularization_strength", "l2_regularization_strength"),
)
@dataclass(frozen=True)
class ProximalAdagrad(Optimizer):
    """Adagrad with L1 and L2 shrinkage of the weights.

    The update is that of `gl.rules.ProximalAdagrad`; for the other arguments see `Optimizer`.
    Raises ValueError for an initial value that is not positive, or a strength below 0.

    Source: `ProximalAdagradParameters`, TensorFlow 1.15 (2019).

    >>> ProximalAdagrad(0.1, l1_regularization_strength=0.5).rule.l1_regularization_strength
    0.5
    """

    learning_rate: Rate = 0.001
    initial_accumulator_value: float = 0.1
    l1_regularization_strength: float = 0.0
    l2_regularization_strength: float = 0.0


@updated_by(
    rules.ProximalYogi,
    betas=("beta1", "beta2"),
    positive=("epsilon",),
    not_negative=("l1_regularization_strength", "l2_regularization_strength"),
)
@dataclass(frozen=True)
class ProximalYogi(Optimizer):
    """Yogi, whose second moment moves by its sign, with L1 and L2 shrinkage; without bias correction.

    The update is that of `gl.rules.ProximalYogi`; for the other arguments see `Optimizer`.
    Raises ValueError for a beta outside [0, 1), an epsilon that is not positive or a strength
    below 0. Source: `ProximalYogiParameters`, TensorFlow 1.15 (2019).

    >>> ProximalYogi().slot_initializers
    (Constant(value=1e-06), Constant(value=0.0))
    """

    learning_rate: Rate = 0.01
    beta1: float = 0.9
    beta2: float = 0.999
    epsilon: float = 1e-3
    l1_regularization_strength: float = 0.0
    l2_regularization_strength: float = 0.0
    initial_accumulator_value: float = 1e-6


@updated_by(
    rules.OnlineYogi,
    betas=("beta2",),
    not_negative=("l1_regularization_strength", "l2_regularization_strength"),
)
@dataclass(frozen=True)
class OnlineYogi(Optimizer):
    """Yogi's second moment with the linear slot of FTRL.

    The update is that of `gl.rules.OnlineYogi`, a reading of what is not public; for the
    other arguments see `Optimizer`. Raises ValueError for a beta outside [0, 1) or a strength
    below 0. Source: `OnlineYogiParameters` in `optimization_parameters.proto`, TensorFlow
    2.21 (2026).

    >>> OnlineYogi().slot_names
    ('vs', 'linears')
    """

    learning_rate: Rate = 0.01
    l1_regularization_strength: float = 0.0
    l2_regularization_strength: float = 0.0
    beta2: float = 0.999
    initial_accumulator_value: float = 0.1


@updated_by(rules.Momentum)
@dataclass(frozen=True)
class Momentum(Optimizer):
    """Gradient descent with a memory.

        momenta = momentum * momenta + g;  w = w - lr * momenta

    The update is that of `gl.rules.Momentum`; for the other arguments see `Optimizer`. A gradient
    of 0 is not neutral: the momentum goes on. Source: `MomentumParameters`, TensorFlow 1.15 (2019).

    >>> Momentum(0.1, 0.5, use_nesterov=True).rule
    Momentum(momentum=0.5, use_nesterov=True, order='dense')
    """

    learning_rate: Rate = 0.001
    momentum: float = 0.9
    use_nesterov: bool = False


@updated_by(rules.RMSProp)
@dataclass(frozen=True)
class RMSProp(Optimizer):
    """Gradients scaled by a decaying mean of their squares, with momentum.

        ms = ms + (1 - rho) * (g² - ms);  mom = momentum * mom + lr * g / sqrt(ms + epsilon);  w = w - mom

    The update is that of `gl.rules.RMSProp`, with ms from 0; for the other arguments see
    `Optimizer`.

    Source: `RMSPropParameters`, TensorFlow 1.15 (2019).

    >>> RMSProp(0.1, rho=0.5).slot_names
    ('ms', 'mom')
    """

    learning_rate: Rate = 0.001
    rho: float = 0.9
    momentum: float = 0.0
    epsilon: float = 1e-10


@updated_by(rules.FrequencyEstimator)
@dataclass(frozen=True)
class FrequencyEstimator(Optimizer):
    """A table of one column that counts how many steps lie between two hits of a row.

    The update is that of `gl.rules.FrequencyEstimator`. The learning rate is the global step: give
    a function. The table begins at `max_delta`, and its gradient must be 0.

    Source: `FrequencyEstimatorParameters`, TensorFlow 1.15 (2019).

    >>> FrequencyEstimator(lambda: 7, tau=0.5).rule.tau
    0.5
    """

    learning_rate: Rate = 0.0
    tau: float = 0.1
    max_delta: float = 100.0
    outlier_threshold: float = 3.0
    weight_exponent: float = 1.0


@updated_by(rules.Adadelta)
@dataclass(frozen=True)
class Adadelta(Optimizer):
    """Steps as long as the last ones were, on average.

    The update is that of `gl.rules.Adadelta`; for the other arguments see `Optimizer`.

    Source: `AdadeltaParameters` in `optimization_parameters.proto`, TensorFlow 2.21 (2026).

    >>> Adadelta(1.0, rho=0.5).rule.rho
    0.5
    """

    learning_rate: Rate = 0.001
    rho: float = 0.95
    epsilon: float = 1e-8


@updated_by(rules.CenteredRMSProp)
@dataclass(frozen=True)
class CenteredRMSProp(Optimizer):
    """RMSProp with the variance of the gradients in place of their mean square.

    The update is that of `gl.rules.CenteredRMSProp`, with all slots from 0; for the other arguments
    see `Optimizer`.

    Source: `CenteredRmsPropParameters` in `optimization_parameters.proto`, TensorFlow 2.21 (2026).

    >>> CenteredRMSProp().slot_names
    ('ms', 'mom', 'mg')
    """

    learning_rate: Rate = 0.001
    rho: float = 0.9
    momentum: float = 0.0
    epsilon: float = 1e-10


@updated_by(rules.BoundedAdagrad)
@dataclass(frozen=True)
class BoundedAdagrad(Optimizer):
    """Adagrad whose accumulator and update have limits; 0 for none.

    The update is that of `gl.rules.BoundedAdagrad`, a reading of what is not public; for the other
    arguments see `Optimizer`. Source: `BoundedAdagradParameters` in
    `optimization_parameters.proto`, TensorFlow 2.21 (2026).

    >>> BoundedAdagrad(max_accumulator=2.0).rule.max_accumulator
    2.0
    """

    learning_rate: Rate = 0.001
    update_accumulator_first: bool = False
    max_var_update: float = 0.0
    max_accumulator: float = 0.0
    initial_accumulator_value: float = 0.1


@updated_by(rules.FrequencyAwareAdagrad)
@dataclass(frozen=True)
class FrequencyAwareAdagrad(Optimizer):
    """Adagrad with longer steps for rows that are seldom hit.

    The update is that of `gl.rules.FrequencyAwareAdagrad`, a reading of what is not public;
    `step_counter` is a function of nothing that gives the step, asked at every step like a learning
    rate. For the other arguments see `Optimizer`. Source: `FrequencyAwareAdagradParameters` in
    `optimization_parameters.proto`, TensorFlow 2.21 (2026).

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
    def functions(self) -> list[Callable[[], float]]:
        return super().functions + ([] if self.step_counter is None else [self.step_counter])

    def parameters(self, tags: Tags) -> OptimizationParameters:
        made = super().parameters(tags)
        if self.step_counter is not None:
            made.frequency_aware_adagrad.step_counter.tag = tags[self.step_counter]
            made.frequency_aware_adagrad.step_counter.SetInParent()
        return made


@updated_by(rules.Lion)
@dataclass(frozen=True)
class Lion(Optimizer):
    """Steps of one length, by the sign of a mix of momentum and gradient.

        w = w - lr * sign(beta1 * momenta + (1 - beta1) * g);  momenta = beta2 * momenta + (1 - beta2) * g

    The update is that of `gl.rules.Lion`; for the other arguments see `Optimizer`. Raises
    ValueError where it neither is lazy nor accumulates. Source: `LionParameters` in
    `optimization_parameters.proto`, TensorFlow 2.21 (2026).

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
            raise ValueError(
                "lazy_lion=False moves every row once in a step: it needs "
                "use_gradient_accumulation=True"
            )


@updated_by(rules.MdlAdagradLight)
@dataclass(frozen=True)
class MDLAdagradLight(Optimizer):
    """Adagrad that gives rows a weight by how much loss they save.

    The update is that of `gl.rules.MdlAdagradLight`, a reading of what is not public; for the other
    arguments see `Optimizer`. Source: `MdlAdagradLightParameters` in
    `optimization_parameters.proto`, TensorFlow 2.21 (2026).

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


@updated_by(rules.Assign)
@dataclass(frozen=True)
class Assign(Optimizer):
    """A touched row becomes its gradient.

        w = g

    The update is that of `gl.rules.Assign`, a reading of what is not public; for the other
    arguments see `Optimizer`.

    Source: `AssignParameters` in `optimization_parameters.proto`, TensorFlow 2.21 (2026).

    >>> Assign().rule
    Assign()
    """

    learning_rate: Rate = 0.0
