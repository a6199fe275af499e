"""Learning-rate schedules by themselves: their values, their config, and how they are written down.

Optimizers that run under a schedule belong to the optimizers' adapters, whatever group the file
puts them in.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import gradlab as gl
from tests.conformance import decode
from tests.conformance.runner import attempt, replay
from tests.conformance.scenarios import Scenario, Unsupported

VERBS = ("schedule", "schedule_config", "schedule_serialize")
CLASSES = (
    "ExponentialDecay",
    "PiecewiseConstantDecay",
    "PolynomialDecay",
    "InverseTimeDecay",
    "CosineDecay",
    "CosineDecayRestarts",
)


def accepts(scenario: Scenario) -> bool:
    verbs = {call.get("do") for call in scenario.calls}
    return (
        scenario.group == "schedule" and scenario.mode in ("eager", "graph") and "new" not in verbs
    )


def differences(scenario: Scenario) -> list[str]:
    return replay(
        scenario, lambda semantics: [run_call(call, semantics) for call in scenario.calls]
    )


def make(x: dict[str, Any]) -> gl.schedules.LearningRateSchedule:
    """The schedule behind {"class", "config"}."""
    if x["class"] not in CLASSES:
        raise Unsupported(f"schedule {x['class']!r}")
    return getattr(gl.schedules, x["class"])(**decode.value({"dict": x["config"]}))


def run_call(call: dict[str, Any], semantics: str) -> Any:
    if call["do"] not in VERBS:
        raise Unsupported(f"verb {call['do']!r}")
    if call["do"] == "schedule":
        return attempt(lambda: {"values": values(call)})
    written = attempt(lambda: gl.schedules.serialize(make(call["schedule"]), semantics=semantics))
    if isinstance(written, dict):
        return {"config": written["config"] if call["do"] == "schedule_config" else written}
    return written


def values(call: dict[str, Any]) -> list[Any]:
    """The rate of each step; `step_dtype` says what the steps are, plain numbers otherwise."""
    schedule = make(call["schedule"])
    steps = [decode.number(step) for step in call["steps"]]
    if "step_dtype" in call:
        steps = [np.asarray(step, decode.dtype(call["step_dtype"]))[()] for step in steps]
    return [schedule(step) for step in steps]
