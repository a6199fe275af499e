"""SyncReplicasOptimizer: workers that push, a chief that averages, one event after the other and
none that waits.

Observations told in words are in `sync_replicas_words.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import gradlab as gl
from gradlab.train.sync_replicas.rounds import Sync
from gradlab.train.sync_replicas.tokens import TokenTaker
from tests.conformance import compare, decode
from tests.conformance.adapters import sync_replicas_words
from tests.conformance.runner import attempt
from tests.conformance.scenarios import Scenario, Unsupported

EXACT = ("sgd", "gradientdescent", "momentum")  # the others are as in their own golden files
SETUP = {
    *(
        "workers",
        "replicas_to_aggregate",
        "total_num_replicas",
        "num_init_tokens",
        "inner_optimizer",
        "inner_args",
    ),
    *("gradient_kind", "accumulator_class", "tokens_per_step", "variable_init"),
}
ASKED = {"event", "worker", "gradient", "do"}  # the rest of an event is what was seen after it


def accepts(scenario: Scenario) -> bool:
    return scenario.group.partition(".")[0] in ("sync_replicas", "sync")


def differences(scenario: Scenario) -> list[str]:
    """Of events, of calls and what was seen after each, or of a sentence."""
    data = scenario.data
    if "events" in data:
        return _differences(data["setup"], data["events"])
    if "setup" not in data:
        return sync_replicas_words.differences(scenario)
    found = []
    for seen in data["expected"].values():
        told = [
            {**call, **after, "event": call["do"]}
            for call, after in zip(data["calls"], seen, strict=True)
        ]
        found += _differences(data["setup"], told)
    return found


def _differences(setup: dict[str, Any], events: list[dict[str, Any]]) -> list[str]:
    if unknown := setup.keys() - SETUP:
        raise Unsupported(f"setup with {sorted(unknown)}")
    if setup["gradient_kind"] not in ("dense", "sparse"):
        raise Unsupported(f"{setup['gradient_kind']} gradients")
    played, mode = (
        Played(setup),
        "bitwise" if setup["inner_optimizer"].lower() in EXACT else "rtol 1e-6",
    )
    found = played.check_setup()
    for k, event in enumerate(events):
        seen = played.play(event)
        want = {"finished": [], "sync_finished": None} | {
            key: x for key, x in event.items() if key not in ASKED
        }
        if unknown := want.keys() - seen.keys():
            raise Unsupported(f"an event with {sorted(unknown)}")
        for key, x in want.items():
            found += _compared(x, seen[key], mode, f"event {k} ({event['event']}) {key}")
    return found


def _compared(want: Any, got: Any, mode: str, where: str) -> list[str]:
    if isinstance(want, dict) and "class" in want:
        return compare.differences({"error": want}, got, mode, where)
    if isinstance(want, list) and all(isinstance(x, str) for x in want):
        want, got = sorted(want), sorted(got)  # by name: who came first is not said
    return compare.differences(want, got, mode, where)


class Played:
    """One variable, its optimizer, and who waits."""

    def __init__(self, setup: dict[str, Any]) -> None:
        self.setup = setup
        self.names = [f"w{k}" for k in range(setup["workers"])]
        self.step = gl.get_or_create_global_step()
        self.v = gl.Variable(np.array(decode.numbers(setup["variable_init"]), np.float32), name="v")
        self.opt = gl.train.SyncReplicasOptimizer(
            sync_replicas_words.class_of(setup["inner_optimizer"])(**setup["inner_args"]),
            setup["replicas_to_aggregate"],
            setup["total_num_replicas"],
        )
        self.opt.build([(self.gradient(None), self.v)], self.step)
        self.opt.get_init_tokens_op(setup["num_init_tokens"]).run()
        self.workers: dict[str, TokenTaker] = {}
        self.syncs: list[Sync] = []
        self.errors: dict[str, Exception | None] = {}

    def check_setup(self) -> list[str]:
        (accumulator,) = self.opt.accumulators.values()
        own = {
            "accumulator_class": type(accumulator).__name__,
            "tokens_per_step": self.opt.tokens_per_step,
        }
        return [
            f"{key}: expected {self.setup[key]}, got {x}"
            for key, x in own.items()
            if x != self.setup.get(key, x)
        ]

    def gradient(self, written: Any) -> Any:
        """Of what an event says, or any one."""
        if self.setup["gradient_kind"] == "dense":
            return (
                np.zeros_like(self.v.value)
                if written is None
                else np.array(decode.numbers(written), np.float32)
            )
        if written is None:
            return gl.IndexedSlices(self.v.value[:0], [], self.v.shape)
        values = np.array(decode.numbers(written["values"]), np.float32)
        return gl.IndexedSlices(values, np.array(written["indices"], np.int32), self.v.shape)

    def play(self, event: dict[str, Any]) -> dict[str, Any]:
        """Do it, and see what came of it."""
        if event["event"] not in VERBS:
            raise Unsupported(f"event {event['event']!r}")
        sync_finished = VERBS[event["event"]](self, event)
        for sync in [s for s in self.syncs if s.done]:
            self.syncs.remove(sync)
            self.opt.finish(sync)
            sync_finished = True
        finished = [name for name, taker in self.workers.items() if taker.done]
        for name in finished:
            del self.workers[name]
        (accumulator,) = self.opt.accumulators.values()
        return {
            "finished": finished,
            "sync_finished": sync_finished,
            "global_step": int(self.step),
            "variable": self.v.numpy(),
            "tokens_in_queue": len(self.opt.tokens),
            "num_accumulated": accumulator.num_accumulated(),
            "local_steps": [self.opt.local_step(name) for name in self.names],
            "workers_blocked": [
                waiting.who for waiting in self.opt.why_waiting() if waiting.who != "chief"
            ],
            "sync_blocked": any(waiting.who == "chief" for waiting in self.opt.why_waiting()),
            # Nothing that a worker asks for here can fail.
            **{f"{name}_error": None for name in self.names},
        }

    def initial(self, event: dict[str, Any]) -> None:
        """Nothing has happened yet."""

    def train_op(self, event: dict[str, Any]) -> None:
        name = event["worker"]
        self.opt.push([(self.gradient(event["gradient"]), self.v)], name)
        self.workers[name] = self.opt.request_token(name)

    def chief_sync_op(self, event: dict[str, Any]) -> None:
        self.syncs.append(self.opt.request_sync())

    def chief_session_closed(self, event: dict[str, Any]) -> Any:
        """The take of the chief is cancelled, workers have sessions of their own."""
        for sync in self.syncs:
            self.opt.cancel(sync)
        return attempt(self.syncs.pop().pairs) if self.syncs else None


VERBS: dict[str, Callable[[Played, dict[str, Any]], Any]] = {
    "initial": Played.initial,
    "train_op": Played.train_op,
    "chief_sync_op": Played.chief_sync_op,
    "chief_session_closed": Played.chief_session_closed,
}
