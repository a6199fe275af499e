"""Detect waits that can never end, because every other thread of the process waits, too.

A thread that waits without a timeout enters a `Wait` and asks it now and then whether the wait is
hopeless. It is if each other thread is in a `Wait`, in a wait of the standard library without a
timeout, or belongs to the notebook or the debugger. In doubt a wait isn't hopeless: a foreign
library may call into Python, a thread may be starting, a user may be at a prompt, a JAX computation
may be running.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any

# Libraries whose threads may call into Python, but can't be seen before they do.
_FOREIGN = ("ray", "grpc")
# Threads of these packages only serve the notebook or the debugger ...
_SERVICE_PACKAGES = {"IPython", "ipykernel", "zmq", "tqdm", "debugpy", "pydevd", "_pydevd_bundle"}
# ... except in these modules, whose threads run cells, widgets and jobs.
_USER_CODE_MODULES = {"ipykernel.subshell", "IPython.lib.backgroundjobs"}
_waits: dict[int, Wait] = {}  # by thread


class Wait:
    """The wait of one thread, without a timeout, for something that only another thread can do.

    `is_over` is a function that returns, without waiting, whether that was done. Call
    `is_hopeless()` every `pause` seconds:

    >>> import threading
    >>> ready = []
    >>> bell = threading.Condition()
    >>> def work():
    ...     with bell:
    ...         ready.append("here")
    ...         bell.notify_all()
    >>> threading.Thread(target=work).start()
    >>> with bell, Wait(lambda: bool(ready)) as wait:
    ...     while not ready and not wait.is_hopeless():
    ...         _ = bell.wait(wait.pause)
    >>> ready
    ['here']
    """

    LOOKS = 10  # that must agree, in a row, because a thread may be just about to go on
    PAUSE = 0.4  # seconds between two looks while there is no suspicion

    def __init__(self, is_over: Callable[[], bool]) -> None:
        self.is_over = is_over
        self._suspicious_looks = 0

    def __enter__(self) -> Wait:
        _waits[threading.get_ident()] = self
        return self

    def __exit__(self, *error: object) -> None:
        _waits.pop(threading.get_ident(), None)

    @property
    def pause(self) -> float:
        """Seconds between two looks, fewer once there is a suspicion."""
        return 0.1 if self._suspicious_looks else self.PAUSE

    def is_hopeless(self) -> bool:
        """Return True once several looks in a row saw no thread that can act; in doubt False."""
        if self.is_over() or not no_thread_can_act():
            self._suspicious_looks = 0
        else:
            self._suspicious_looks += 1
        return self._suspicious_looks >= self.LOOKS


def no_thread_can_act() -> bool:
    """Tell whether all threads but this one wait, without a timeout, for other threads."""
    if any(library in sys.modules for library in _FOREIGN):
        return False
    if any(thread.ident is None for thread in threading.enumerate()):
        return False  # it was started, but doesn't run yet
    frames = sys._current_frames()
    if threading.main_thread().ident not in frames:
        return False  # it runs nothing of Python: a user types at the prompt
    this_thread = threading.get_ident()
    for ident, frame in frames.items():
        if ident != this_thread and not _is_stuck(ident, frame):
            return False
    return not _jax_computes()


def _jax_computes() -> bool:
    """Tell whether a computation is running: it may call back from a thread new to Python."""
    jax: Any = sys.modules.get("jax")
    return jax is not None and not all(array.is_ready() for array in jax.live_arrays())


def _is_stuck(ident: int, frame: FrameType) -> bool:
    wait = _waits.get(ident)
    if wait is not None:
        return not wait.is_over()
    return _waits_for_ever(frame) or _is_service(frame)


def _waits_for_ever(frame: FrameType) -> bool:
    """Tell whether the innermost function is a wait of the standard library without a timeout."""
    arguments = frame.f_locals
    match _module(frame), frame.f_code.co_name:
        case "threading", "wait" | "join":
            return arguments.get("timeout", 0) is None
        case "threading", "_wait_for_tstate_lock":
            return arguments.get("timeout") == -1
        case ("threading", "_shutdown") | ("concurrent.futures.thread", "_worker"):
            return True
    return False


def _is_service(frame: FrameType) -> bool:
    """Tell whether a thread serves the notebook or the debugger.

    Its outermost function, apart from those of `threading`, belongs to one of their modules.
    """
    outermost = ""
    current: FrameType | None = frame
    while current is not None:
        if _module(current) != "threading":
            outermost = _module(current)
        current = current.f_back
    if outermost in _USER_CODE_MODULES:
        return False
    return outermost.partition(".")[0] in _SERVICE_PACKAGES


def _module(frame: FrameType) -> Any:
    return frame.f_globals.get("__name__", "")


class Producer:
    """The promise of a thread to bring gradients, from the call until the end of its `with` block.

    It may be made by another thread, before its own thread starts: the thread that enters the block
    takes it over.
    """

    def __init__(self, leave: Callable[[Producer], None]) -> None:
        self._leave = leave
        self._thread = threading.current_thread()

    @property
    def is_alive(self) -> bool:
        return self._thread.is_alive()

    def __enter__(self) -> Producer:
        self._thread = threading.current_thread()
        return self

    def __exit__(self, *error: object) -> None:
        self._leave(self)
