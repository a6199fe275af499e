"""The optimizers of TensorFlow 1's TPU embeddings: `tf.compat.v1.tpu.experimental`.

They are the arguments of an optimizer by their old names; `optimizer` is that of
`gl.tpu.experimental.embedding`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from .embedding import FTRL, SGD, Adagrad, Adam, Optimizer
from .embedding.optimizer import Check, Rate, check_beta, check_not_negative, check_positive


@dataclass(frozen=True)
class AdagradParameters:
    """Adagrad, without an epsilon.

        accumulator = accumulator + g * g;    w = w - learning_rate * g / sqrt(accumulator)

    Args:
        learning_rate: a number, or a function of nothing that is asked at every step.
        initial_accumulator: the initial value of the accumulator.
        use_gradient_accumulation: all gradients of a row are summed before it is updated once.
        clip_weight_min, clip_weight_max: limits of the weights after an update; None for no limit.
        weight_decay_factor: how much of its weight a row loses at each step; None for nothing.
        multiply_weight_decay_factor_by_learning_rate: it is multiplied by the rate.
        clip_gradient_min, clip_gradient_max: limits of the summed gradient of a row; None for no
            limit.

    Raises:
        ValueError: an initial value that isn't positive, or limits of gradients without
            accumulation, which TensorFlow means to refuse but doesn't.

    Source: `tf.compat.v1.tpu.experimental.AdagradParameters`, TensorFlow 2.15 (2023); 2.21 no
    longer has it.

    >>> AdagradParameters(0.5, clip_gradient_max=1.0).optimizer.clipvalue
    (None, 1.0)
    """

    learning_rate: Rate
    initial_accumulator: float = 0.1
    use_gradient_accumulation: bool = True
    clip_weight_min: float | None = None
    clip_weight_max: float | None = None
    weight_decay_factor: float | None = None
    multiply_weight_decay_factor_by_learning_rate: bool | None = None
    clip_gradient_min: float | None = None
    clip_gradient_max: float | None = None

    def __post_init__(self) -> None:
        check_positive("Adagrad initial_accumulator", self.initial_accumulator)
        _check_accumulation(self)

    @property
    def optimizer(self) -> Optimizer:
        """The optimizer of `gl.tpu.experimental.embedding` with these parameters."""
        return Adagrad(
            learning_rate=self.learning_rate,
            initial_accumulator_value=self.initial_accumulator,
            **_common_arguments(self),
        )


@dataclass(frozen=True)
class AdamParameters:
    """Adam, without bias correction.

        m = beta1 * m + (1 - beta1) * g;    v = beta2 * v + (1 - beta2) * g * g
        w = w - learning_rate * m / sqrt(v + epsilon * epsilon)    sum_inside_sqrt
            w - learning_rate * m / (sqrt(v) + epsilon)            else

    Args:
        beta1, beta2: how much of the old means is kept.
        epsilon: positive.
        lazy_adam: rows without a gradient stand still.
        sum_inside_sqrt: the place of epsilon.

    Others: as for `AdagradParameters`.

    Raises:
        ValueError: a beta outside [0, 1), an epsilon that isn't positive, or, without accumulation,
            `lazy_adam=False` or limits of gradients.

    Source: `tf.compat.v1.tpu.experimental.AdamParameters`, TensorFlow 2.15 (2023); 2.21 no longer
    has it.

    >>> AdamParameters(0.5, beta1=0.8).optimizer.beta_1
    0.8
    """

    learning_rate: Rate
    beta1: float = 0.9
    beta2: float = 0.999
    epsilon: float = 1e-08
    lazy_adam: bool = True
    sum_inside_sqrt: bool = True
    use_gradient_accumulation: bool = True
    clip_weight_min: float | None = None
    clip_weight_max: float | None = None
    weight_decay_factor: float | None = None
    multiply_weight_decay_factor_by_learning_rate: bool | None = None
    clip_gradient_min: float | None = None
    clip_gradient_max: float | None = None

    def __post_init__(self) -> None:
        check_beta("beta1", self.beta1)
        check_beta("beta2", self.beta2)
        check_positive("epsilon", self.epsilon)
        if not self.use_gradient_accumulation and not self.lazy_adam:
            raise ValueError("When disabling Lazy Adam, gradient accumulation must be used.")
        _check_accumulation(self)

    @property
    def optimizer(self) -> Optimizer:
        """The optimizer of `gl.tpu.experimental.embedding` with these parameters."""
        return Adam(
            learning_rate=self.learning_rate,
            beta_1=self.beta1,
            beta_2=self.beta2,
            epsilon=self.epsilon,
            lazy_adam=self.lazy_adam,
            sum_inside_sqrt=self.sum_inside_sqrt,
            **_common_arguments(self),
        )


@dataclass(frozen=True)
class FtrlParameters:
    """Follow the regularized leader. A row's first update keeps only a share of its initial values.

    Args:
        learning_rate_power: at most 0.
        initial_accumulator_value: the initial value of the accumulator, from 0.
        l1_regularization_strength, l2_regularization_strength: from 0.
        multiply_linear_by_learning_rate: the linear slot is kept times the rate, for rates that
            begin at 0.
        beta: is added to the root of the accumulator.
        allow_zero_accumulator: is written into the configuration and has no other effect.

    Others: as for `AdagradParameters`. The update is that of `gl.rules.Ftrl`.

    Raises:
        ValueError: a number that is out of its range, or limits of gradients without accumulation.

    Source: `tf.compat.v1.tpu.experimental.FtrlParameters`, TensorFlow 2.15 (2023); 2.21 no longer
    has it.

    >>> FtrlParameters(0.5, l1_regularization_strength=0.25).optimizer.rule.l1
    0.25
    """

    learning_rate: Rate
    learning_rate_power: float = -0.5
    initial_accumulator_value: float = 0.1
    l1_regularization_strength: float = 0.0
    l2_regularization_strength: float = 0.0
    use_gradient_accumulation: bool = True
    clip_weight_min: float | None = None
    clip_weight_max: float | None = None
    weight_decay_factor: float | None = None
    multiply_weight_decay_factor_by_learning_rate: bool | None = None
    multiply_linear_by_learning_rate: bool = False
    beta: float = 0
    allow_zero_accumulator: bool = False
    clip_gradient_min: float | None = None
    clip_gradient_max: float | None = None

    def __post_init__(self) -> None:
        if self.learning_rate_power > 0:
            raise ValueError(
                "learning_rate_power must be less than or equal to 0. got "
                f"{self.learning_rate_power}."
            )
        check_not_negative("initial_accumulator_value", self.initial_accumulator_value)
        check_not_negative("l1_regularization_strength", self.l1_regularization_strength)
        check_not_negative("l2_regularization_strength", self.l2_regularization_strength)
        _check_accumulation(self)

    @property
    def optimizer(self) -> Optimizer:
        """The optimizer of `gl.tpu.experimental.embedding` with these parameters."""
        return _Ftrl(
            learning_rate=self.learning_rate,
            learning_rate_power=self.learning_rate_power,
            l1_regularization_strength=self.l1_regularization_strength,
            l2_regularization_strength=self.l2_regularization_strength,
            beta=self.beta,
            initial_accumulator_value=self.initial_accumulator_value,
            multiply_linear_by_learning_rate=self.multiply_linear_by_learning_rate,
            allow_zero_accumulator=self.allow_zero_accumulator,
            **_common_arguments(self),
        )


@dataclass(frozen=True)
class StochasticGradientDescentParameters:
    """Gradient descent.

        w = w - learning_rate * g

    Args: as for `AdagradParameters`.

    Raises:
        ValueError: limits of gradients without accumulation.

    Source: `tf.compat.v1.tpu.experimental.StochasticGradientDescentParameters`, TensorFlow 2.15
    (2023); 2.21 no longer has it.

    >>> StochasticGradientDescentParameters(0.5).optimizer.rule
    StochasticGradientDescent()
    """

    learning_rate: Rate
    use_gradient_accumulation: bool = True
    clip_weight_min: float | None = None
    clip_weight_max: float | None = None
    weight_decay_factor: float | None = None
    multiply_weight_decay_factor_by_learning_rate: bool | None = None
    clip_gradient_min: float | None = None
    clip_gradient_max: float | None = None

    def __post_init__(self) -> None:
        _check_accumulation(self)

    @property
    def optimizer(self) -> Optimizer:
        """The optimizer of `gl.tpu.experimental.embedding` with these parameters."""
        return SGD(learning_rate=self.learning_rate, **_common_arguments(self))


class _Ftrl(FTRL):
    """FTRL whose accumulator may begin at 0, as in TensorFlow 1."""

    _checks: ClassVar[tuple[tuple[Check, str], ...]] = ()


def _check_accumulation(parameters: Any) -> None:
    """Refuse limits of the sum of gradients where gradients aren't summed."""
    limits = (parameters.clip_gradient_min, parameters.clip_gradient_max)
    if not parameters.use_gradient_accumulation and limits != (None, None):
        raise ValueError(
            "When using gradient clipping limits, gradient accumulation must be enabled."
        )


def _common_arguments(parameters: Any) -> dict[str, Any]:
    """Return the arguments that all optimizers have."""
    clipvalue = None
    limits = (parameters.clip_gradient_min, parameters.clip_gradient_max)
    if limits != (None, None):
        clipvalue = limits
    by_rate = parameters.multiply_weight_decay_factor_by_learning_rate
    return {
        "use_gradient_accumulation": parameters.use_gradient_accumulation,
        "clip_weight_min": parameters.clip_weight_min,
        "clip_weight_max": parameters.clip_weight_max,
        "weight_decay_factor": parameters.weight_decay_factor,
        "multiply_weight_decay_factor_by_learning_rate": by_rate,
        "clipvalue": clipvalue,
    }
