"""Keras's optimizers: one `Session` per scenario.

Where the original raised, the scenario runs with `strict="tf"`, for that is where it leaves a step
half done; elsewhere gradlab runs as it is used.
"""

from __future__ import annotations

from typing import Any

import gradlab as gl
from tests.conformance.adapters.keras_session import CLASSES, Session
from tests.conformance.runner import all_semantics, replay
from tests.conformance.scenarios import Scenario, Unsupported

# Verbs of TensorFlow 1's optimizers that Keras's have not.
TF1_ONLY = (
    "compute_gradients",
    "three_step",
    "get_name",
    "collection",
    "gradients",
    "trainable_variables",
)
# In a graph: the name of the node that counts, and gradlab has no such node.
NOT_COMPARED = {("apply_gradients", "name"), ("minimize", "name")}


def accepts(scenario: Scenario) -> bool:
    """Scenarios that make a Keras optimizer, or try to."""
    made = [call.get("class", "") for call in scenario.calls if call.get("do") == "new"]
    return scenario.mode in ("eager", "graph") and any(name.startswith("keras.") for name in made)


def differences(scenario: Scenario) -> list[str]:
    for call in scenario.calls:
        if not hasattr(Session, f"do_{call['do']}") or call["do"] in TF1_ONLY:
            raise Unsupported(f"verb {call['do']!r}")
        if call.get("class", "keras.SGD") not in CLASSES:
            raise Unsupported(f"class {call['class']!r}")
    return replay(
        scenario, lambda meaning: run(scenario, meaning, strict(scenario, meaning)), NOT_COMPARED
    )


def strict(scenario: Scenario, meaning: str) -> str | None:
    """ "tf" where the original raised."""
    outputs = [
        o for oracle, o in scenario.data["expected"].items() if meaning in all_semantics(oracle)
    ]
    return "tf" if any("error" in out for o in outputs for out in o) else None


def run(scenario: Scenario, meaning: str, strict: str | None) -> list[Any]:
    """The outputs of the scenario's calls, in order."""
    graph = gl.Graph() if scenario.mode == "graph" else None
    with graph.as_default() if graph else gl.variable_collection():
        return Session(scenario, meaning, strict).play(scenario.calls)
