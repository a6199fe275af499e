"""Kills of the processes of a run on Ray: of its server, of its workers, whatever they are at."""

from __future__ import annotations

import itertools
from functools import partial
from pathlib import Path
from typing import Any

from gradlab.workers import Bowl, Experiment
from gradlab.workers.ray_start import connected
from tests.faults.fault import Fault
from tests.workers.killing import Cruel, lost, wrong


def killed(times: int, folder: Path, seed: int) -> str:
    """Runs, one after the other, until so many processes were killed.

    Each trace replays to the bit, its log holds it, and each request that was answered is in it once.
    """
    with connected() as ray:
        kills = 0
        for run in itertools.count():
            driver = _driver(ray, folder / f"{run}.log", seed + run)
            try:
                trace = driver.run()
            except Exception as error:  # what it is, is said in the table
                return f"run {run}: {type(error).__name__}: {error}"
            if found := wrong(trace) or lost(driver, trace):
                return f"run {run}: {found}"
            kills += len(driver.killed)
            if kills >= times:
                return ""
    raise AssertionError


def _driver(ray: Any, log: Path, seed: int) -> Cruel:
    policy = ("drop", "apply", "backup")[seed % 3]
    e = Experiment(Bowl(noise=0.5), workers=3, policy=policy, staleness=2, aggregate=2, gradients=40, seed=seed)
    driver = Cruel(ray, e, log=log, sync=False, timeout=400)
    driver.seed = seed
    return driver


FAULTS = [
    # In CI on a stand-in of Ray: tests/workers/test_on_ray.py.
    Fault("100 kills of server and workers of runs on Ray", partial(killed, 4), 0, long=partial(killed, 100))
]
