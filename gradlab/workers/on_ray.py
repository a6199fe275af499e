"""Workers as processes on one machine or a cluster, through Ray: any of them may die, and so may the server."""

from __future__ import annotations

import logging
import math
import os
import shutil
import socket
import tempfile
import time
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from .._base.extras import need
from ..errors import InvalidArgumentError
from .experiment import Experiment
from .ray_actors import Handle, ServerActor, ShardActor, WorkerActor
from .rows import join_tables
from .trace import Trace
from .validation import check_finite, check_whole

# Bytes of shared memory of a Ray of our own; larger objects go to the disk.
_OBJECT_STORE = 200 * 2**20
_FEWEST_CPUS = 2  # of a Ray of our own
_KNOCK_SECONDS = 10.0
_LOCAL_HOSTS = ("127.0.0.1", "localhost", "::1")
_FAREWELL_SECONDS = 2.0
_MOST_RESTARTS = 100  # of a server or shard, so that one that dies at every start ends the run


def run(
    experiment: Experiment,
    address: str | None = None,
    *,
    log: str | Path | None = None,
    sync: bool = True,
    tick: float = 1e-5,
    timeout: float | None = None,
    worker_options: Mapping[str, Any] | None = None,
    shards: int | None = None,
    shard_options: Mapping[str, Any] | None = None,
) -> Trace:
    """Run an experiment whose server and workers are processes; times are microseconds.

    A worker that dies leaves (the gradient that it was computing is lost) and joins again as a new
    process. A server that dies is restarted and restored from its log, bit for bit; a request is
    made once, however often it is sent.

    Args:
        address: of a Ray cluster, by default $RAY_ADDRESS; without either, Ray is started on this
            machine for the run. A Ray that this process has initialized is used and left running.
        log: path of the server's log, on a disk that all nodes see. If it is there already, the run
            continues where it stopped. None: the run ends when its server dies.
        sync: whether a request is on the disk before it is answered (fsync), and so outlives the
            machine, too.
        tick: seconds that one tick of `Speeds` takes at least.
        timeout: seconds from the call to the end of the run; None: as long as it takes. Ray's own
            start counts, but is not interrupted. An address where nothing answers is given up after
            10 seconds.
        worker_options: Ray's options of a worker's actor, such as `{"num_cpus": 4, "num_gpus": 1}`.
        shards: the number of actors that hold the rows of `Tables`, row r on shard r % shards. No
            process but yours has a whole table, and yours only at the end. None: one server has all
            weights.
        shard_options: Ray's options of a shard's actor, such as `{"memory": 8e9}`.

    Not in TensorFlow, whose parameter servers are processes as well, but leave no trace that
    repeats a run.

    Raises:
        ImportError: Ray is not installed.
        ConnectionError: no Ray answers at the address.
        DeadlockError: no worker can go on.
        TimeoutError: after `timeout`.
        RuntimeError: Ray cannot be started here, the server died without a log, or a worker died
            five times without a gradient in between, or Ray fails in another way. Errors of the
            problem are raised as they are.
    """
    deadline = None if timeout is None else time.monotonic() + timeout
    check_finite("tick", tick, 0)
    if shards is not None:
        check_whole("shards", shards, 1)
        if not hasattr(experiment.problem, "rows"):
            raise InvalidArgumentError(
                "shards= is for tables: the problem says which rows a batch reads, as Tables does"
            )
    log = None if log is None else Path(log).absolute()
    num_cpus = _count_cpus(
        (experiment.workers, worker_options or {}), (shards or 0, shard_options or {})
    )
    with connect(address, num_cpus) as ray:
        processes = _Processes(ray, experiment, log, tick, deadline)
        try:
            processes.start(sync, worker_options or {}, shards or 0, shard_options or {})
            return processes.supervise()
        except ray.exceptions.GetTimeoutError as error:
            raise TimeoutError(
                "the run was not over in time; give it more, or see what its processes do"
            ) from error
        except ray.exceptions.RayError as error:
            raise _explain(ray, error, log) from error
        finally:
            processes.kill()


