"""What a long day leaves in memory: labs that are shown again, steps that are recorded, controls
that are moved.

Each is done for a while first, until caches are full, and then again as often as its line says.
What the process holds must not have grown by more than a stated part of what one of those things
would have cost.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

from tests.faults.fault import Fault, Measured
from tests.live.kernel import kernel

MOST = 12.0  # MB by which a process may grow, an allocator's slack; a lab that stays takes 3

# What the process holds now, in MB; free memory goes back to the system first, where that can be
# asked for.
RSS = """
import ctypes, gc, psutil
def rss():
    gc.collect()
    try: ctypes.CDLL("libc.so.6").malloc_trim(0)
    except (OSError, AttributeError): pass
    return psutil.Process().memory_info().rss / 1e6
"""


def grown(before: float, after: float, what: str) -> Measured:
    """What a process holds before and after, and whether it has grown."""
    figure = f"{what}: {before:.1f} MB became {after:.1f} MB"
    return Measured(figure if after > before + MOST else "", figure)


def labs_shown_again(times: int, folder: Path, seed: int) -> str | Measured:
    """One cell of a real kernel runs again and again, and each run shows a lab of its own.

    `Out[n]` keeps every one of them, without its picture: 26 kB each.
    """
    with kernel(folder) as notebook:
        notebook.run(f"{RSS}\nimport gradlab as gl\nfrom ipywidgets.widgets import widget")

        def run(count: int) -> tuple[float, int]:
            for k in range(count):
                notebook.run(f"gl.labs.clip_arrows(limit={1 + k % 5})", "one")
            it = notebook.run("0", "other", rss="rss()", widgets="len(widget._instances)")
            return it["rss"], it["widgets"]

        before, _ = run(max(6, times // 5))
        after, widgets = run(times)
    if widgets != 2:  # the figure and its layout
        return f"{widgets} widgets are open for one lab that is shown"
    return grown(before, after, f"{times} labs in one cell")


def _alone(setup: str, once: str, warm: int, times: int, what: str) -> str | Measured:
    """The same in a process of its own: `once` is a statement of `k`."""
    code = f"""
{RSS}
{setup}
def many(first, count):
    for k in range(first, first + count):
        {once}
many(0, {warm})
before = rss()
many({warm}, {times})
print(before, rss())
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    if done.returncode:
        return done.stderr[-1000:]
    before, after = map(float, done.stdout.split())
    return grown(before, after, what)


def steps_recorded(times: int, folder: Path, seed: int) -> str | Measured:
    """A recorder that is never saved."""
    setup = f"""
import numpy as np, gradlab as gl
rng = np.random.default_rng({seed})
rec, gradients = gl.Recorder(), [{{"w": rng.normal(size=(8, 4)), "b": rng.normal(size=4)}} for _ in range(50)]
"""
    return _alone(
        setup, "rec.record(gradients[k % 50], loss=1.0 / (1 + k))", 5_000, times, f"{times} steps"
    )


def controls_moved(times: int, folder: Path, seed: int) -> str | Measured:
    """A lab that is set from Python; its figure is drawn every time."""
    setup = "import gradlab as gl\nlab = gl.labs.clip_arrows()\nlab.live"
    return _alone(setup, "lab.set(limit=0.5 + k % 97 / 20)", 150, times, f"{times} times set")


def _line(
    name: str, once: Callable[[int, Path, int], str | Measured], short: int, long: int
) -> Fault:
    """A line of the bench that does it `short` times in CI, and `long` times at length."""
    return Fault(f"memory: {name}", partial(once, short), 1, long=partial(once, long))


FAULTS = [
    _line("200 labs (in CI 15) that one cell shows", labs_shown_again, 15, 200),
    _line("10^5 steps (in CI 2 x 10^4) recorded", steps_recorded, 20_000, 100_000),
    _line("10^4 (in CI 100) times `set` on a lab", controls_moved, 100, 10_000),
]
