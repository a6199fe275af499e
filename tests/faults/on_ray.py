"""Kills of the processes of a run on Ray: its server and its workers, at any time."""

from __future__ import annotations

import itertools
from functools import partial
from pathlib import Path

from gradlab.workers import Bowl, Experiment, run
from gradlab.workers.on_ray import connect
from tests.faults.fault import Fault
from tests.workers.killing import Killer, find_fault


def killed(times: int, folder: Path, seed: int) -> str:
    """Make runs until this many processes were killed; each replays bit for bit, and its log holds
    it.
    """
    kills = 0
    with connect(None):
        for k in itertools.count():
            policy = ("drop", "apply", "backup")[(seed + k) % 3]
            e = Experiment(
                Bowl(noise=0.5),
                workers=3,
                policy=policy,
                staleness=2,
                aggregate=2,
                gradients=90,
                seed=seed,
            )
            log = folder / f"{k}.log"
            try:
                with Killer(seed + k, kills=3) as killer:
                    trace = run(e, "ray", log=log, sync=False, tick=2e-3, timeout=400)
            except Exception as error:  # the table shows it
                return f"run {k}: {type(error).__name__}: {error}"
            fault = find_fault(trace, log)
            if fault:
                return f"run {k}: {fault}"
            kills += len(killer.killed)
            if kills >= times:
                return ""
    raise AssertionError


FAULTS = [
    # tests/workers/test_on_ray.py has some in every run of the tests.
    Fault(
        "100 kills of server and workers of runs on Ray",
        partial(killed, 4),
        0,
        long=partial(killed, 100),
    )
]
