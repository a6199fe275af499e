"""Observations of accumulators that are no code: what is meant by each, by its words.

A session of TensorFlow is a collection here, which is what accumulators share names in: a session
of its own is a `gl.Graph` of its own, sessions of one server are one.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

import gradlab as gl
from tests.conformance.adapters.accumulator_code import World
from tests.conformance.adapters.accumulator_outcomes import Outcome

Tale = Callable[[World, re.Match[str]], Outcome]
ONE: dict[str, Any] = {"dtype": np.dtype(np.float32), "shape": [1]}


def own_sessions(world: World, match: re.Match[str]) -> Outcome:
    """q1 and q2 have one name, q3 and q4 none; the first of two sessions applies to q1 and q3."""
    return _two_sessions(world, gl.Graph(), gl.Graph())


def one_server(world: World, match: re.Match[str]) -> Outcome:
    server = world.names["server"] = gl.Graph()
    return _two_sessions(world, server, server)


def _two_sessions(world: World, first: gl.Graph, second: gl.Graph) -> Outcome:
    world.names["sessions"] = sessions = [_four(first), _four(second)]
    for k in (0, 2):
        sessions[0][k].apply_grad([1.0])
    seen = {f"num_accumulated_session{k + 1}": _counts(four) for k, four in enumerate(sessions)}
    return {"names": [acc.name for acc in sessions[0]], **seen}


def _four(session: gl.Graph) -> list[Any]:
    with session.as_default():
        named = [gl.ConditionalAccumulator(**ONE, shared_name="q", strict="tf") for _ in range(2)]
        return named + [gl.ConditionalAccumulator(**ONE, strict="tf") for _ in range(2)]


def _counts(accumulators: list[Any]) -> list[int]:
    return [int(acc.num_accumulated()) for acc in accumulators]


def first_closed(world: World, match: re.Match[str]) -> Outcome:
    """It goes, with all it holds."""
    world.names["sessions"][0].clear()
    return {"num_accumulated_session2": _counts(world.names["sessions"][1])}


def another_graph(world: World, match: re.Match[str]) -> Outcome:
    with world.names["server"].as_default():
        acc = gl.ConditionalAccumulator(**ONE, shared_name="q", strict="tf")
    count, taken = int(acc.num_accumulated()), acc.take_grad(1, timeout=0.0)
    after = _counts(world.names["sessions"][1])
    return {
        "num_accumulated": count,
        "take": taken,
        "num_accumulated_seen_by_session2_after": after,
    }


def ref_applies(world: World, match: re.Match[str]) -> Outcome:
    with world.graph.as_default():
        handle = world.names["handle"] = gl.raw_ops.ConditionalAccumulator(**ONE)
    for grad in (3.0, 5.0):
        _ref_apply(handle, 0, grad)
    count = gl.raw_ops.AccumulatorNumAccumulated(handle=handle)
    return {
        "num_accumulated": int(count),
        "num_accumulated_dtype": count.dtype.name,
        "handle_dtype": _dtype(handle),
    }


def ref_take(world: World, match: re.Match[str]) -> Outcome:
    handle, count = world.names["handle"], np.int32(match[1])
    out = gl.raw_ops.AccumulatorTakeGradient(handle=handle, num_required=count, dtype=ONE["dtype"])
    return {"out": out, **_ref_count(handle)}


def ref_stale(world: World, match: re.Match[str]) -> Outcome:
    _ref_apply(world.names["handle"], int(match[1]), 1.0)
    return _ref_count(world.names["handle"])


def ref_set(world: World, match: re.Match[str]) -> Outcome:
    handle, step = world.names["handle"], int(match[1])
    gl.raw_ops.AccumulatorSetGlobalStep(handle=handle, new_global_step=np.int64(step))
    _ref_apply(handle, step, 1.0)
    return _ref_count(handle)


def _ref_apply(handle: Any, step: int, grad: float) -> None:
    gl.raw_ops.AccumulatorApplyGradient(
        handle=handle, local_step=np.int64(step), gradient=np.float32([grad])
    )


def _ref_count(handle: Any) -> Outcome:
    return {"num_accumulated": int(gl.raw_ops.AccumulatorNumAccumulated(handle=handle))}


def _dtype(handle: Any) -> str:
    return str(handle.dtype)


def resource_dtype(world: World, match: re.Match[str]) -> Outcome:
    return {"out": _dtype(gl.raw_ops.ResourceConditionalAccumulator(**ONE))}


def ref_op_on_a_resource(world: World, match: re.Match[str]) -> Outcome:
    _ref_apply(gl.raw_ops.ResourceConditionalAccumulator(**ONE), 0, 1.0)
    return {"out": None}


def in_a_function(world: World, match: re.Match[str]) -> Outcome:
    """What was traced there is a plain function here."""
    acc = gl.ConditionalAccumulator(**ONE, shared_name="function", strict="tf")

    def function(x: Any) -> Any:
        acc.apply_grad(x)
        acc.apply_grad(x + np.float32(1.0))
        return acc.take_grad(2, timeout=0.0)

    world.names.update(function=function, of_function=acc)
    return {"out": function(np.float32([match[1]]))}


def function_again(world: World, match: re.Match[str]) -> Outcome:
    world.names["of_function"].set_global_step(int(match[1]))
    return {"out": world.names["function"](np.float32([match[2]]))}


def interrupted(world: World, match: re.Match[str]) -> Outcome:
    """A fault like an abort: what survives Ctrl-C there ends here with KeyboardInterrupt, and
    nothing is lost.
    """
    child = [sys.executable, "-c", INTERRUPTED.format(graph="graph" in match[0])]
    done = subprocess.run(child, capture_output=True, text=True, timeout=120, check=False)
    ended = done.stdout.split() == ["KeyboardInterrupt", "1", "1.0"]
    return {
        "process_still_alive": ended,
        "returncode": None if ended else (done.returncode, done.stderr),
    }


INTERRUPTED = """
import contextlib, os, signal, threading, time
import gradlab as gl

