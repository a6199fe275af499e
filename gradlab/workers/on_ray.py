"""Real processes on one machine or a cluster, through Ray: the server is an actor, each worker is one, all may die."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .experiment import Experiment
from .ray_driver import Driver
from .ray_shards import ShardedDriver
from .ray_start import connected
from .trace import Trace


def run(
    experiment: Experiment, address: str | None = None, *, log: str | Path | None = None, sync: bool = True,
    tick: float = 1e-5, timeout: float | None = None, worker_options: Mapping[str, Any] | None = None,
    shards: int | None = None, shard_options: Mapping[str, Any] | None = None,
) -> Trace:  # fmt: skip
    """The trace of an experiment whose workers are processes; times are microseconds.

    Args:
        address: of a Ray cluster, by default $RAY_ADDRESS, else Ray is started on this machine for the time of the run.
            A Ray that is initialized already is used and left as it is.
        timeout: seconds from the call on, Ray's own start among them; None: as long as it takes, but an address at
            which nothing answers is given up after 10 seconds. A Ray that was started for the run is given up to 30
            seconds more to end.
        log, sync, tick, worker_options: see `Driver`.
        shards: so many actors have the rows of `Tables`, and no process has a whole table; None: one server has all.
            `shard_options` are Ray's of such an actor. See `ShardedDriver`.

    Not in TensorFlow, whose parameter servers are processes as well, but leave no trace to repeat a run by.

    Raises: ImportError: Ray is not installed. ConnectionError: no Ray is at the address. DeadlockError: nobody alive
    can go on. TimeoutError: after `timeout`. RuntimeError: Ray cannot be started here, the server died and there is no
    log, or somebody dies again and again. What a problem raises.
    """
    began = time.monotonic()
    with connected(address, timeout) as ray:
        spent = time.monotonic() - began
        left = None if timeout is None else timeout - spent
        if left is not None and left <= 0:
            raise TimeoutError(f"the run was not over in time: Ray alone was up after {spent:.1f} s, timeout={timeout}")
        options: dict[str, Any] = dict(log=log, sync=sync, tick=tick, timeout=left, worker_options=worker_options)
        if shards is None:
            return Driver(ray, experiment, **options).run()
        return ShardedDriver(ray, experiment, shards=shards, shard_options=shard_options, **options).run()
