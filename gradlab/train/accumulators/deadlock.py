"""Tells a thread that waits for others when none of them can ever act again."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any

# Libraries whose own threads may call into Python although nobody sees them before they do.
_FOREIGN = ("ray", "grpc")
# Threads of these only serve the notebook or the debugger, but in some of them cells, widgets and
# jobs run.
_SERVANTS = {"IPython", "ipykernel", "zmq", "tqdm", "debugpy", "pydevd", "_pydevd_bundle"}
_MASTERS = {"ipykernel.subshell", "IPython.lib.backgroundjobs"}
_waits: dict[int, Wait] = {}


class Wait:
    """The wait of one thread, without a time limit, for something that only another thread can do.

    `is_over` tells without waiting whether it was done. Look at `is_hopeless()` every `pause`
    seconds:

    >>> import threading
    >>> ready, bell = [], threading.Condition()
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

    LOOKS = 10  # in a row that must agree, as a thread may be just about to go on
    PAUSE = 0.4  # seconds between two looks while there is no suspicion

    def __init__(self, is_over: Callable[[], bool]) -> None:
        self.is_over, self._looks = is_over, 0

    def __enter__(self) -> Wait:
        _waits[threading.get_ident()] = self
        return self

    def __exit__(self, *error: object) -> None:
        _waits.pop(threading.get_ident(), None)

    @property
    def pause(self) -> float:
        """Seconds; shorter once there is a suspicion."""
        return 0.1 if self._looks else self.PAUSE

    def is_hopeless(self) -> bool:
        """True once every other thread was seen waiting forever, several times in a row; when in doubt, False."""
        self._looks = self._looks + 1 if not self.is_over() and nobody_can_act() else 0
        return self._looks >= self.LOOKS


def nobody_can_act() -> bool:
    """Tell whether all threads but this one wait, without a time limit, for other threads."""
    if any(library in sys.modules for library in _FOREIGN):
        return False
    # Started, but not running yet.
    if any(thread.ident is None for thread in threading.enumerate()):
        return False
    me, frames = threading.get_ident(), sys._current_frames()
    # It runs nothing of Python: at the prompt, somebody types.
    if threading.main_thread().ident not in frames:
        return False
    return (
        all(_is_stuck(ident, frame) for ident, frame in frames.items() if ident != me)
        and not _jax_computes()
    )


def _jax_computes() -> bool:
    """Tell whether a computation is under way: it may call back from a thread that Python has not
    seen yet.
    """
    jax: Any = sys.modules.get("jax")
    return jax is not None and not all(array.is_ready() for array in jax.live_arrays())


def _is_stuck(ident: int, frame: FrameType) -> bool:
    wait = _waits.get(ident)
    if wait is not None:
        return not wait.is_over()
    return _waits_for_ever(frame) or _is_servant(frame)


def _waits_for_ever(frame: FrameType) -> bool:
    """Its innermost Python function is a wait of the standard library that only another thread can
    end.
    """
    name, seen = frame.f_code.co_name, frame.f_locals
    match _module(frame), name:
        case "threading", "wait" | "join":
            return seen.get("timeout", 0) is None
        case "threading", "_wait_for_tstate_lock":
            return seen.get("timeout") == -1
        case ("threading", "_shutdown") | ("concurrent.futures.thread", "_worker"):
            return True
    return False


def _is_servant(frame: FrameType) -> bool:
    """Its outermost function, but for Python's own, belongs to the notebook or the debugger."""
    outermost = ""
    step: FrameType | None = frame
    while step is not None:
        if _module(step) != "threading":
            outermost = _module(step)
        step = step.f_back
    return outermost not in _MASTERS and outermost.partition(".")[0] in _SERVANTS


def _module(frame: FrameType) -> Any:
    return frame.f_globals.get("__name__", "")


class Producer:
    """The promise of a thread to bring gradients, from the call until the end of its `with` block.

    A thread may be promised for before it starts; the one that enters the block is the one that
    counts.
    """

    def __init__(self, leave: Callable[[Producer], None]) -> None:
        self._leave, self._thread = leave, threading.current_thread()

    @property
    def is_alive(self) -> bool:
        return self._thread.is_alive()

    def __enter__(self) -> Producer:
        self._thread = threading.current_thread()
        return self

    def __exit__(self, *error: object) -> None:
        self._leave(self)
