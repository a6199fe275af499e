"""Shape functions of the operations of TPU embeddings: shapes of outputs, or which error."""

from __future__ import annotations

import inspect
from typing import Any

import gradlab as gl
from tests.conformance.adapters.ops import against
from tests.conformance.runner import attempt
from tests.conformance.scenarios import Scenario, Unsupported

CONFIG = gl.tpu.TPUEmbeddingConfiguration
# What a scenario calls an input, and what the operation does: name there, names here.
OWN_NAMES = {
    "gradient_shapes": ("gradients", "inputs"),
    "learning_rate_shapes": ("learning_rates",),
    "id": ("table_id",),
    "name": ("table_name",),
    "p": ("parameters",),
    "num_outputs": ("num_outputs", "num_tables", "NumTables"),
    "num_tables": ("NumTables", "num_tables", "num_outputs"),
}
# What operations need and scenarios leave out.
USUAL = {
    "num_shards": 1,
    "shard_id": 0,
    "integer_type": "uint32",
    "float_type": "float32",
    "device_ordinal": -1,
    "table_ids": (),
    "learning_rates": (),
}


def accepts(scenario: Scenario) -> bool:
    return scenario.group == "op_shape"


def differences(scenario: Scenario) -> list[str]:
    inputs = dict(scenario.data["inputs"])
    op = getattr(gl.raw_ops, inputs.pop("op"), None)
    if op is None:
        raise Unsupported(f"operation {scenario.data['inputs']['op']}")
    given = arguments(op, inputs)
    outcome = attempt(lambda: op.shapes(**given))
    expected = scenario.data["expected"]
    if not expected["ok"]:
        return against(scenario, outcome)
    return against(
        scenario, {"ok": True, "shapes": outcome} if isinstance(outcome, list) else outcome
    )


def arguments(op: Any, inputs: dict[str, Any]) -> dict[str, Any]:
    """The keywords of an operation, from what the scenario says and what goes without saying."""
    parameters = inspect.signature(op).parameters
    known = renamed(parameters, inputs)
    for name, p in parameters.items():
        if name not in known and p.default is inspect.Parameter.empty:
            known[name] = usual(name, p.annotation, inputs, known)
    return known


def renamed(parameters: Any, inputs: dict[str, Any]) -> dict[str, Any]:
    known: dict[str, Any] = {}
    for name, x in inputs.items():
        if name.endswith("_hex"):
            known[name.removesuffix("_hex")] = bytes.fromhex(x)
        elif name in OWN_NAMES:
            known[next(n for n in OWN_NAMES[name] if n in parameters)] = x
        elif name in parameters:
            known[name] = x
        elif name == "mode":
            known["config"] = CONFIG(mode=x).SerializeToString()
        elif name == "num_combiners":
            known["combiners"] = ["sum"] * x
        elif name == "a":
            slots = [
                n for n, p in parameters.items() if p.annotation == "Tensor" and n != "parameters"
            ]
            known |= dict.fromkeys(slots, x)
        elif name not in ("num_inputs", "optimizer"):
            raise Unsupported(f"input {name!r}")
    return known


def usual(name: str, annotation: Any, inputs: dict[str, Any], known: dict[str, Any]) -> Any:
    if name in USUAL:
        return USUAL[name]
    if name == "NumTables":
        return len(CONFIG.FromString(known["config"]).table_descriptor)
    if annotation == "Tensors":
        return [(None,)] * inputs.get("num_inputs", 1)
    return b"" if annotation in ("bytes", "Config") else None
