"""Which line of the report a scenario belongs to."""

from __future__ import annotations

from tests.conformance import ops
from tests.conformance.scenarios import Scenario, Unsupported

CLIPS, SCHEDULES, REST = "clip functions", "schedules", "gradients, names, gates"
RULES = {op.rule: None for op in ops.TRAINING_OPS.values()}
# Families with a line of their own, by the group that files give them.
GROUPS = {
    "clip": CLIPS,
    "model": "Keras models",
    "replicas": "Keras replicas",
    "accumulator": "conditional accumulators",
    "drop_stale": "DropStaleGradientOptimizer",
    "sync": "SyncReplicasOptimizer",
    "sync_replicas": "SyncReplicasOptimizer",
    "peers": "other libraries' formulas",
    **{f"sparsecore_{x}": "SparseCore" for x in ("optimizer", "preprocess", "layout", "drawn")},
    "slot_init": "TPU embedding formulas",
    "derived": "TPU embedding formulas",
    **dict.fromkeys(
        ("tf_tpu_test_expected", "embedding_lookup_sparse", "serving_lookup"),
        "TPU embedding formulas",
    ),
    **dict.fromkeys(
        ("config_proto", "op_shape", "config_api", "api_error", "initializer"), "TPU interfaces"
    ),
    "anchor": "other libraries' formulas",
}
OTHER = "other"
LINES = [
    *RULES,
    "Keras Adagrad",
    "Keras SGD",
    SCHEDULES,
    *dict.fromkeys(GROUPS.values()),
    REST,
    OTHER,
]
TF1 = {
    "GradientDescent": "StochasticGradientDescent"
}  # elsewhere the optimizer is called as its rule is


def line(scenario: Scenario) -> str:
    """Its line, "other" for families of which the report knows nothing."""
    family = scenario.group.partition(".")[0]
    if family in GROUPS:
        return GROUPS[family]
    if "inputs" in scenario.data and "op" in scenario.data["inputs"]:
        return _rule(scenario.data["inputs"]["op"])
    for call in scenario.calls:
        if call.get("do") == "op":
            return _rule(call["op"])
        if call.get("do") == "new":
            return _optimizer(call)
    return SCHEDULES if scenario.group == "schedule" else REST if scenario.group == "v1" else OTHER


def _rule(op: str) -> str:
    try:
        return ops.training_op(op).rule
    except Unsupported:
        return OTHER


def _optimizer(call: dict) -> str:
    library, _, name = call["class"].partition(".")
    if library == "keras":
        return f"Keras {name}" if f"Keras {name}" in LINES else OTHER
    name = name.removesuffix("Optimizer")
    if call.get("kwargs", {}).get("centered"):
        return "CenteredRMSProp"
    found = TF1.get(name, name)
    return found if found in RULES else OTHER
