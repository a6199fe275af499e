"""Conditional accumulators under strict="tf": sequences of calls, takers that wait in threads of
their own.

Scenarios of several accumulators are played by `tests/golden/objects.py`. Older files tell
observations in words, which `accumulator_words.py` and, for calls that kill TensorFlow,
`accumulator_aborts.py` understand.
"""

from __future__ import annotations

import contextlib
import contextvars
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

import gradlab as gl
from tests.conformance import decode
from tests.conformance.adapters import accumulator_aborts, accumulator_words
from tests.conformance.adapters import accumulator_calls as calls
from tests.conformance.adapters.accumulator_outcomes import Outcome, compared, recorded
from tests.conformance.scenarios import Scenario, Unsupported
from tests.golden import objects

PATIENCE = 30.0  # seconds to wait for what happens at once
# Timeout of a take that nobody can serve: what could serve it has happened before it asks.
AT_ONCE = 0.05
USUAL = {
    "kind": "dense",
    "dtype": "float32",
    "shape": [1],
    "reduction_type": "MEAN",
    "mode": "graph",
}
Call = dict[str, Any]


def accepts(scenario: Scenario) -> bool:
    return scenario.group.partition(".")[0] == "accumulator"


def differences(scenario: Scenario) -> list[str]:
    with gl.variable_collection():
        if "accumulator" in scenario.data:
            with Played({**USUAL, **scenario.data["accumulator"]}, scenario.id) as played:
                return [
                    d for k, step in enumerate(recorded(scenario)) for d in played.step(k, *step)
                ]
        if scenario.group.endswith("objects"):
            return objects_differences(scenario)
        if scenario.group.endswith("process_aborts"):
            return accumulator_aborts.differences(scenario)
        return accumulator_words.differences(scenario)


def objects_differences(scenario: Scenario) -> list[str]:
    """Deviations of accumulators that are made, shared and deleted by name."""
    played = objects.play(scenario.calls, objects.Gradlab(scenario.mode))
    found: list[str] = []
    for k, ((call, want), got) in enumerate(zip(recorded(scenario), played, strict=True)):
        found += compared(want, got, f"call {k} ({call['do']})")
    return found


def made(spec: dict[str, Any], **more: Any) -> Any:
    """The accumulator of a scenario; in eager mode a name keeps it apart from others, as there."""
    if unknown := spec.keys() - {
        "kind",
        "dtype",
        "shape",
        "reduction_type",
        "mode",
        "shared_name",
        "name",
    }:
        raise Unsupported(f"accumulator with {sorted(unknown)}")
    if spec["kind"] not in ("dense", "sparse") or spec["mode"] not in ("graph", "eager"):
        raise Unsupported(f"{spec['kind']} accumulator, mode {spec['mode']!r}")
    kind = (
        gl.SparseConditionalAccumulator if spec["kind"] == "sparse" else gl.ConditionalAccumulator
    )
    given = {
        k: spec[k] for k in ("reduction_type", "shared_name", "name") if spec.get(k) is not None
    }
    return kind(decode.dtype(spec["dtype"]), spec["shape"], strict="tf", **{**more, **given})


