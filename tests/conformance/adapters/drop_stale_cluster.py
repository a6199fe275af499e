"""The same schedules on a cluster in one process: every worker a thread, which is told by nothing
else.

A server holds weights, step and counter; the workers' turns come in the order of the schedule. A
cross check names a scenario; one that is not in the file is stood in for by schedules of that many
workers.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import gradlab as gl
from tests.conformance import compare
from tests.conformance.adapters.drop_stale_schedule import RACES, Event, Played
from tests.conformance.scenarios import Scenario, Unsupported

PATIENCE = 30.0
SERVER = "/job:ps/task:0"  # where the original puts what the workers share


class Cluster(Played):
    """Every worker computes and applies in a thread of its own."""

    def __init__(self, data: dict[str, Any], **switches: bool) -> None:
        super().__init__(data, **switches)
        self.threads = {w: ThreadPoolExecutor(1, thread_name_prefix=w) for w in self.losses}

    def as_worker(self, worker: str, act: Callable[[Any], Any]) -> Any:
        return self.threads[worker].submit(act, None).result(PATIENCE)

    def close(self) -> None:
        for thread in self.threads.values():
            thread.shutdown()


def differences(scenario: Scenario) -> list[str]:
    data = scenario.data
    if unknown := data.keys() - {
        "scenario",
        "named",
        "identical_to_single_graph_run",
        "workers",
        "stale_counter_device",
    }:
        raise Unsupported(f"a cross check with {sorted(unknown)}")
    runs = [data["named"]] if data["named"] else stand_ins(data["workers"])
    want = {k: v for k, v in data.items() if k not in ("scenario", "named")}
    return [
        d
        for run in runs
        for d in compare.differences(want, checked(run), "bitwise", data["scenario"])
    ]


def checked(data: dict[str, Any]) -> dict[str, Any]:
    """Single-threaded and on the cluster: whether every event saw the same, and on whose account
    drops were counted.
    """
    switches = dict.fromkeys(RACES.values(), False)
    with gl.variable_collection():
        single = Played(data, **switches)
        alone = [single.seen(event) for event in data["events"]]
    with gl.variable_collection() as server:
        cluster = Cluster(data, **switches)
        try:
            together = [cluster.seen(event) for event in data["events"]]
        finally:
            cluster.close()
        shared = any(v is cluster.opt.stale_counter for v in server)
    return {
        "identical_to_single_graph_run": list(map(compare.encoded, alone))
        == list(map(compare.encoded, together)),
        "workers": len(cluster.threads),
        "stale_counter_device": SERVER if shared else "the worker's",
    }


def stand_ins(workers: int) -> list[dict[str, Any]]:
    """Rounds in which all compute and then apply, and one worker overtaking the others, at several
    thresholds.
    """
    names = [f"w{k}" for k in range(workers)]
    together = [(what, w) for _ in range(3) for what in ("compute", "apply") for w in names]
    overtaken = [("compute", w) for w in names] + [
        (what, names[0]) for _ in range(2) for what in ("apply", "compute")
    ]
    overtaken += [("apply", w) for w in reversed(names)]
    return [
        {"setup": _setup(names, limit, inner), "events": list(map(_event, events))}
        for events, limit, inner in itertools.product(
            (together, overtaken), (-1, 0, 2), ("sgd", "adam")
        )
    ]


def _event(told: tuple[str, str]) -> Event:
    return {"event": told[0], "worker": told[1]}


def _setup(workers: list[str], limit: int, inner: str) -> dict[str, Any]:
    return {
        "variables": {"v": {"init": [0.0, 1.0], "shape": [2]}},
        "dtype": "float32",
        "loss": {"kind": "0.5*scale*sum((v-t)^2)", "scale": 1.0, "targets": {"v": [3.0, -2.0]}},
        "inner_optimizer": inner,
        "inner_args": {"learning_rate": 0.1},
        "staleness": limit,
        "workers": workers,
        "global_step_dtype": "int64",
        "via": "compute_apply",
        "comparison_hint": "bit-exact",
    }
