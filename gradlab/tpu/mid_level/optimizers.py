"""The optimizers of `tf.tpu.experimental.embedding`: each is a rule, with TensorFlow's arguments in its order."""

from __future__ import annotations

from dataclasses import dataclass

from ... import rules
from ...rules import Rule
from ..proto import OptimizationParameters
from .optimizer import Optimizer, Rate, Tags, check_betas, check_positive, positional


@positional(without=["slot_variable_creation_fn"])
@dataclass(frozen=True)
class SGD(Optimizer):
    """Gradient descent.

        w = w - lr * g

    The update is that of `gl.rules.StochasticGradientDescent`; the other arguments are those of all optimizers of
    tables: see `Optimizer`. Source: `tf.tpu.experimental.embedding.SGD`, TensorFlow 2.21 (2026).

    >>> SGD(0.5, clipvalue=1.0).rule
    StochasticGradientDescent()
    """

    learning_rate: Rate = 0.01

    @property
    def rule(self) -> Rule:
        return rules.StochasticGradientDescent()


@positional()
@dataclass(frozen=True)
class Adagrad(Optimizer):
    """Adagrad without an epsilon, which is why the accumulator begins above 0.

        accumulators = accumulators + g²;  w = w - lr * g / sqrt(accumulators)

    The update is that of `gl.rules.Adagrad`; for the other arguments see `Optimizer`. Raises ValueError for an initial
    value that is not positive. Source: `tf.tpu.experimental.embedding.Adagrad`, TensorFlow 2.21 (2026).

    >>> Adagrad(0.1, 0.5).slot_initializers
    (Constant(value=0.5),)
    """

    learning_rate: Rate = 0.001
    initial_accumulator_value: float = 0.1

    def __post_init__(self) -> None:
        super().__post_init__()
        check_positive(self, "initial_accumulator_value")

    @property
    def rule(self) -> Rule:
        return rules.Adagrad(self.initial_accumulator_value, epsilon=0.0, epsilon_place="none")


@positional()
@dataclass(frozen=True)
class AdagradMomentum(Optimizer):
    """Adagrad whose scaled gradients are collected in a momentum.

        accumulators = accumulators + g²              where beta2 is 1, else their decaying mean
        momenta = momentum * momenta + (accumulators + epsilon)^(-1 / exponent) * g
        w = w - lr * momenta

    The update is that of `gl.rules.AdagradMomentum`; for the other arguments see `Optimizer`. Raises ValueError for an
    epsilon or an exponent that is not positive. Source: `tf.tpu.experimental.embedding.AdagradMomentum`,
    TensorFlow 2.21 (2026).

    >>> AdagradMomentum(momentum=0.9).slot_names
    ('accumulators', 'momenta')
    """

    learning_rate: Rate = 0.001
    momentum: float = 0.0
    use_nesterov: bool = False
    exponent: float = 2
    beta2: float = 1
    epsilon: float = 1e-10

    def __post_init__(self) -> None:
        super().__post_init__()
        check_positive(self, "epsilon", "exponent")

    @property
    def rule(self) -> Rule:
        return rules.AdagradMomentum(self.momentum, self.use_nesterov, self.exponent, self.beta2, self.epsilon)


@positional("clipvalue", "multiply_linear_by_learning_rate", "allow_zero_accumulator", "low_dimensional_packing_status")
@dataclass(frozen=True)
class FTRL(Optimizer):
    """Follow the regularized leader. It forgets what a table began with: a touched row with a gradient of 0 becomes 0.

    The update is that of `gl.rules.Ftrl`; for the other arguments see `Optimizer`. `allow_zero_accumulator` is written
    into the configuration and has no other effect. Raises ValueError for an initial value that is not positive, with
    `allow_zero_accumulator` too. Source: `tf.tpu.experimental.embedding.FTRL`, TensorFlow 2.21 (2026).

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

    def __post_init__(self) -> None:
        super().__post_init__()
        check_positive(self, "initial_accumulator_value")

    @property
    def rule(self) -> Rule:
        return rules.Ftrl(
            self.learning_rate_power,
            self.l1_regularization_strength,
            self.l2_regularization_strength,
            beta=self.beta,
            initial_accumulator_value=self.initial_accumulator_value,
            multiply_linear_by_lr=self.multiply_linear_by_learning_rate,
            order="sparse",
        )

    def parameters(self, tags: Tags) -> OptimizationParameters:
        made = super().parameters(tags)
        made.ftrl.allow_zero_accumulator = self.allow_zero_accumulator
        return made


@positional()
@dataclass(frozen=True)
class Adam(Optimizer):
    """Adam without bias correction; put sqrt(1 - beta_2^t) / (1 - beta_1^t) into the rate for it.

        momenta = beta_1 * momenta + (1 - beta_1) * g;  velocities = beta_2 * velocities + (1 - beta_2) * g²
        w = w - lr * momenta / sqrt(velocities + epsilon²)      or  / (sqrt(velocities) + epsilon)

    Lazy: only rows that were looked up move, unless `lazy_adam` is False. The second line depends on
    `sum_inside_sqrt`. The update is that of `gl.rules.Adam`; for the other arguments see `Optimizer`.

    Raises:
        ValueError: a beta outside [0, 1), an epsilon that is not positive, or neither lazy nor accumulating.

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
        check_betas(self, "beta_1", "beta_2")
        check_positive(self, "epsilon")
        if not (self.lazy_adam or self.use_gradient_accumulation):
            raise ValueError("lazy_adam=False moves every row once in a step: it needs use_gradient_accumulation=True")

    @property
    def rule(self) -> Rule:
        return rules.Adam(
            self.beta_1,
            self.beta_2,
            self.epsilon,
            epsilon_place="inside" if self.sum_inside_sqrt else "outside",
            bias_correction=False,
            lazy=self.lazy_adam,
            order="sparse",
        )