class _Processes:
    """The actors of a run. It starts them, replaces workers that die, and ends all of them."""

    def __init__(
        self,
        ray: Any,
        experiment: Experiment,
        log: Path | None,
        tick: float,
        deadline: float | None,
    ) -> None:
        self.ray = ray
        self.experiment = experiment
        self.log = log
        self.tick = tick
        self.deadline = deadline
        self.shipped = ray.put(experiment)  # once for all workers
        self.server: Handle = None
        self.shards: list[Handle] = []
        self.workers: dict[int, Handle] = {}

    def start(
        self,
        sync: bool,
        worker_options: Mapping[str, Any],
        shards: int,
        shard_options: Mapping[str, Any],
    ) -> None:
        """Start all actors, and wait until the workers are up."""
        ray = self.ray
        # Without a log a new process would begin with the first weights, so then Ray restarts none.
        restarts = (
            {} if self.log is None else {"max_restarts": _MOST_RESTARTS, "max_task_retries": -1}
        )
        spread = {"num_cpus": 0, "scheduling_strategy": "SPREAD"}
        shard_class = ray.remote(ShardActor).options(**{**spread, **restarts, **shard_options})
        self.shards = [
            shard_class.remote(self.experiment, index, shards, self.log) for index in range(shards)
        ]
        server_class = ray.remote(ServerActor).options(num_cpus=0, **restarts)
        self.server = server_class.remote(self.experiment, self.log, sync, self.shards)
        self.worker_class = ray.remote(WorkerActor).options(**{**spread, **worker_options})
        # All begin together, so that no worker is ahead because its process was up first.
        ready = [self._start_worker(k).ready.remote() for k in range(self.experiment.workers)]
        ray.wait(ready, num_returns=len(ready), timeout=self._seconds_left())
        self._get(self.server.begin.remote())

    def kill(self) -> None:
        for actor in (*self.workers.values(), self.server, *self.shards):
            if actor is not None:
                self.ray.kill(actor)

    def supervise(self) -> Trace:
        """Wait for the end of the run, and meanwhile replace workers that die."""
        ray = self.ray
        trace = self.server.trace.remote()
        lives = {actor.run.remote(self.server): k for k, actor in self.workers.items()}
        while True:
            ready, _ = ray.wait([trace, *lives], timeout=self._seconds_left())
            if not ready:
                raise ray.exceptions.GetTimeoutError
            if ready[0] == trace:
                result = self._join_shards(*self._get(trace))
                # The next answer tells each worker that the run is over. If the server were killed
                # while it is asked, Ray would print that it tries again.
                ray.wait([*lives], num_returns=len(lives), timeout=_FAREWELL_SECONDS)
                return result
            k = lives.pop(ready[0])
            try:
                ray.get(ready[0])
            except ray.exceptions.RayTaskError:
                # Raised by the worker's code, such as the problem's.
                raise
            except ray.exceptions.RayError:  # the process died
                self._get(self.server.leave.remote(k))
                self.ray.kill(self.workers[k])
                lives[self._start_worker(k).run.remote(self.server)] = k

    def _start_worker(self, k: int) -> Handle:
        self.workers[k] = self.worker_class.remote(self.shipped, k, self.tick, bool(self.shards))
        return self.workers[k]

    def _join_shards(self, trace: Trace, refs: list[Any]) -> Trace:
        """Put the weights of the shards into the trace."""
        if not refs:
            return trace
        parts = self._get(refs)
        problem: Any = self.experiment.problem
        tables = {
            table.name: join_tables([part[table.name] for part in parts])
            for table in problem.plan.tables
        }
        return replace(trace, weights=parts[0] | tables)

    def _get(self, ref: Any) -> Any:
        return self.ray.get(ref, timeout=self._seconds_left())

    def _seconds_left(self) -> float | None:
        return None if self.deadline is None else max(0.0, self.deadline - time.monotonic())


def _count_cpus(*actors: tuple[int, Mapping[str, Any]]) -> int:
    """Return the CPUs that a Ray of our own needs for some numbers of actors with Ray's options.

    Ray schedules no actor that asks for more CPUs than are free, and waits without an error. These
    CPUs are only what Ray counts: there may be more of them than the machine has.

    >>> _count_cpus((3, {}), (0, {})), _count_cpus((3, {"num_cpus": 4}), (2, {"num_cpus": 0.5}))
    (2, 13)
    """
    asked = sum(count * (options.get("num_cpus") or 0) for count, options in actors)
    return max(_FEWEST_CPUS, math.ceil(asked))


