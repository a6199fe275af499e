"""The engine of TensorFlow's OptimizerV2: `tf.keras.optimizers` of TensorFlow 2.3, and `legacy` since 2.4.

Hyperparameters become variables at the first use, and slots are made at the first step of their
variable, whenever that comes. The learning rate decays by `decay` on top of any schedule.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .. import schedules
from .._base.arrays import Array, quiet
from ..errors import KerasWarning, warn
from ..rules.rule import Rule
from ..train.state_dict import Commit
from .backend import epsilon as default_epsilon
from .engine import Arguments, Engine
from .hyperparameters import Hyperparameter


class LegacyEngine(Engine):
    """An optimizer of TensorFlow 2.3 or legacy.

        lr_t = learning_rate / (1 + decay * iterations)

    Attributes:
        initial_decay: `decay` at construction. The rate decays only if it was positive, whatever
            `decay` is set to later.
    """

    def __init__(self, arguments: Arguments) -> None:
        own = arguments.own_arguments
        for argument in arguments.declaration.nonnegative:
            if own[argument] < 0:
                raise ValueError(f"{argument} must be >= 0, got {own[argument]!r}")
        super().__init__(arguments)
        self.initial_decay = arguments.keywords.get("decay", 0.0)
        rate = arguments.keywords.get("lr", arguments.learning_rate)
        self.hyper = {
            "learning_rate": Hyperparameter("learning_rate", rate),
            "decay": Hyperparameter("decay", self.initial_decay),
        }
        for argument in self.declaration.hyperparameters:
            self.hyper[argument] = self.own_arguments[argument]
        if own.get("epsilon") == 0:
            warn(
                f"gl.keras.{arguments.optimizer.__name__}(semantics={self.version.name!r}) replaces "
                f"epsilon 0 by {default_epsilon()}, as Keras does; give a tiny number instead",
                KerasWarning,
            )
        if "epsilon" in own:
            self.own_arguments["epsilon"] = own["epsilon"] or default_epsilon()

    @quiet
    def rate(self, step: Array, dtype: Any) -> Array:
        """Return the learning rate of a step for variables of one dtype."""
        n = step.astype(dtype)  # first: in float16 step 2049 is step 2048
        rate = self.hyper["learning_rate"].at(n, dtype)
        if not self.initial_decay > 0 or not self.declaration.decays_rate:
            return rate
        if self.version.reads_decay:
            decay = self.hyper["decay"].at(n, dtype)
        else:
            decay = np.float32(self.initial_decay).astype(dtype)
        decayed: Array = rate / (np.dtype(dtype).type(1) + decay * n)
        return decayed

    def _make_rule(self, values: Mapping[str, Any]) -> Rule:
        # Nadam's rule has it as a field.
        return super()._make_rule({**values, "decay": self.initial_decay})

    def set_decay(self, value: Any) -> None:
        """Set the decay, with a warning where it has no effect."""
        name = self.version.name
        if not self.version.reads_decay:
            warn(f"setting decay has no effect: {name} reads it at construction only", KerasWarning)
        elif not self.initial_decay > 0:
            warn(
                f"setting decay has no effect: {name} reads it only if it was positive at "
                "construction",
                KerasWarning,
            )
        self.hyper["decay"].write(value)

    def prepare_weights(self, weights: Sequence[Any]) -> Commit:
        """Check values of all weights; of some optimizers the count may be missing, and is 0 then."""
        is_short = len(weights) + 1 == len(self.weights.all)
        if is_short and not self.declaration.needs_count:
            weights = [np.int64(0), *weights]
        return super().prepare_weights(weights)

    def saved_settings(self) -> dict[str, Any]:
        """Return the decay that counts."""
        return {"decay at construction": self.initial_decay}

    def config(self) -> dict[str, Any]:
        """Return the arguments of the constructor by name: limits that are set, and decay."""
        rate = self.hyper["learning_rate"].number()
        if isinstance(rate, schedules.LearningRateSchedule):
            rate = schedules.serialize(rate, semantics=self.version.clip_functions)
        decay = self.hyper["decay"].number() if self.version.reads_decay else self.initial_decay
        return {
            "name": self.name,
            **self.limits,
            "learning_rate": rate,
            "decay": decay,
            **self.own_config(),
        }
