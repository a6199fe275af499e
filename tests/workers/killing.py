"""Kills of the processes of a run on Ray, and what must hold of the run whatever was killed when."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from types import TracebackType

import numpy as np

from gradlab._base.arrays import Array
from gradlab.workers import UPDATE, Trace, replay
from gradlab.workers.logged_server import LoggedServer

TITLES = ("ray::ServerActor", "ray::WorkerActor", "ray::ShardActor")


class Killer:
    """Kills actors at random times, in a thread, while a `with` block runs; `killed` has their
    titles.

    Args:
        seed: when, and which.
        kills: at most this many.
        titles: beginnings of the titles that Ray gives to the processes.
        after: seconds from the first worker's start to the first kill, at least.
        act: in place of a kill.
    """

    def __init__(
        self,
        seed: int = 0,
        kills: int = 1,
        titles: tuple[str, ...] = TITLES,
        after: float = 0.0,
        act: Callable[[], object] | None = None,
    ) -> None:
        self.rng = np.random.default_rng(seed)
        self.kills = kills
        self.titles = titles
        self.after = after
        self.act = act
        self.killed: list[str] = []
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._work)

    def __enter__(self) -> Killer:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._over.set()
        self._thread.join()

    def _work(self) -> None:
        while not find_processes(("ray::WorkerActor.run",)):
            if self._over.wait(0.2):
                return
        pause = self.after
        while len(self.killed) < self.kills and not self._over.wait(
            pause + self.rng.uniform(0.0, 3.0)
        ):
            pause = 0.0
            if self.act is not None:
                self.act()
                self.killed.append("by act")
                return
            found = sorted(find_processes(self.titles).items())
            if found:
                pid, title = found[self.rng.integers(len(found))]
                os.kill(pid, signal.SIGKILL)
                self.killed.append(title)


def find_processes(titles: tuple[str, ...]) -> dict[int, str]:
    """Descendants of this process, by their ids, whose titles begin so."""
    listed = subprocess.run(
        ["ps", "-eo", "pid,ppid,args"], capture_output=True, text=True, check=True
    ).stdout
    rows = [line.split(None, 2) for line in listed.splitlines()[1:]]
    parents = {int(pid): int(parent) for pid, parent, *_ in rows}
    found = {}
    for pid, _, title in rows:
        ancestor = int(pid)
        while ancestor in parents and ancestor != os.getpid():
            ancestor = parents[ancestor]
        if ancestor == os.getpid() and title.startswith(titles):
            found[int(pid)] = title
    return found


def are_equal(a: Mapping[str, Array], b: Mapping[str, Array]) -> bool:
    """Whether both hold the same bits under the same names."""
    return a.keys() == b.keys() and all(a[name].tobytes() == b[name].tobytes() for name in a)


def find_fault(trace: Trace, log: Path | None = None) -> str:
    """Say what does not hold of a run and its log; "" if all does."""
    e = trace.experiment
    if trace.engine != "ray" or len(trace) != e.gradients:
        return f"{len(trace)} gradients of {e.gradients} were made by {trace.engine}"
    if not are_equal(replay(e, trace), trace.weights):
        return "the replay gives other weights"
    if len(
        set(zip(trace.rounds["worker"].tolist(), trace.rounds["number"].tolist(), strict=True))
    ) != len(trace):
        return "a gradient was counted twice"
    updates = (trace.moves[:, 0] == UPDATE).sum()
    if updates != len(trace):
        return f"{updates} updates were asked for with {len(trace)} gradients"
    if (np.diff(trace.times) < 0).any():
        return "time runs backward"
    if log is None:
        return ""
    with closing(LoggedServer(e, log)) as server:
        restored = server.trace("ray")
    if not are_equal(restored.weights, trace.weights) or not np.array_equal(
        restored.moves, trace.moves
    ):
        return "the log gives another run"
    return ""
