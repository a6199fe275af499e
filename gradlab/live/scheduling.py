"""The order of drawing: matplotlib serves one thread at a time.

Two threads that lay out formulas at once can end the whole process, whatever figures they are of,
and a kernel may hear from its pages in another thread than the one that runs cells. So whatever is
drawn here is drawn under `drawing`; what a cell draws by matplotlib itself is not, so while a cell
runs, only what a reader asks for is drawn, and nothing ahead.
"""

from __future__ import annotations

import asyncio
import contextvars
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any

from .._base.forks import call_in_child, renew_in_child

THREADLESS = ("emscripten", "wasi")  # Python in a browser tab, or in WebAssembly elsewhere
IDLE_SECONDS = 0.4  # longer than between two steps of a reader who looks at each
SPEAK_SECONDS = 1e-4  # in which another thread wakes up and takes Python's lock

drawing = threading.RLock()  # of every figure here
# As Python's own locks: a forked child may draw figures of its own.
if hasattr(drawing, "_at_fork_reinit"):
    call_in_child(drawing._at_fork_reinit)


class Attention:
    """When the kernel was last asked for something, and whether it runs a cell now."""

    def __init__(self) -> None:
        self._asked, self._running, self._shell = -IDLE_SECONDS, 0, None
        self._guard: threading.Lock
        renew_in_child(self, "_guard", threading.Lock)

    @property
    def busy(self) -> bool:
        """Tell whether a cell is running, or a request arrived a moment ago."""
        return self._running > 0 or time.monotonic() < self._asked + IDLE_SECONDS

    @property
    def runs_cell(self) -> bool:
        """True if a cell runs."""
        return self._running > 0

    def asked(self) -> None:
        """Somebody asks the kernel now: what is done ahead waits for a while."""
        self._asked = time.monotonic()

    def watch(self, shell: Any) -> None:
        """Hear from this IPython shell when its cells begin and end; once is enough, and None has no cells."""
        if shell is None or shell is self._shell:
            return
        self._shell = shell
        shell.events.register("pre_run_cell", self.begin)
        shell.events.register("post_run_cell", self.end)  # after inline figures are drawn

    def begin(self, *_: Any) -> None:
        """A cell begins, maybe within another one, once what is being drawn ahead is done."""
        with self._guard:
            self._running += 1
        with drawing:
            pass

    def end(self, *_: Any) -> None:
        """It is over; that of the cell in which `watch` was called for the first time had not been counted."""
        with self._guard:
            self._running = max(0, self._running - 1)


attention = Attention()


def in_background(
    turns: Iterator[float], context: contextvars.Context | None = None
) -> object | None:
    """Take turns that say how long to wait for the next: in a thread, or where none can start in the event loop.

    Args:
        context: what it runs in; an empty one by default, as threads have.

    Returns:
        the thread or the loop; None where there is neither: then nothing is done.
    """
    context = contextvars.Context() if context is None else context
    thread = threading.Thread(target=context.run, args=(_all_of, turns), daemon=True)
    try:
        if sys.platform not in THREADLESS:
            thread.start()
            return thread
    except RuntimeError as error:
        if "can't start new thread" not in str(error):
            raise
    try:
        loop = asyncio.get_running_loop()
    except RuntimeError:
        return None

    def one() -> None:
        pause = next(turns, None)
        if pause is not None:
            loop.call_later(pause, one, context=context)

    loop.call_soon(one, context=context)
    return loop


def _all_of(turns: Iterator[float]) -> None:
    for pause in turns:
        time.sleep(pause)


def let_speak() -> None:
    """Let the thread that writes to pages write what it was just given.

    It waits for Python's lock, which a thread that computes keeps for up to 5 ms.
    """
    if sys.platform not in THREADLESS:
        time.sleep(SPEAK_SECONDS)


def hear_at_any_time(comm: Any) -> None:
    """Let pages reach this comm while a cell runs.

    JupyterLab sends a comm's messages to a subshell of the kernel, so that a widget answers while a
    cell runs (https://github.com/jupyterlab/jupyterlab/pull/17363). But ipykernel 7.4 asks the
    comm's `_reply_subshell_for`, which by default sends each message on to the loop that wrote to
    the comm last (https://github.com/ipython/ipykernel/blob/main/ipykernel/comm/comm.py). That is
    often the loop of the cell, which is busy. There is no public way to choose, so this comm is
    given a function that leaves each message where the page sent it; a figure acts on it in any
    thread. Kernels that choose no loop have no such attribute and need nothing.
    """
    if hasattr(comm, "_reply_subshell_for"):
        comm._reply_subshell_for = lambda _data, subshell_asked: subshell_asked


def shell() -> Any:
    """The IPython shell of this process, if it has one."""
    ipython = sys.modules.get("IPython")
    return None if ipython is None else ipython.get_ipython()
