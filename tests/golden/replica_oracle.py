"""Run scenarios of two replicas: Keras's legacy optimizers under tf.distribute on two logical CPUs."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from tests.golden.tensorflow_values import Json, encode, tensorflow


@cache
def two_cpus() -> Any:
    """One for all scenarios: a second one would take up the first one's half-finished sums."""
    return tensorflow().distribute.MirroredStrategy(["CPU:0", "CPU:1"])


def outputs(scenario: Json) -> list[Json]:
    """The state on both replicas after each step; variables start at 0."""
    import tf_keras

    tf, given = tensorflow(), scenario["input"]
    grads = given["grads"]
    strategy = two_cpus()
    with strategy.scope():
        variables = [
            tf.Variable(np.zeros(3, np.float32), name=f"v{k}") for k in range(len(grads[0]))
        ]
        opt = getattr(tf_keras.optimizers.legacy, given["opt"]["class"])(**given["opt"]["kwargs"])
    found = []
    for call in scenario["calls"]:
        kwargs = {key: x for key, x in call.items() if key != "do"}
        strategy.run(
            tf.function(lambda: _step(tf, opt, variables, grads, given.get("pre"), kwargs))  # noqa: B023
        )
        found.append(_state(strategy, opt, variables, grads[0]))
    return found


def _step(
    tf: Any, opt: Any, variables: list[Any], grads: list[Any], pre: str | None, kwargs: Json
) -> None:
    """What one replica does: its own gradients, averaged by hand where the scenario says so."""
    context = tf.distribute.get_replica_context()
    mine = [_own(tf, context, by_replica) for by_replica in zip(*grads, strict=True)]
    if pre:
        mine = [None if g is None else context.all_reduce(pre, g) for g in mine]
    opt.apply_gradients(zip(mine, variables, strict=True), **kwargs)


def _own(tf: Any, context: Any, by_replica: Any) -> Any:
    if by_replica[0] is None:
        return None
    return tf.gather(tf.constant(by_replica, tf.float32), context.replica_id_in_sync_group)


def _state(strategy: Any, opt: Any, variables: list[Any], grads: list[Any]) -> Json:
    def shown(v: Any) -> list[Json]:
        return [encode(x.numpy()) for x in strategy.experimental_local_results(v)]

    stepped = [v for v, g in zip(variables, grads, strict=True) if g is not None]
    slots = [[name, shown(opt.get_slot(v, name))] for v in stepped for name in opt.get_slot_names()]
    iterations = int(opt.iterations.numpy())
    return {
        "returned": "None",
        "vars": [shown(v) for v in variables],
        "iterations": iterations,
        "slots": slots,
    }
