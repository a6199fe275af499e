"""Run scenarios on Keras's legacy optimizers (package tf_keras), which TensorFlow 2.3 had as
tf.keras.optimizers.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.golden import sessions
from tests.golden.oracle import TensorFlow
from tests.golden.tensorflow_values import Json, value


def outputs(scenario: Json) -> list[Json]:
    """What Keras gives for each call of the scenario."""
    with TensorFlowKeras(scenario["mode"]) as library:
        return Session(scenario, library).play(scenario["calls"])


def make_schedule(x: Json) -> Any:
    import tf_keras

    return getattr(tf_keras.optimizers.schedules, x["class"])(**x["config"])


class TensorFlowKeras(TensorFlow):
    """Keras's legacy optimizers."""

    def value(self, x: Any) -> Any:
        """Schedules too."""
        if isinstance(x, list):
            return [self.value(v) for v in x]
        if isinstance(x, dict) and x.keys() == {"schedule"}:
            return make_schedule(x["schedule"])
        return value(x)

    def optimizer(self, name: str, args: list[Any], kwargs: Json) -> Any:
        import tf_keras

        return getattr(tf_keras.optimizers.legacy, name.removeprefix("keras."))(*args, **kwargs)

    def from_config(self, name: str, config: Json) -> Any:
        import tf_keras

        return getattr(tf_keras.optimizers.legacy, name.removeprefix("keras.")).from_config(config)

    def iterations(self, opt: Any) -> int | None:
        """Read from where they are kept: reading opt.iterations would make them."""
        return None if opt._iterations is None else int(opt._iterations.numpy())

    def kind(self, x: Any) -> str:
        return type(x).__name__


class Session(sessions.KerasSession):
    """Schedules by themselves, too."""

    def do_schedule(self, call: Json) -> Json:
        schedule = make_schedule(call["schedule"])
        return {"values": [np.asarray(schedule(step)) for step in call["steps"]]}

    def do_schedule_config(self, call: Json) -> Json:
        return {"config": make_schedule(call["schedule"]).get_config()}
