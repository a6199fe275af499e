"""One whole step of embedding tables, as TensorFlow's tests on TPUs take it: lookup, loss,
gradients, update.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from gradlab import tpu
from gradlab.tpu.engine.messages import FORMS, Form
from gradlab.tpu.update import row_sums
from tests.conformance.adapters.ops import against
from tests.conformance.scenarios import Scenario, Unsupported

MESSAGES = {"sgd": "stochastic_gradient_descent"}
FIELDS = {  # what the scenarios call them -> what the messages do
    "beta_1": "beta1",
    "beta_2": "beta2",
    "learning_rate_power": "lr_power",
    "l1_regularization_strength": "l1",
    "l2_regularization_strength": "l2",
    "multiply_linear_by_learning_rate": "multiply_linear_by_lr",
    "sum_inside_sqrt": "use_sum_inside_sqrt",
}


def accepts(scenario: Scenario) -> bool:
    return scenario.group == "tf_tpu_test_expected"


def differences(scenario: Scenario) -> list[str]:
    inputs, wanted = scenario.data["inputs"], scenario.data["expected"]
    found = step(inputs)
    return against(scenario, {k: found[k] for k in wanted if k in found})


def step(inputs: dict[str, Any]) -> dict[str, Any]:
    plan, form = plan_of(inputs), form_of(inputs["optimizer"])
    state = tpu.create(plan, list(inputs["tables"].values()))
    activations, dedup = tpu.lookup(state, tpu.make_batch(plan, batch_of(plan, inputs)))
    losses, gradients = losses_and_gradients(plan, activations, inputs.get("gradients"))
    sums = row_sums(plan, gradients, dedup)
    state = tpu.update(state, gradients, [], dedup)
    names, features = list(inputs["tables"]), [f["name"] for f in inputs["features"]]
    return {
        "activations": dict(zip(features, map(flat, activations, plan.features), strict=True)),
        "gradients": dict(zip(features, map(flat, gradients, plan.features), strict=True)),
        "valid_mask": {
            f.name: valid(f, g["ids"])
            for f, g in zip(plan.features, inputs["features"], strict=True)
        },
        "loss_per_replica": losses,
        "table_gradients": {
            n: jnp.zeros(w.shape).at[s.ids].add(s.sums)
            for n, w, s in zip(names, state.tables, sums, strict=True)
        },
        "touched_rows": {
            n: sorted({int(i) for i in np.asarray(s.ids) if i < w.shape[0]})
            for n, w, s in zip(names, state.tables, sums, strict=True)
        },
        "new_tables": dict(zip(names, state.tables, strict=True)),
        "new_slots": {
            n: dict(zip(form.slots, s, strict=True))
            for n, s in zip(names, state.slots, strict=True)
        },
    }


def plan_of(inputs: dict[str, Any]) -> tpu.Plan:
    rate, combiners = inputs["hyper"]["learning_rate"], inputs.get("combiners", {})
    rule = rule_of(inputs["optimizer"], inputs["hyper"])
    tables = {n: np.array(w) for n, w in inputs["tables"].items()}
    cores, names, features = inputs.get("num_replicas") or _replicas(inputs), list(tables), []
    for f in inputs["features"]:
        samples, length = len(f["ids"]) // cores, f.get("max_sequence_length", 0)
        shape = (samples // 4, 2, 2) if inputs.get("high_dimensional") else (samples,)
        shape = (*shape, length) if length else shape
        features.append(tpu.Feature(f["name"], names.index(f["table"]), shape, length))
    made = tuple(
        tpu.Table(n, *w.shape, rule, rate, combiners.get(n, "mean")) for n, w in tables.items()
    )
    return tpu.Plan(made, tuple(features), cores)


def _replicas(inputs: dict[str, Any]) -> int:
    """All ids of these scenarios are 2 samples for each replica."""
    return len(inputs["features"][0]["ids"]) // 2


def rule_of(name: str, hyper: dict[str, Any]) -> Any:
    form = form_of(name)
    written = {form.fields[field].message: field for field in form.written}
    values = dict(form.implied)
    for key, x in hyper.items():
        field = written.get(FIELDS.get(key, key))
        if field is not None:
            flag = form.fields[field].flag
            values[field] = flag[bool(x)] if flag else x
        elif key in form.fields:
            values[key] = x
        elif key.startswith("lazy_"):
            values["lazy"] = x
        elif key != "learning_rate":
            raise Unsupported(f"{key} of {name}")
    return form.rule(**values)


def form_of(name: str) -> Form:
    for form in FORMS:
        if form.message == MESSAGES.get(name, name):
            return form
    raise Unsupported(f"optimizer {name!r}")


def batch_of(plan: tpu.Plan, inputs: dict[str, Any]) -> list[dict[str, tpu.Ids]]:
    cores: list[dict[str, tpu.Ids]] = []
    for core in range(plan.cores):
        own = {}
        for feature, f in zip(plan.features, inputs["features"], strict=True):
            count = len(f["ids"]) // plan.cores
            rows = f["ids"][core * count : (core + 1) * count]
            splits = np.cumsum([0, *map(len, rows)])
            own[feature.name] = tpu.ids_of(feature, (splits, np.concatenate(rows).astype(int)))
        cores.append(own)
    return cores


def losses_and_gradients(
    plan: tpu.Plan, activations: Any, given: str | None
) -> tuple[list[float], Any]:
    """Of each replica: the sum over features of the mean over samples of squares; the sum of all is
    divided by all.
    """
    if given == "all ones":
        return [], [jnp.ones_like(a) for a in activations]

    def losses(activations: Any) -> Any:
        shares = [a.reshape(plan.cores, -1, a.shape[-1]) for a in activations]
        return sum((a * a).sum(2).mean(1) for a in shares)

    gradients = jax.grad(lambda a: losses(a).mean())(activations)
    return [float(x) for x in losses(activations)], gradients


def flat(x: Any, feature: tpu.Feature) -> Any:
    return x if feature.sequence_length else x.reshape(-1, x.shape[-1])


def valid(feature: tpu.Feature, ids: list[list[int]]) -> list[list[int]]:
    """1 where a sequence has an id."""
    return [[int(k < len(row)) for k in range(feature.sequence_length)] for row in ids]
