"""Keras models: one layer without bias, one batch, by the built-in training step or by one of the
user's own.

The layer starts at zero, the loss is the mean squared error to 0.5, so that for x = [[3, 4]] the
gradient is [-3, -4].
"""

from __future__ import annotations

from typing import Any

import gradlab as gl
from tests.conformance import compare
from tests.conformance.adapters.keras_session import VERSIONS
from tests.conformance.runner import all_semantics, attempt
from tests.conformance.scenarios import Scenario, Unsupported

PATHS = ("fit", "custom_train_step")
CLIPS = ("none", "clipnorm", "clipvalue", "global_clipnorm")


def accepts(scenario: Scenario) -> bool:
    return scenario.group == "model" and scenario.mode == "model"


def differences(scenario: Scenario) -> list[str]:
    given = scenario.data["input"]
    if (
        given.get("path") not in PATHS
        or given.get("clip") not in CLIPS
        or given.keys() - {"x", "path", "clip"}
    ):
        raise Unsupported(f"model {given}")
    found = []
    for oracle, (want,) in scenario.data["expected"].items():
        for meaning in all_semantics(oracle):
            got = attempt(
                lambda meaning=meaning: {"weights": trained(given, VERSIONS[meaning]).numpy()}
            )
            found += compare.differences(want, got, scenario.data["compare"], f"{oracle}/{meaning}")
    return found


def trained(given: dict[str, Any], version: str) -> gl.Variable:
    """The weights of the layer after one step."""
    import jax.numpy as jnp

    limits = {} if given["clip"] == "none" else {given["clip"]: 1.0}
    optimizer = gl.keras.SGD(1.0, semantics=version, **limits)
    x, w = jnp.asarray(given["x"], jnp.float32), gl.Variable([[0.0], [0.0]], name="dense/kernel")

    def loss() -> Any:
        return jnp.mean((x @ w.value - 0.5) ** 2)

    if given["path"] == "fit":
        optimizer.minimize(loss, [w])
    else:
        optimizer.apply_gradients(zip(gl.gradients(loss, [w]), [w], strict=True))
    return w
