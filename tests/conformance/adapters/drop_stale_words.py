"""What was observed of DropStaleGradientOptimizer, told in words: patterns, and what to do for
each.

All go by strict="tf" in a Graph.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from typing import Any

import numpy as np

import gradlab as gl
from gradlab.train.variable import current_collection
from tests.conformance import compare
from tests.conformance.adapters.drop_stale_problem import OPTIMIZERS, Stage, tensor
from tests.conformance.runner import attempt
from tests.conformance.scenarios import Scenario, Unsupported

# The original's class of what has a value when it is run; an Operation has none.
TENSOR = "SymbolicTensor"
DEFAULTS = {"momentum": {"momentum": 0.9}}


def differences(scenario: Scenario) -> list[str]:
    told = scenario.data["do"]
    if unknown := scenario.data.keys() - {"do", "out", "error", "notes", "note"}:
        raise Unsupported(f"an observation with {sorted(unknown)}")
    for pattern, play in TALES.items():
        if found := re.search(pattern, told, re.IGNORECASE):
            return _compared(scenario.data, played(play, found))
    raise Unsupported(f"observation {told!r}")


def played(play: Callable[[Stage, re.Match[str]], Any], found: re.Match[str]) -> Any:
    """In a Graph, where a loss is described; where it is called there is none."""
    with gl.variable_collection() if play is callable_loss else gl.Graph().as_default():
        return attempt(lambda: play(Stage(), found))


def _compared(data: dict[str, Any], got: Any) -> list[str]:
    if data.get("error") is not None:
        return compare.differences({"error": data["error"]}, got, "bitwise", data["do"])
    want = data.get("out")
    if isinstance(want, dict) and isinstance(got, dict):
        if unknown := want.keys() - got.keys():
            raise Unsupported(f"an outcome with {sorted(unknown)}")
        got = {k: got[k] for k in want}
    return compare.differences(want, got, "bitwise", data["do"])


def before_compute(stage: Stage, _: re.Match[str]) -> None:
    stage.wrapped().apply_gradients([(np.ones(2, np.float32), stage.v)], stage.step)


def no_global_step_given(stage: Stage, found: re.Match[str]) -> None:
    opt = stage.wrapped()
    if found[0].startswith("minimize"):
        opt.minimize(stage.loss, var_list=[stage.v])
    else:
        opt.apply_gradients(opt.compute_gradients(stage.loss, [stage.v]))


def no_global_step_at_all(stage: Stage, _: re.Match[str]) -> None:
    current_collection().global_step = None
    stage.wrapped().compute_gradients(stage.loss, [stage.v])


def threshold(stage: Stage, found: re.Match[str]) -> str:
    """A literal of Python's."""
    stage.applied(stage.wrapped(ast.literal_eval(found["value"])))
    return "built"


def threshold_tensor(stage: Stage, found: re.Match[str]) -> str:
    current = re.search(r"int(32|64) global step", found.string)
    if current and np.dtype(current[0].split()[0]) != stage.step.dtype:
        stage.step = gl.Variable(np.int32(0), trainable=False, name="global_step_int32")
        current_collection().global_step = stage.step
    stage.applied(stage.wrapped(tensor(1, found["dtype"])))
    return "built"


def nothing_to_apply(stage: Stage, found: re.Match[str]) -> None:
    stage.applied(
        stage.wrapped(), [] if "empty" in found[0].lower() else [(None, stage.v), (None, stage.u)]
    )


def one_without_gradient(stage: Stage, _: re.Match[str]) -> dict[str, Any]:
    opt = stage.wrapped()
    pairs = opt.compute_gradients(stage.loss, [stage.v, stage.u])
    returned = opt.apply_gradients(pairs, stage.step).run()
    return stage.told(float(returned), gradient_of_u_is_none=pairs[1][0] is None)


def minimized(stage: Stage, found: re.Match[str]) -> dict[str, Any]:
    op = stage.wrapped().minimize(stage.loss, stage.step, [stage.v])
    returned = [op.run() for _ in range(int(found["times"] or 1))]
    return stage.told(
        [float(r) for r in returned], return_type="Operation" if returned[0] is None else TENSOR
    )


def introspection(stage: Stage, found: re.Match[str]) -> dict[str, Any]:
    key = found["inner"].lower()
    inner = OPTIMIZERS[key](0.25, **DEFAULTS.get(key, {}))
    name, locking = re.search(r"name=['\"](\w+)", found.string), "use_locking=True" in found.string
    opt = stage.wrapped(0, inner, use_locking=locking, **({"name": name[1]} if name else {}))
    described = stage.applied(opt)
    graph: Any = current_collection()
    counters = [v for v in graph if "stale_counter" in v.name]
    slots = opt.get_slot_names()
    return {
        "get_name": opt.get_name(),
        "inner_get_name": inner.get_name(),
        "get_slot_names": slots,
        "get_slot_is_inner_slot": all(
            opt.get_slot(stage.v, s) is inner.get_slot(stage.v, s) is not None for s in slots
        ),
        "get_slot_unknown": opt.get_slot(stage.v, "unknown"),
        "variables()": [v.name for v in opt.variables()],
        "inner_variables()": [v.name for v in inner.variables()],
        "any_op_named_after_wrapper": any(
            opt.get_name() in x.name for x in (described, *graph, *graph.get_collection("train_op"))
        ),
        "use_locking_stored": opt.use_locking,
        "inner_use_locking": getattr(inner, "use_locking", False),
        "stale_counter": [_counter(v) for v in counters],
    }


def _counter(v: gl.Variable) -> dict[str, Any]:
    name = v.name.removesuffix(":0")
    return {"name": name, "dtype": v.dtype.name, "shape": list(v.shape), "trainable": v.trainable}


