"""The half of an optimizer that keeps settings: constructor arguments, hyperparameters, clip limits, the config."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, Self

import numpy as np

from .. import schedules
from .._base.arrays import Array, as_array, quiet
from .._base.options import is_strict
from ..errors import KerasWarning, warn
from ..train.hyperparameters import described
from ..train.variable import Variable, current_collection
from .arguments import check_arguments
from .backend import current_replicas
from .classes import class_for
from .clips import check_limit
from .hyperparameters import Hyperparameter
from .semantics import CLIPS, Name, Semantics, semantics

Strict = Literal["tf"] | None


def check_name(name: Any, version: Semantics) -> None:
    """ValueError for a malformed name; None and "" ask for one that is made up.

    TensorFlow's versions before Keras 3 find a name that isn't a string at the first step; here it is found at once.
    """
    if name is not None and not isinstance(name, str):
        raise ValueError(f"name must be a string or None, got {name!r}")
    if name and version.name == "keras3" and "/" in name:
        raise ValueError(f'name must not hold "/" with semantics="keras3", got {name!r}')


class Settings:
    """Settings of an optimizer, and its config."""

    _forget: Callable[[Any], None]  # of `Weights`
    _rebuilds_schedules = True  # whether `from_config` brings schedules back in every version

    def __init__(
        self,
        name: str | None,
        version: Name,
        strict: Strict,
        hyperparameters: Mapping[str, Any],
        kwargs: dict[str, Any],
    ) -> None:
        self._strict, self._replicas = is_strict(strict), current_replicas()
        self._version: Semantics = semantics(version)
        check_arguments(kwargs, self._version, self._replicas is not None, type(self))
        self.__class__ = class_for(type(self), version)
        check_name(name, self._version)
        self._name = name or current_collection().unique_name(type(self).__name__.lower())
        self._initial_decay = kwargs.get("decay", 0.0) if self._version.lazy else 0.0
        self._limits = {k: kwargs[k] for k in CLIPS if kwargs.get(k) is not None}
        for k, limit in self._limits.items():
            check_limit(k, limit, self._version)
        self.gradient_aggregator = kwargs.get("gradient_aggregator")
        self.gradient_transformers = list(kwargs.get("gradient_transformers") or [])
        self._around = tuple(name for name in self._version.defaults if name not in self._version.ignored)
        vars(self).update({k: kwargs.get(k, self._version.defaults[k]) for k in self._around})
        values = self._given(hyperparameters, kwargs)
        self._hyper = {k: Hyperparameter(k, x) for k, x in values.items()}
        self._created = False
        if not self._version.lazy:
            self._create_hyperparameters(f"{self._name}/" if self._version.name == "keras3" else "")

    def __repr__(self) -> str:
        """Makes no variables, as `get_config` would."""
        rate = self._hyper["learning_rate"].value
        rate = rate.numpy().item() if isinstance(rate, Variable) else rate
        version = self._version.name
        around = {k: x for k, x in self._around_config().items() if x != self._version.defaults[k]}
        given = {**self._own_config(), **self._limits, **around}
        return described(self, self._name, learning_rate=rate, **given, semantics=version)

    def _given(self, hyperparameters: Mapping[str, Any], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        """The hyperparameters that the version has, in the form it keeps them in."""
        rate = hyperparameters["learning_rate"]
        if not self._version.lazy:
            return {**hyperparameters, "learning_rate": self._eager_rate(rate)}
        return {**hyperparameters, "learning_rate": kwargs.get("lr", rate), "decay": self._initial_decay}

    def _eager_rate(self, rate: Any) -> Any:
        """The learning rate of a version that makes a float32 variable of it at once."""
        is_schedule, keras3 = isinstance(rate, schedules.LearningRateSchedule), self._version.name == "keras3"
        if is_schedule or (keras3 and callable(rate)):
            return rate
        if keras3 and not isinstance(rate, float):
            raise ValueError(f"learning_rate must be a float, a schedule or a function in keras3, got {rate!r}")
        return as_array(rate() if callable(rate) else rate, "learning_rate").astype(np.float32)[()]

    def _create_hyperparameters(self, prefix: str) -> None:
        """Numbers become variables once; what is set later in another's place stays as it is."""
        if not self._created:
            for name in sorted(self._hyper):
                self._hyper[name].create(prefix)
            self._created = True

    def _read(self, name: str) -> Any:
        self._create_hyperparameters("")
        return self._hyper[name].read()

    @property
    def learning_rate(self) -> Any:
        """A number as the float32 variable that it has become; a schedule as it is; the result of a function.

        Setting a number assigns the variable, setting a schedule takes its place. In "keras3" and "rewrite" a schedule
        cannot be replaced by a number (TypeError), and what is read is its rate: of the next step in "keras3", of the
        last one in "rewrite".

        >>> import gradlab as gl
        >>> opt = gl.keras.SGD(0.5)
        >>> opt.learning_rate = 0.25
        >>> opt.learning_rate, opt.lr.numpy().item()
        (<gradlab.Variable 'learning_rate:0' shape=() dtype=float32>, 0.25)
        """
        rate = self._hyper["learning_rate"].value
        if not self._version.lazy and isinstance(rate, schedules.LearningRateSchedule):
            return rate(self._rate_step())
        return self._read("learning_rate")

    @learning_rate.setter
    def learning_rate(self, value: Any) -> None:
        rate = self._hyper["learning_rate"]
        if not self._version.lazy and isinstance(rate.value, schedules.LearningRateSchedule) and not callable(value):
            raise TypeError(
                "This optimizer was created with a `LearningRateSchedule` as its learning rate: a number cannot take "
                f"the place of this {type(rate.value).__name__}"
            )
        old = rate.value
        if self._version.name == "keras3" and callable(value):
            rate.value = value
        else:
            rate.write(value)
        if rate.value is not old:
            self._forget(old)

    def _rate_step(self) -> Any:
        """The step whose rate a reader of a schedule sees."""
        raise NotImplementedError(f"{type(self).__name__} must define _rate_step()")

    @property
    def lr(self) -> Any:
        """`learning_rate` under its old name."""
        return self.learning_rate

    @lr.setter
    def lr(self, value: Any) -> None:
        self.learning_rate = value

    @property
    def decay(self) -> Any:
        """The rate is divided by 1 + decay * iterations. AttributeError in the versions that have none."""
        if "decay" not in self._hyper:
            raise AttributeError(f"optimizers of {self._version.name} have no decay; use gl.schedules.InverseTimeDecay")
        return self._read("decay")

    @decay.setter
    def decay(self, value: Any) -> None:
        if "decay" not in self._hyper:
            raise AttributeError(f"optimizers of {self._version.name} have no decay; use gl.schedules.InverseTimeDecay")
        if self._version.name != "tf2.3" or not self._initial_decay > 0:
            why = "only where it was positive at construction" if self._version.name == "tf2.3" else "never"
            warn(f"setting decay has no effect: {self._version.name} reads it later {why}", KerasWarning)
        self._hyper["decay"].write(value)

    def _set_limit(self, name: str, value: Any) -> None:
        if value is not None and self.gradient_transformers:
            raise ValueError(f"{name} cannot be set beside gradient_transformers; clip in one of these instead")
        check_limit(name, value, self._version)
        self._limits = {k: v for k, v in {**self._limits, name: value}.items() if v is not None}

    @property
    def clipnorm(self) -> Any:
        """Limit for the norm of each variable's gradient by itself, or None."""
        return self._limits.get("clipnorm")

    @clipnorm.setter
    def clipnorm(self, value: Any) -> None:
        self._set_limit("clipnorm", value)

    @property
    def clipvalue(self) -> Any:
        """Every entry is brought into [-clipvalue, clipvalue], or None."""
        return self._limits.get("clipvalue")

    @clipvalue.setter
    def clipvalue(self, value: Any) -> None:
        self._set_limit("clipvalue", value)

    @property
    def global_clipnorm(self) -> Any:
        """Limit for the norm of all gradients together, or None. Without effect in "tf2.3", which has none."""
        return self._limits.get("global_clipnorm")

    @global_clipnorm.setter
    def global_clipnorm(self, value: Any) -> None:
        self._set_limit("global_clipnorm", value)

    @quiet
    def _rate(self, step: Array, dtype: Any) -> Array:
        """The learning rate of step number `step` (before it is counted) for variables of one dtype."""
        rate = self._hyper["learning_rate"]
        if not self._version.lazy:
            return rate.at(step, dtype)
        n = step.astype(dtype)  # first: in float16 step 2049 is step 2048
        if not self._initial_decay > 0:
            return rate.at(n, dtype)
        later = self._version.name == "tf2.3"
        decay = self._hyper["decay"].at(n, dtype) if later else np.float32(self._initial_decay).astype(dtype)
        decayed: Array = rate.at(n, dtype) / (np.dtype(dtype).type(1) + decay * n)
        return decayed

    def get_config(self) -> dict[str, Any]:
        """The arguments of the constructor by name, as the version gives them.

        The learning rate is a NumPy float32 after the first use (a float in "keras3"), a schedule is a dictionary, a
        function is called. Not TensorFlow's: "semantics" where it is not "legacy", and "strict" where it is set.

        >>> import gradlab as gl
        >>> gl.keras.Adagrad(0.5, clipnorm=1.0).get_config()["clipnorm"]
        1.0
        """
        everything = {**self._version.defaults, **self._around_config(), **dict.fromkeys(CLIPS), **self._limits}
        limits = self._limits if self._version.lazy else everything
        config = {"name": self._name, **limits, "learning_rate": self._serialized_rate()}
        if self._version.lazy:
            config["decay"] = self._hyper["decay"].number() if self._version.name == "tf2.3" else self._initial_decay
        config |= self._own_config()
        config |= {} if self._version.name == "legacy" else {"semantics": self._version.name}
        return {**config, "strict": "tf"} if self._strict else config

    def _own_config(self) -> dict[str, Any]:
        return {}

    def _around_config(self) -> dict[str, Any]:
        """Return what acts around the rule as it is now: plain attributes, which may be set."""
        return {name: vars(self)[name] for name in self._around}

    def _serialized_rate(self) -> Any:
        rate = self._hyper["learning_rate"].number()
        if isinstance(rate, schedules.LearningRateSchedule):
            return schedules.serialize(rate, semantics=self._version.clip_functions)
        return float(rate) if self._version.name == "keras3" else rate

    @classmethod
    def from_config(
        cls, config: dict[str, Any], custom_objects: Mapping[str, Any] | None = None, **changes: Any
    ) -> Self:
        """The optimizer of a config, which is changed on the way: `lr` becomes `learning_rate`.

        Args:
            config: what `get_config` gave, here or in TensorFlow. custom_objects: your own schedules by name.
            changes: arguments in place of those of the config, `semantics` above all.

        Raises TypeError for unknown names. `Adagrad` does not rebuild a schedule in "tf2.3" and "legacy": it warns, and
        the first step is a ValueError there.

        >>> import gradlab as gl
        >>> gl.keras.SGD.from_config({"lr": 0.5}, semantics="keras3").get_config()["learning_rate"]
        0.5
        """
        version = semantics(changes.get("semantics", config.get("semantics", "legacy")))
        if "lr" in config:
            config["learning_rate"] = config.pop("lr")
        if isinstance(config.get("learning_rate"), dict):
            if cls._rebuilds_schedules or not version.lazy:
                config["learning_rate"] = schedules.deserialize(config["learning_rate"], custom_objects)
            else:
                warn(
                    f"{cls.__name__}.from_config of {version.name} does not rebuild a schedule: the first step will "
                    "raise. Pass learning_rate=gl.schedules.deserialize(config['learning_rate'])",
                    KerasWarning,
                )
        return cls(**{**config, **changes})
