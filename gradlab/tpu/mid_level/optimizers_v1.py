"""The optimizers that TensorFlow 1 had for tables, in the same frame."""

from __future__ import annotations

from dataclasses import dataclass

from ... import rules
from ...rules import Rule
from .optimizer import Optimizer, Rate, check_betas, check_positive, positional


@positional()
@dataclass(frozen=True)
class ProximalAdagrad(Optimizer):
    """Adagrad with L1 and L2 shrinkage of the weights.

    The update is that of `gl.rules.ProximalAdagrad`; for the other arguments see `Optimizer`. Raises ValueError for an
    initial value that is not positive, or a strength below 0. Source: `ProximalAdagradParameters`, TensorFlow 1.15
    (2019).

    >>> ProximalAdagrad(0.1, l1_regularization_strength=0.5).rule.l1_regularization_strength
    0.5
    """

    learning_rate: Rate = 0.001
    initial_accumulator_value: float = 0.1
    l1_regularization_strength: float = 0.0
    l2_regularization_strength: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        check_positive(self, "initial_accumulator_value")
        check_strengths(self)

    @property
    def rule(self) -> Rule:
        return rules.ProximalAdagrad(
            self.initial_accumulator_value, self.l1_regularization_strength, self.l2_regularization_strength
        )


@positional()
@dataclass(frozen=True)
class ProximalYogi(Optimizer):
    """Yogi, whose second moment moves by its sign, with L1 and L2 shrinkage; without bias correction.

    The update is that of `gl.rules.ProximalYogi`; for the other arguments see `Optimizer`. Raises ValueError for a
    beta outside [0, 1), an epsilon that is not positive or a strength below 0. Source: `ProximalYogiParameters`,
    TensorFlow 1.15 (2019).

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

    def __post_init__(self) -> None:
        super().__post_init__()
        check_betas(self, "beta1", "beta2")
        check_positive(self, "epsilon")
        check_strengths(self)

    @property
    def rule(self) -> Rule:
        l1, l2 = self.l1_regularization_strength, self.l2_regularization_strength
        return rules.ProximalYogi(self.beta1, self.beta2, self.epsilon, l1, l2, self.initial_accumulator_value)


@positional()
@dataclass(frozen=True)
class OnlineYogi(Optimizer):
    """Yogi's second moment with the linear slot of FTRL.

    The update is that of `gl.rules.OnlineYogi`, a reading of what is not public; for the other arguments see
    `Optimizer`. Raises ValueError for a beta outside [0, 1) or a strength below 0. Source: `OnlineYogiParameters` in
    `optimization_parameters.proto`, TensorFlow 2.21 (2026).

    >>> OnlineYogi().slot_names
    ('vs', 'linears')
    """

    learning_rate: Rate = 0.01
    l1_regularization_strength: float = 0.0
    l2_regularization_strength: float = 0.0
    beta2: float = 0.999
    initial_accumulator_value: float = 0.1

    def __post_init__(self) -> None:
        super().__post_init__()
        check_betas(self, "beta2")
        check_strengths(self)

    @property
    def rule(self) -> Rule:
        l1, l2 = self.l1_regularization_strength, self.l2_regularization_strength
        return rules.OnlineYogi(self.beta2, l1, l2, self.initial_accumulator_value)


@positional()
@dataclass(frozen=True)
class Momentum(Optimizer):
    """Gradient descent with a memory.

        momenta = momentum * momenta + g;  w = w - lr * momenta

    The update is that of `gl.rules.Momentum`; for the other arguments see `Optimizer`. A gradient of 0 is not neutral:
    the momentum goes on. Source: `MomentumParameters`, TensorFlow 1.15 (2019).

    >>> Momentum(0.1, 0.5, use_nesterov=True).rule
    Momentum(momentum=0.5, use_nesterov=True, order='dense')
    """

    learning_rate: Rate = 0.001
    momentum: float = 0.9
    use_nesterov: bool = False

    @property
    def rule(self) -> Rule:
        return rules.Momentum(self.momentum, self.use_nesterov)


@positional()
@dataclass(frozen=True)
class RMSProp(Optimizer):
    """Gradients scaled by a decaying mean of their squares, with momentum.

        ms = ms + (1 - rho) * (g² - ms);  mom = momentum * mom + lr * g / sqrt(ms + epsilon);  w = w - mom

    The update is that of `gl.rules.RMSProp`, with ms from 0; for the other arguments see `Optimizer`.
    Source: `RMSPropParameters`, TensorFlow 1.15 (2019).

    >>> RMSProp(0.1, rho=0.5).slot_names
    ('ms', 'mom')
    """

    learning_rate: Rate = 0.001
    rho: float = 0.9
    momentum: float = 0.0
    epsilon: float = 1e-10

    @property
    def rule(self) -> Rule:
        return rules.RMSProp(self.rho, self.momentum, self.epsilon, initial_rms=0.0)


@positional()
@dataclass(frozen=True)
class FrequencyEstimator(Optimizer):
    """A table of one column that counts how many steps lie between two hits of a row.

    The update is that of `gl.rules.FrequencyEstimator`. The learning rate is the global step: give a function. The
    table begins at `max_delta`, and its gradient must be 0. Source: `FrequencyEstimatorParameters`, TensorFlow 1.15
    (2019).

    >>> FrequencyEstimator(lambda: 7, tau=0.5).rule.tau
    0.5
    """

    learning_rate: Rate = 0.0
    tau: float = 0.1
    max_delta: float = 100.0
    outlier_threshold: float = 3.0
    weight_exponent: float = 1.0

    @property
    def rule(self) -> Rule:
        return rules.FrequencyEstimator(self.tau, self.max_delta, self.outlier_threshold, self.weight_exponent)


def check_strengths(optimizer: ProximalAdagrad | ProximalYogi | OnlineYogi) -> None:
    """Refuse shrinkage that would make weights grow."""
    for name in ("l1_regularization_strength", "l2_regularization_strength"):
        if getattr(optimizer, name) < 0:
            raise ValueError(f"{name} must be at least 0, got {getattr(optimizer, name)}")