def order_of_reads(stage: Stage, found: re.Match[str]) -> dict[str, bool]:
    """Shown by running: what was noted while the weights were read, and whose gradient it is."""
    import jax

    opt = stage.wrapped(step_first=False)
    noted: list[bool] = []

    def loss() -> Any:
        noted.append(not isinstance(attempt(opt.local_step), compare.Raised))
        return -jax.nn.log_softmax(stage.v.value)[0] if "softmax" in found.string else stage.loss()

    loss()
    loss_notes = not isinstance(attempt(opt.local_step), compare.Raised)
    ((before, _),) = opt.forward(loss, [stage.v])
    stage.v.load([3.0, -3.0])
    opt.note_step()
    ((after, _),) = opt.compute_gradients(loss, [stage.v])
    return {
        "forward_read_of_v_is_gated_by_local_step": noted[1],
        "forward_read_of_v_feeds_the_gradient": before.tolist() != after.tolist(),
        "local_step_is_an_ancestor_of_the_gradient": not isinstance(
            attempt(opt.local_step), compare.Raised
        ),
        "local_step_is_an_ancestor_of_the_loss": loss_notes,
    }


def gradient_alone(stage: Stage, _: re.Match[str]) -> dict[str, Any]:
    ((g, _),) = stage.wrapped().compute_gradients(stage.loss, [stage.v])
    return stage.told(
        None, gradient=g, global_step_after_fetching_only_the_gradient=int(stage.step)
    )


def callable_loss(stage: Stage, _: re.Match[str]) -> None:
    stage.wrapped().compute_gradients(stage.loss, [stage.v])


def no_optimizer(stage: Stage, _: re.Match[str]) -> str:
    stage.wrapped(inner="not an optimizer")
    return "constructed"


def without_name(stage: Stage, found: re.Match[str]) -> None:
    stage.wrapped(name=None if found[1] == "None" else "")


def second_apply(stage: Stage, found: re.Match[str]) -> dict[str, Any]:
    """Refused, unless variables are reused: then both updates count into one counter."""
    reused = re.search(r"(?<!without )(?<!without variable )reuse", found.string, re.IGNORECASE)
    opt = stage.wrapped(strict=None if reused else "tf")
    returned = [stage.applied(opt) for _ in range(2)][-1].run()
    return stage.told(float(returned), stale_counter=float(opt.stale_counter))


def in_each_other(stage: Stage, _: re.Match[str]) -> dict[str, Any]:
    inner = stage.wrapped()
    opt = stage.wrapped(inner=inner)
    returned = stage.applied(opt).run()
    counters = [v for v in current_collection() if "stale_counter" in v.name]
    more = {"stale_counters": len(counters), "one_counter": len(counters) == 1}
    return stage.told(float(returned), stale_counter=float(opt.stale_counter), **more)


def powers_of_beta(stage: Stage, _: re.Match[str]) -> list[str]:
    """Named after the conditional in which the original first builds them."""
    inner = gl.train.AdamOptimizer(0.25)
    stage.applied(stage.wrapped(inner=inner))
    return [f"cond/{v.name.removesuffix(':0')}" for v in inner.variables() if "power" in v.name]


def another_step(stage: Stage, found: re.Match[str]) -> dict[str, Any]:
    """The step now is read from another variable than the gradient's step was."""
    words = r"(?:argument|given|passed|different|other|another)\D*?(-?\d+)"
    start = re.search(words, found.string) or re.search(r"(-?\d+)", found.string)
    if start is None:
        raise Unsupported("another step variable without its value")
    other = gl.Variable(np.int64(start[1]), trainable=False, name="other")
    opt = stage.wrapped()
    returned = opt.apply_gradients(opt.compute_gradients(stage.loss, [stage.v]), other).run()
    graphs, given = (
        ("graph_global_step", "graph_step"),
        ("other", "other_step", "argument", "given_step"),
    )
    return stage.told(
        float(returned),
        **dict.fromkeys(graphs, int(stage.step)),
        **dict.fromkeys(given, int(other)),
    )


# The first pattern that is found decides.
TALES: dict[str, Callable[[Stage, re.Match[str]], Any]] = {
    r"introspection: (?P<inner>\w+) wrapped": introspection,
    r"apply_gradients before (any )?compute_gradients": before_compute,
    r"\b(no|without (a|any|the)) global step\b|global step (is |was )?(missing|never)": no_global_step_at_all,
    r"(minimize|apply_gradients)\S* without (a )?global_step|apply_gradients\(.*global_step=None": no_global_step_given,
    r"staleness (given )?as an? (?P<dtype>u?int\d+) (tensor|constant)": threshold_tensor,
    r"staleness ?= ?(?P<value>None|True|False|-?[\d.]+|'[^']*'|\"[^\"]*\")(?! tensor)": threshold,
    r"empty grads_and_vars|empty list of": nothing_to_apply,
    r"(only|all|nothing but) (gradients )?(are )?None": nothing_to_apply,
    r"one gradient (is )?None": one_without_gradient,
    r"minimize\(loss, ?global_step\)( run (?P<times>\d+) times)?": minimized,
    r"must the step be read before the gradient": order_of_reads,
    r"running only the gradient": gradient_alone,
    r"callable loss": callable_loss,
    r"not an optimizer|validates nothing": no_optimizer,
    r"name ?= ?(None|['\"]{2})": without_name,
    r"second apply_gradients|apply_gradients.*\b(twice|second)|two apply_gradients": second_apply,
    r"(different|another|other|two) (global )?(step )?variables?": another_step,
    r"wrapp\w+ (in|of|around|inside) a(nother)? wrapp\w+|nested|DropStale\w+\(DropStale": in_each_other,
    r"beta\w* powers?.*name|names? of .*beta\w* power": powers_of_beta,
}