def interrupt():
    while not acc.why_waiting():
        time.sleep(0.001)
    os.kill(os.getpid(), signal.SIGINT)

with gl.Graph().as_default() if {graph} else contextlib.nullcontext():
    acc = gl.ConditionalAccumulator("float32", [1], strict="tf")
acc.apply_grad([1.0])
thread = threading.Thread(target=interrupt)
thread.start()
try:
    acc.take_grad(2)
except KeyboardInterrupt:
    print("KeyboardInterrupt", acc.num_accumulated(), acc.take_grad(1)[0])
thread.join()
"""


def no_gradient(world: World, match: re.Match[str]) -> Outcome:
    """Nothing flows through: what is being differentiated is refused."""
    acc, v = gl.ConditionalAccumulator(**ONE, shared_name="tape", strict="tf"), gl.Variable([1.0])

    def loss() -> Any:
        acc.apply_grad(v.value)
        return acc.take_grad(1, timeout=0.0).sum()

    try:
        return {"out": gl.gradients(loss, [v])[0]}
    except TypeError:
        return {"out": None}


TALES: dict[re.Pattern[str], Tale] = {
    re.compile(pattern): tale
    for pattern, tale in {
        r"q1,q2 share a name; q3,q4 unnamed": own_sessions,
        r"two sessions on one .*server": one_server,
        r"session 1 .*closed; session 2": first_closed,
        r"different graph on that server": another_graph,
        r"^two applies$": ref_applies,
        r"^take (\d+)$": ref_take,
        r"^apply local_step (-?\d+)": ref_stale,
        r"^set_global_step\((-?\d+)\), apply$": ref_set,
        r"^resource handle dtype": resource_dtype,
        r"AccumulatorApplyGradient on a resource": ref_op_on_a_resource,
        r"@tf.function: apply x, apply x\+1, take 2; called with ([\d.]+)": in_a_function,
        r"set_global_step\((-?\d+)\), called again with ([\d.]+)": function_again,
        r"(?:eager|graph).*SIGINT": interrupted,
        r"[tT]ape\b|tf\.gradients|differentia": no_gradient,
    }.items()
}