class Played:
    """An accumulator, and who waits for it."""

    def __init__(self, spec: dict[str, Any], name: str) -> None:
        self.spec, self.name = spec, name
        self.takers: dict[str, threading.Thread] = {}
        self.outcomes: dict[str, Outcome] = {}
        self.deadlines: dict[str, float] = {}  # when a taker gives up, in the scenario's own time
        self.clock, self.closed = 0.0, False

    def __enter__(self) -> Played:
        self.open = contextlib.ExitStack()
        graph = self.spec["mode"] == "graph"
        self.open.enter_context(gl.Graph().as_default() if graph else contextlib.nullcontext())
        self.acc = made(self.spec, **({} if graph else {"shared_name": self.name}))
        return self

    def __exit__(self, *error: object) -> None:
        if not self.closed:
            self.acc.close()
        self.join(self.takers)
        self.open.close()

    def step(self, k: int, call: Call, want: Outcome) -> list[str]:
        verb = VERBS.get(call["op"])
        if verb is None:
            raise Unsupported(f"call {call['op']!r}")
        if unknown := call.keys() - calls.FIELDS:
            raise Unsupported(f"{call['op']} with {sorted(unknown)}")
        got = self.caught(lambda: verb(self, call))
        if self.takers:
            got.update(self.settled())
        if "num_accumulated" in want:
            got["num_accumulated"] = None if self.closed else int(self.acc.num_accumulated())
        if "step_after" in want:
            got["step_after"] = self.acc.global_step
        return compared(want, got, f"call {k} ({call['op']})")

    def caught(self, act: Callable[[], Any]) -> Outcome:
        try:
            return {"out": self.shown(act())}
        except Unsupported:
            raise
        except Exception as error:  # which class it is, is the result
            return {"error": error}

    def shown(self, out: Any) -> Any:
        """A taken gradient as arrays; of the accumulator's dtype, or it is wrong."""
        if out is None:
            return None
        values = out.values if self.spec["kind"] == "sparse" else out
        if values.dtype != decode.dtype(self.spec["dtype"]):
            raise AssertionError(
                f"took {values.dtype}, the accumulator's dtype is {self.spec['dtype']}"
            )
        if self.spec["kind"] == "dense":
            return np.asarray(out)
        shape = out.dense_shape if hasattr(out, "dense_shape") else out.shape
        return {
            "indices": np.asarray(out.indices),
            "values": np.asarray(values),
            "shape": np.asarray(shape),
        }

    def settled(self) -> Outcome:
        """Who has come back, by name, and who waits, in the order of asking; once each thread is
        one or the other.
        """
        self.join(self.overdue())
        until(
            lambda: sum(t.is_alive() for t in self.takers.values()) <= len(self.acc.why_waiting())
        )
        done = sorted(name for name, thread in self.takers.items() if not thread.is_alive())
        for name in done:
            del self.takers[name]
        came = [{"taker": name, **self.outcomes.pop(name)} for name in done]
        return {"completed": came, "still_blocked": list(self.takers)}

    def overdue(self) -> list[str]:
        return [name for name in self.takers if self.deadlines.get(name, np.inf) <= self.clock]

    def join(self, names: Any) -> None:
        until(lambda: not any(self.takers[name].is_alive() for name in names))

    def start(self, name: str, act: Callable[[], Any]) -> None:
        context = contextvars.copy_context()
        run = lambda: self.outcomes.update({name: self.caught(act)})  # noqa: E731
        self.takers[name] = threading.Thread(target=lambda: context.run(run), daemon=True)
        self.takers[name].start()

    def apply(self, call: Call) -> None:
        apply = calls.apply_sparse if self.spec["kind"] == "sparse" else calls.apply_dense
        for _ in range(call.get("times", 1)):
            apply(self.acc, call, decode.dtype(self.spec["dtype"]))

    def apply_in_parallel(self, call: Call) -> None:
        """All at once, each in a thread of its own."""
        ready = threading.Barrier(len(call["grads"]))

        def one(grad: Any, step: dict[str, Any]) -> None:
            ready.wait(PATIENCE)
            self.apply({**call, **(grad if isinstance(grad, dict) else {"grad": grad}), **step})

        steps = [{"local_step": step} for step in call.get("local_steps", [])] or [{}] * len(
            call["grads"]
        )
        with ThreadPoolExecutor(len(call["grads"])) as pool:
            list(pool.map(one, call["grads"], steps))

    def take(self, call: Call) -> Any:
        return calls.take(self.acc, call, AT_ONCE)

    def start_take(self, call: Call) -> None:
        name, ms = call["taker"], call.get("timeout_ms")
        if ms is None:
            self.start(name, lambda: calls.take(self.acc, call, None))
            return
        self.deadlines[name] = self.clock + ms
        self.start(
            name,
            lambda: calls.take_until(self.acc, call, lambda: self.deadlines[name] <= self.clock),
        )

    def set_global_step(self, call: Call) -> None:
        calls.set_global_step(self.acc, call)

    def wait(self, call: Call) -> None:
        self.clock += call["ms"]

    def close(self, call: Call) -> None:
        self.closed = True
        self.acc.close()


VERBS: dict[str, Callable[[Played, Call], Any]] = {
    **dict.fromkeys(("apply_grad", "apply_indexed_slices_grad", "repeat_apply_grad"), Played.apply),
    **dict.fromkeys(("take_grad", "take_indexed_slices_grad"), Played.take),
    "parallel_apply_grad": Played.apply_in_parallel,
    "start_take": Played.start_take,
    "set_global_step": Played.set_global_step,
    "num_accumulated": lambda played, call: played.acc.num_accumulated(),
    "wait_ms": Played.wait,
    "session_close": Played.close,
}


def until(over: Callable[[], bool]) -> None:
    """Wait for what another thread is about to do."""
    end = time.monotonic() + PATIENCE
    while not over():
        if time.monotonic() > end:
            raise AssertionError(f"nothing happened for {PATIENCE:g} s")
        time.sleep(0.001)