def _explain(ray: Any, error: Exception, log: Path | None) -> BaseException:
    """Return the error to raise in place of Ray's: what a process raised, or what Ray says."""
    cause: Any = error
    while isinstance(cause, ray.exceptions.RayTaskError):
        cause = cause.cause
    if not isinstance(cause, ray.exceptions.RayError):
        return cause  # type: ignore[no-any-return]
    if not isinstance(cause, ray.exceptions.ActorDiedError):
        return RuntimeError(f"Ray could not go on with the run: {cause}")
    if log is None:
        return RuntimeError(
            "the server died, and its state with it; give log=path to go on after that"
        )
    return RuntimeError(f"the server died more than {_MOST_RESTARTS} times; its log is {log}")


@contextmanager
def connect(address: str | None, num_cpus: int = _FEWEST_CPUS) -> Iterator[Any]:
    """Yield the module `ray`, initialized; a Ray that this function starts is ended.

    Args:
        address: of a cluster; see `run`.
        num_cpus: the CPUs of a Ray that is started on this machine.
    """
    ray = need("ray", 'the engine "ray"', "ray")
    if ray.is_initialized():
        if address is not None:
            raise ValueError(
                f"Ray is connected already, so address={address!r} cannot "
                "be had: ray.shutdown() first"
            )
        yield ray
        return
    address = address or os.environ.get("RAY_ADDRESS") or "local"
    if address == "local":
        with _start_local(ray, num_cpus):
            yield ray
        return
    _check_address(ray, address)
    try:
        ray.init(address=address)
    except ConnectionError as error:
        raise _no_ray(address, error) from error
    try:
        yield ray
    finally:
        ray.shutdown()


@contextmanager
def _start_local(ray: Any, num_cpus: int) -> Iterator[None]:
    """Start a quiet Ray on this machine, which leaves no files behind."""
    # Ray's sockets are in its folder, and their paths may have 107 bytes.
    folder = tempfile.mkdtemp(prefix="gradlab-", dir="/tmp" if os.access("/tmp", os.W_OK) else None)
    try:
        with warnings.catch_warnings():
            # JAX warns of forks; Ray's fork starts another program at once.
            warnings.filterwarnings("ignore", r"os\.fork\(\) was called", RuntimeWarning)
            try:
                ray.init(
                    address="local",
                    num_cpus=num_cpus,
                    include_dashboard=False,
                    log_to_driver=False,
                    logging_level=logging.ERROR,
                    object_store_memory=_OBJECT_STORE,
                    _temp_dir=folder,
                )
            except Exception as error:
                raise RuntimeError(
                    f"Ray cannot be started on this machine ({_last_line(error)}): see whether `ray start --head` "
                    'works, give the address= of a cluster, or take the engine "threads"'
                ) from error
        yield
    finally:
        ray.shutdown()
        shutil.rmtree(folder, ignore_errors=True)


def _check_address(ray: Any, address: str) -> None:
    """Raise ConnectionError if nothing listens at HOST:PORT, where Ray itself would try for
    minutes.
    """
    if ":" not in address:
        return
    host, _, port = address.rpartition("://")[2].partition("/")[0].rpartition(":")
    if not port.isdecimal():
        raise ValueError(
            f"address must be HOST:PORT, ray://HOST:PORT, auto or local; got {address!r}"
        )
    host = host.strip("[]")
    if host in _LOCAL_HOSTS and not address.startswith("ray://"):
        # Ray listens at the address by which others know this machine.
        host = ray.util.get_node_ip_address()
    try:
        socket.create_connection((host, int(port)), _KNOCK_SECONDS).close()
    except (OSError, OverflowError) as error:
        raise _no_ray(address, error) from error


def _no_ray(address: str, error: Exception) -> ConnectionError:
    return ConnectionError(
        f"no Ray answers at {address} ({_last_line(error)}): start one there by `ray start "
        "--head`, give another address=, or leave it and $RAY_ADDRESS out for a Ray on this machine"
    )


def _last_line(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return lines[-1] if lines else type(error).__name__
