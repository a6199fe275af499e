"""How long a slider step takes to become new pixels, in a real JupyterLab and Chromium.

Start: time stamp of the keydown event on the focused slider. End: the first frame after the new
picture was drawn or decoded (watch.js). Single steps come STEP_SECONDS apart, in blocks of BLOCK;
blocks in which other programs used more than QUIET of a core are measured again, and the quietest
are kept. A drag goes to and fro for DRAG_SECONDS, at each frame of the screen one position further
(drag.js). Contestants take turns, ROUNDS times.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from tests.benchmarks.contestants import CONTESTANTS, Contestant
from tests.benchmarks.machine import Others
from tests.benchmarks.notebooks import Opener, each
from tests.benchmarks.table import Row, percentile

STEP_SECONDS, BLOCK, BLOCKS, MOST_BLOCKS = 0.33, 10, 3, 7
ROUNDS = 2
QUIET = 0.12
AHEAD_SECONDS = 4.0  # for what is made ahead
DRAG_SECONDS, DRAGS = 2.0, 2
PLACES = 120  # of an ipywidgets slider, which does not say how many it has

# Where the handle of a native range or of an ipywidgets slider is, in page pixels.
HANDLE = """(handle) => {
  const native = handle.matches("input"), box = handle.getBoundingClientRect();
  const part = native ? (handle.value - handle.min) / (handle.max - handle.min) : 0.5;
  const inset = native ? 8 : 0;
  return [box.left + inset + part * (box.width - 2 * inset), box.top + box.height / 2] }"""
DRAG = (Path(__file__).parent / "drag.js").read_text("utf-8")


@dataclass(frozen=True)
class Block:
    """Ten steps: their latencies in ms, how many showed nothing, and what others used of a core
    meanwhile.
    """

    latencies: list[float]
    lost: int
    others: float


WHAT = "slider to pixels"


@dataclass(frozen=True)
class Round:
    """Of one contestant: latencies in ms and a note on them; of each drag frames per second, and ms
    to settle.
    """

    times: list[float]
    note: str
    drags: list[tuple[float, float]]


def rows(contestants: Sequence[Contestant] = CONTESTANTS) -> Iterator[Row]:
    """Measure each contestant that is installed; name the ones that are not."""
    yield from each(WHAT, contestants, lambda _, open_it: _round(open_it), _row, ROUNDS)


def _round(open_it: Opener) -> Round:
    with open_it() as notebook:
        notebook.run_all()
        handle = (
            notebook.page.locator(".jp-OutputArea").locator("input[type=range], .noUi-handle").first
        )
        handle.wait_for()
        time.sleep(AHEAD_SECONDS)
        times, note = stepped(notebook.page, handle)
        return Round(times, note, [drag(notebook.page, handle) for _ in range(DRAGS)])


def _row(name: str, rounds: list[Round]) -> Row:
    times, drags = [t for r in rounds for t in r.times], [d for r in rounds for d in r.drags]
    if not times:
        return Row(WHAT, name, note="the picture never changed")
    frames, settle = (statistics.median(some) for some in zip(*drags, strict=True))
    note = "; ".join(r.note for r in rounds)
    return Row(
        WHAT,
        name,
        statistics.median(times),
        percentile(times, 95),
        frames=frames,
        settle=settle,
        note=note,
    )


def stepped(
    page: Any,
    handle: Any,
    wanted: int = BLOCKS,
    most: int = MOST_BLOCKS,
    before: Callable[[], object] = int,
) -> tuple[list[float], str]:
    """The latencies in ms of the quietest blocks of steps, measured until enough were quiet; and a
    note on them.

    `before` is done before each block, which goes back over the steps of the one before.
    """
    _block(page, handle, "ArrowRight")  # warm-up
    blocks: list[Block] = []
    while len(blocks) < most and sum(block.others <= QUIET for block in blocks) < wanted:
        before()
        blocks.append(_block(page, handle, ("ArrowLeft", "ArrowRight")[len(blocks) % 2]))
    kept = sorted(blocks, key=lambda block: block.others)[:wanted]
    lost, others = sum(block.lost for block in kept), max(block.others for block in kept)
    said = f"others used up to {others:.0%} of a core" + (
        f"; {lost} steps showed nothing" if lost else ""
    )
    return [t for block in kept for t in block.latencies], said


def _block(page: Any, handle: Any, key: str) -> Block:
    handle.focus()
    _forget(page)
    others, start = Others(), time.monotonic()
    for k in range(BLOCK):
        page.keyboard.press(key)
        time.sleep(max(0.0, start + (k + 1) * STEP_SECONDS - time.monotonic()))
    keys, frames = _seen(page)
    ends = [*keys[1:], keys[-1] + 1000 * STEP_SECONDS]
    firsts = [
        next((f - key for f in frames if key < f <= end), None)
        for key, end in zip(keys, ends, strict=True)
    ]
    return Block([t for t in firsts if t is not None], firsts.count(None), others.share())


def drag(page: Any, handle: Any) -> tuple[float, float]:
    """Pull the handle to and fro; give frames per second, and ms from the last move to the last
    frame.
    """
    handle.scroll_into_view_if_needed()
    page.mouse.move(*handle.evaluate(HANDLE))
    page.mouse.down()
    time.sleep(1)
    _forget(page)
    begin, end = handle.evaluate(DRAG, [DRAG_SECONDS, PLACES])
    page.mouse.up()
    time.sleep(1)
    _, frames = _seen(page)
    during = [f for f in frames if f <= end]
    return 1000 * len(during) / (end - begin), max(0.0, (frames or [end])[-1] - end)


def _forget(page: Any) -> None:
    page.evaluate("() => { window.watched.keys.length = window.watched.frames.length = 0 }")


def _seen(page: Any) -> tuple[list[float], list[float]]:
    keys, frames = page.evaluate("() => [window.watched.keys, window.watched.frames]")
    assert all(a <= b for a, b in pairwise(frames))
    return keys, frames
