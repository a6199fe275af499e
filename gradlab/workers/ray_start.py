"""Ray up and down again, in a time that has an end, although Ray's own waits have none that can be set."""

from __future__ import annotations

import contextlib
import ctypes
import logging
import os
import shutil
import socket
import tempfile
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from types import ModuleType

from .._base.extras import need

_STORE = 200 * 2**20  # bytes of shared memory of a Ray of our own; what does not fit goes to disk
_KNOCK = 10.0  # seconds in which somebody must answer at an address
_GOODBYE = 30.0  # seconds that Ray is given to end
_LISTEN = 0.1  # seconds: who waits without end may not hear of Ctrl-C
_OWN = ("127.0.0.1", "localhost", "::1")
_abandoned: list[_Held] = []  # those that may still be starting


@contextlib.contextmanager
def connected(address: str | None = None, timeout: float | None = None) -> Iterator[ModuleType]:
    """Ray as it is if it is initialized; otherwise that at an address, or a quiet one of our own, until the end.

    Nothing in Ray bounds its start. One that starts here is interrupted as Ctrl-C would, every second from `timeout`
    on, until it ends; what it has started so far may live on as long as this process. The wait for an address, which
    nothing interrupts, is another thread's: it is left behind, and ends what it waited for should it come up after all;
    until then Ray cannot be started again in this process.

    Raises: ImportError: Ray is not installed. ValueError: an address, but Ray is connected already. TimeoutError: it
    was not up after `timeout` seconds. ConnectionError: nothing answers at the address. RuntimeError: it cannot be
    started here, or one that was left behind is still starting.
    """
    ray = need("ray", 'the engine "ray"', "ray")
    if ray.is_initialized() and not _abandoned:
        if address is not None:
            raise ValueError(f"Ray is connected already, so address={address!r} cannot be had: ray.shutdown() first")
        yield ray
        return
    if any(held.is_alive() for held in _abandoned):
        raise RuntimeError("a Ray that was not up in time is still starting: try again later, or in a new process")
    _abandoned.clear()
    until = None if timeout is None else time.monotonic() + timeout
    address = address or os.environ.get("RAY_ADDRESS") or "local"
    if ":" in address:
        _knock(ray, address, _KNOCK if timeout is None else min(timeout, _KNOCK))
    if address == "local":
        with _local(ray, until, timeout):
            yield ray
        return
    held = _Held(ray, address)
    held.start()
    try:
        held.wait(until, timeout)
        yield ray
    finally:
        held.let_go()


class _Held(threading.Thread):
    """Connects to a Ray, holds it, and lets it go."""

    def __init__(self, ray: ModuleType, address: str) -> None:
        super().__init__(name="gradlab keeps Ray", daemon=True)
        self.ray, self.address = ray, address
        self.error: Exception | None = None
        self.ready, self.over = threading.Event(), threading.Event()

    def run(self) -> None:
        try:
            try:
                self.ray.init(address=self.address)
                self.ready.set()
                self.over.wait()
            finally:
                self.ray.shutdown()
        except Exception as error:  # it is raised where somebody waits
            self.error = error
        finally:
            self.ready.set()

    def wait(self, until: float | None, timeout: float | None) -> None:
        """Until Ray is up. Raises: as `connected`."""
        while not self.ready.wait(_LISTEN):
            if until is not None and time.monotonic() >= until:
                raise _late(self.address, timeout)
        if self.error is not None:
            raise _no_ray(self.address, _brief(self.error)) from self.error

    def let_go(self) -> None:
        """End Ray, or leave it behind if it is not up."""
        was_up = self.ready.is_set()
        self.over.set()
        self.join(_GOODBYE if was_up else 0.0)
        if self.is_alive():
            _abandoned.append(self)


@contextlib.contextmanager
def _local(ray: ModuleType, until: float | None, timeout: float | None) -> Iterator[None]:
    """Ray on this machine, which leaves nothing behind."""
    # Ray's sockets lie in its folder, and their paths may have 107 bytes.
    folder = tempfile.mkdtemp(prefix="gradlab-", dir="/tmp" if os.access("/tmp", os.W_OK) else None)
    logger = logging.getLogger("ray")
    level = logger.level
    logger.setLevel(logging.ERROR)

    def init() -> None:
        with warnings.catch_warnings():
            # JAX's warning of forks, where one starts another program at once.
            warnings.filterwarnings("ignore", r"os\.fork\(\) was called", RuntimeWarning)
            ray.init(
                address="local", num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level=logging.ERROR,
                object_store_memory=_STORE, _temp_dir=folder,
            )  # fmt: skip

    try:
        try:
            _until(until, init)
        except _TimeIsUp:
            raise _late("local", timeout) from None
        except Exception as error:
            raise RuntimeError(
                f"Ray cannot be started on this machine ({_brief(error)}): see whether `ray start --head` works, give "
                'the address= of a cluster, or take the engine "threads"'
            ) from error
        yield
    finally:
        ray.shutdown()
        logger.setLevel(level)
        shutil.rmtree(folder, ignore_errors=True)


class _TimeIsUp(BaseException):
    """Thrown into a thread that waits for Ray; no `except Exception` of Ray's may keep it."""


def _until(end: float | None, act: Callable[[], object]) -> None:
    """Call it here; from `end` on it is interrupted once a second by _TimeIsUp."""
    if end is None:
        act()
        return
    thread, over, turn = ctypes.c_ulong(threading.get_ident()), threading.Event(), threading.Lock()

    def interrupt() -> None:
        pause = max(0.0, end - time.monotonic())
        while not over.wait(pause):
            with turn:
                if not over.is_set():
                    ctypes.pythonapi.PyThreadState_SetAsyncExc(thread, ctypes.py_object(_TimeIsUp))
            pause = 1.0

    threading.Thread(target=interrupt, name="gradlab waits for Ray", daemon=True).start()
    try:
        act()
    finally:
        with turn:
            over.set()


def _knock(ray: ModuleType, address: str, patience: float) -> None:
    """ConnectionError unless somebody answers at HOST:PORT: Ray itself would try for minutes."""
    host, _, port = address.rpartition("://")[2].partition("/")[0].rpartition(":")
    host = host.strip("[]")
    # Ray takes the name of this machine alone for the address by which others know it.
    hosts = [host, ray.util.get_node_ip_address()] if host in _OWN else [host]
    if not port.isdecimal():
        raise ValueError(f"address must be HOST:PORT, ray://HOST:PORT, auto or local; got {address!r}")
    until, why = time.monotonic() + patience, ""
    while True:
        for known in hosts:
            try:
                with socket.create_connection((known, int(port)), max(0.1, min(patience, until - time.monotonic()))):
                    return
            except (OSError, OverflowError) as error:
                why = _brief(error)
        if time.monotonic() + _LISTEN >= until:
            raise _no_ray(address, why)
        time.sleep(_LISTEN)


def _late(address: str, timeout: float | None) -> TimeoutError:
    return TimeoutError(
        f"the run was not over in time: Ray was not up, at address={address!r}, timeout={timeout}: give more time, or "
        "see what holds it up in /tmp/ray or by `ray start --head`"
    )


def _no_ray(address: str, why: str) -> ConnectionError:
    return ConnectionError(
        f"no Ray answers at {address} ({why}): start one there by `ray start --head`, give another address=, or "
        "leave it and $RAY_ADDRESS out for a Ray on this machine"
    )


def _brief(error: Exception) -> str:
    """The last line of what an error says, or its name."""
    return (str(error).strip().splitlines() or [type(error).__name__])[-1]
