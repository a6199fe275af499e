"""A schedule of workers that compute and apply, played event by event; the state after each is
compared.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import gradlab as gl
from gradlab.train.variable import current_collection
from tests.conformance import compare
from tests.conformance.adapters import drop_stale_problem as problem
from tests.conformance.scenarios import Unsupported

Event = dict[str, Any]
# Events that are a race, and the switch that lets it happen.
RACES = {"passed_check": "atomic", "forward": "step_first"}


class Played:
    """The problem of a scenario and its optimizer; each worker is told by its name."""

    def __init__(self, data: dict[str, Any], **switches: bool) -> None:
        self.data, setup = data, data["setup"]
        problem.check(setup)
        self.mode, self.via = problem.mode(setup["comparison_hint"]), setup["via"]
        self.variables, self.step = problem.variables(setup), problem.global_step(setup)
        self.inner = problem.inner_optimizer(setup)
        self.opt = gl.train.DropStaleGradientOptimizer(
            self.inner, problem.threshold(setup), **switches
        )
        self.losses = {w: problem.loss(setup["loss"], self.variables, w) for w in setup["workers"]}
        self.pairs: dict[str, Any] = {}
        self.forwarded: set[str] = set()
        self.passed: dict[str, Any] = {}

    def as_worker(self, worker: str, act: Callable[[Any], Any]) -> Any:
        """`act(key)`, where `key` is what the optimizer tells the worker by."""
        return act(worker)

    def differences(self, where: str) -> list[str]:
        if current_collection().graph:
            self.describe()
        told = [(event, self.seen(event)) for event in self.data["events"]]
        found = [
            d
            for k, (event, seen) in enumerate(told)
            for d in self.compared(event, seen, f"{where} {k} {event['event']}")
        ]
        return found + self.summary_differences(where)

    def describe(self) -> None:
        """A Graph has every update described before the first one runs, and so every slot."""
        for worker in self.losses:
            self.as_worker(
                worker,
                lambda key, w=worker: self.opt.apply_gradients(
                    self.compute(w, key), self.step, worker=key
                ),
            )

    def seen(self, event: Event) -> dict[str, Any]:
        """Play an event: what it returned, and everything as it is after it."""
        verb = VERBS.get(event["event"])
        if verb is None:
            raise Unsupported(f"event {event['event']!r}")
        done = verb(self, event)
        values = {name: v.numpy() for name, v in self.variables.items()}
        state = {"global_step": int(self.step), "stale_counter": float(self.opt.stale_counter)}
        return {**done, **state, "variables": values, "slots": self.slots()}

    def compared(self, event: Event, seen: dict[str, Any], where: str) -> list[str]:
        """Against everything that the event tells; slots that no update has made yet are not there
        to compare.
        """
        want = {k: v for k, v in event.items() if k not in ("event", "worker", "value")}
        if unknown := want.keys() - seen.keys():
            raise Unsupported(f"an event that tells {sorted(unknown)}")
        if not seen["slots"] and not current_collection().graph:
            want.pop("slots", None)
        return [
            d
            for k, v in want.items()
            for d in compare.differences(v, seen[k], self.mode, f"{where}.{k}")
        ]

    def slots(self) -> dict[str, np.ndarray]:
        """By the original's names.

        What all weights share is named after the conditional in which it was built.
        """
        names = [(slot, name) for slot in self.opt.get_slot_names() for name in self.variables]
        own = {
            f"{slot}/{name}": self.opt.get_slot(self.variables[name], slot) for slot, name in names
        }
        shared = {
            f"cond/{v.name.removesuffix(':0')}": v
            for v in self.inner.variables()
            if v not in own.values()
        }
        return {name: v.numpy() for name, v in {**own, **shared}.items() if v is not None}

    def summary_differences(self, where: str) -> list[str]:
        want, got = self.data.get("summary_at_end"), self.opt.summaries()
        if want is None:
            return []
        if want["tag"] not in got:
            return [f"{where}: no summary {want['tag']!r} among {sorted(got)}"]
        return compare.differences(want["value"], got[want["tag"]], "bitwise", f"{where} summary")

    def compute(self, worker: str, key: Any) -> Any:
        return self.opt.compute_gradients(
            self.losses[worker], list(self.variables.values()), worker=key
        )

    def forward(self, worker: str, key: Any) -> Any:
        return self.opt.forward(self.losses[worker], list(self.variables.values()), worker=key)

    def apply(self, worker: str, key: Any) -> Any:
        """Whatever is left of applying: all of it, or the update after a check that was passed."""
        if worker in self.passed:
            done = self.opt.update(
                self.passed.pop(worker), self.pairs[worker], self.step, worker=key
            )
        elif self.via == "minimize" and self.opt.local_step(key) == int(self.step):
            # Nothing came in between.
            done = self.opt.minimize(
                self.losses[worker], self.step, list(self.variables.values()), worker=key
            )
        else:
            done = self.opt.apply_gradients(self.pairs[worker], self.step, worker=key)
        return done.run() if isinstance(done, gl.Operation) else done


def _initial(played: Played, event: Event) -> dict[str, Any]:
    return {}


def _forward(played: Played, event: Event) -> dict[str, Any]:
    worker = event["worker"]
    played.pairs[worker] = played.as_worker(worker, lambda key: played.forward(worker, key))
    played.forwarded.add(worker)
    return {}


def _compute(played: Played, event: Event) -> dict[str, Any]:
    worker = event["worker"]
    if worker in played.forwarded:
        played.forwarded.remove(worker)
        played.as_worker(worker, played.opt.note_step)
    else:
        played.pairs[worker] = played.as_worker(worker, lambda key: played.compute(worker, key))
    gradients = {v.name.removesuffix(":0"): _told(g) for g, v in played.pairs[worker]}
    return {"local_step": played.as_worker(worker, played.opt.local_step), "gradients": gradients}


def _told(g: Any) -> Any:
    if isinstance(g, gl.IndexedSlices):
        return {"indices": np.asarray(g.indices), "values": np.asarray(g.values)}
    return g if g is None else np.asarray(g)


def _passed_check(played: Played, event: Event) -> dict[str, Any]:
    worker = event["worker"]
    verdict = played.as_worker(worker, lambda key: played.opt.check(played.step, key))
    played.passed[worker] = verdict
    return {"staleness": verdict.staleness, "accepted": verdict.accepted}


def _apply(played: Played, event: Event) -> dict[str, Any]:
    worker = event["worker"]
    returned = played.as_worker(worker, lambda key: played.apply(worker, key))
    verdict = played.as_worker(worker, played.opt.verdict)
    return {"staleness": verdict.staleness, "accepted": verdict.accepted, "returned": returned}


def _set_global_step(played: Played, event: Event) -> dict[str, Any]:
    played.step.load(event["value"])
    return {}


VERBS: dict[str, Callable[[Played, Event], dict[str, Any]]] = {
    "initial": _initial,
    "forward": _forward,
    "compute": _compute,
    "passed_check": _passed_check,
    "apply": _apply,
    "set_global_step": _set_global_step,
}
