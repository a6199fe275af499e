"""The bucket of an accumulator: workers beside it, slots that fill, the way of the latest gradient,
what falls out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.patches import PathPatch
from matplotlib.path import Path

from ...live.drawing.labels import label
from ...live.drawing.lanes import DROPPED, patch
from ...live.drawing.shapes import NOWHERE, bars, hatching
from ...live.drawing.style import (
    BLACK,
    BLUE,
    BLUE_TEXT,
    HATCH,
    LABEL,
    ORANGE,
    ORANGE_TEXT,
    OTHER,
    QUIET,
    SELECTED,
    moving_line,
)
from ...live.drawing.ways import curve, head

# Of workers; their number or their mark is always there, too.
TINTS = ("#A9DBD3", "#F3D98B", "#E8B8D3", "#C3C8D0")
_CHIP, _PITCH = 34.0, 56.0  # the chips of the workers
# A slot of the bucket, from one to the next, and how many are in a column.
_SLOT, _APART, _TALL = 44.0, 52.0, 4
# Of the bucket; what falls out of it; height of the scene.
_TOP, _BOTTOM, _OUT, _HIGH = 34.0, 262.0, 302.0, 352.0
_OUT_CHIP, _OUT_PITCH, _LOST = 23.0, 28.0, 3  # chips below the bucket; the others are a number


class Arrivals(NamedTuple):
    """Gradients in the order in which they came; lists of equal length.

    Fields: worker; the local_step it passed, the accumulator's step then; accepted; count in the
    accumulator with it;
    served: the taker who got the mean, or ""; needs: what that taker had asked for; gradient (4,).
    """

    worker: Sequence[int]
    local_step: Sequence[int]
    step: Sequence[int]
    accepted: Sequence[bool]
    count: Sequence[int]  # type: ignore[assignment]  # not tuple.count
    served: Sequence[str]
    needs: Sequence[int]
    gradient: Sequence[np.ndarray]


class BucketState(NamedTuple):
    """The state of an accumulator: step, count, the queue; the latest gradient (4,).

    `total` and `value` (4,) are the sum and what a take gives: those of the take that the latest
    gradient brought about, if it did; `of` says of how many gradients they are, 0 for none.
    `members` are those gradients, by their place among the arrivals, and `lost` are those dropped
    since the take before.
    """

    step: int
    count: int  # type: ignore[assignment]  # not tuple.count
    queue: Sequence[tuple[str, int]]
    latest: np.ndarray
    total: np.ndarray
    value: np.ndarray
    of: int
    members: Sequence[int] = ()
    lost: Sequence[int] = ()


class _Place(NamedTuple):
    """Width of the scene, the sides of its bucket, and the end of the arrow to the takers, in about
    pixels.
    """

    width: float
    left: float
    right: float
    taker: float


_WIDE, _NARROW = _Place(480.0, 250.0, 444.0, 544.0), _Place(344.0, 150.0, 318.0, 344.0)  # pages


class Chips:
    """Boxes with the number of a worker in its tint; those that are dropped are hatched."""

    def __init__(self, axes: Any, workers: int, most: int) -> None:
        self._shapes = [
            patch(axes, {"fc": tint, "ec": QUIET, "lw": 0.9}) for tint in TINTS[:workers]
        ]
        self._dropped = patch(axes, DROPPED)
        self._hatching = moving_line(axes, zorder=2.5, **HATCH)
        self._numbers = [label(axes, weight="bold") for _ in range(most)]

    def draw(
        self, left: Any, top: Any, width: Any, height: Any, worker: np.ndarray, accepted: np.ndarray
    ) -> None:
        """Boxes (n,) by their sides, of workers (n,), accepted (n,) or not."""
        left, top, width, height = np.broadcast_arrays(left, top, width, height)
        sides = np.stack([left, left + width, top, top + height])
        for k, shape in enumerate(self._shapes):
            shape.set_path(bars(*sides[:, accepted & (worker == k)]))
        lost = sides[:, ~accepted]
        self._dropped.set_path(bars(*lost))
        x0, x1, y0, y1 = lost
        wide = float((x1 - x0).max(initial=0.1))
        self._hatching.set_data(*hatching(x0, x1, y0, y1, lean=0.5 * wide, apart=0.3 * wide).T)
        for k, words in enumerate(self._numbers):
            words.set_text(f"{worker[k] + 1}" if k < len(worker) else "")
            if k < len(worker):
                words.set(x=left[k] + width[k] / 2, y=top[k] + height[k] / 2)


def _verdict(noted: int, step: int, accepted: bool) -> tuple[str, ...]:
    """Why a gradient that noted one step is in a bucket at another, or is not."""
    if not accepted:
        return f"noted step {noted:,},", f"bucket at {step:,}:", "falls out"
    return f"noted step {noted:,},", "as the bucket: in" if noted == step else "ahead of it: in"


class Bucket:
    """Workers, the way of the latest gradient, the bucket with its slots, and what fell out."""

    def __init__(self, axes: Any, workers: int) -> None:
        self.axes = axes
        axes.set_axis_off()
        axes.set_ylim(_HIGH, 0)
        for k in range(workers):
            box = bars(0, _CHIP, _middle(k) - _CHIP / 2, _middle(k) + _CHIP / 2)
            axes.add_patch(PathPatch(box, fc=TINTS[k], ec=QUIET, lw=0.9))
            label(axes, x=_CHIP / 2, y=_middle(k), weight="bold", text=f"{k + 1}")
        label(axes, y=14, ha="left", text="Workers", fontsize=LABEL, weight="bold")
        self._names = [
            label(axes, x=_CHIP + 8, y=_middle(k), ha="left", text=f"worker {k + 1}")
            for k in range(workers)
        ]
        (self._walls,) = axes.plot([], [], color=QUIET, lw=3, zorder=3)
        self.title = label(axes, y=14, fontsize=LABEL, weight="bold")
        self.chips = Chips(axes, workers, 16)
        self.slots = patch(axes, {"fc": "none", "ec": OTHER, "lw": 1.2, "ls": "--"})
        self.more = label(axes, color=QUIET)
        self._newest = patch(axes, {"fc": "none", "ec": BLACK, "lw": SELECTED})
        self.way, self.out = (
            moving_line(axes, color=color, lw=2.0, ls=dashes)
            for color, dashes in ((BLACK, "-"), (ORANGE, "--"))
        )
        self._heads = [patch(axes, {"fc": color, "ec": "none"}) for color in (BLACK, ORANGE)]
        beyond: dict[str, Any] = {"color": BLUE, "clip_on": False, "in_layout": False}
        self._leaves = [
            moving_line(axes, lw=lw, ls=ls, **beyond) for lw, ls in ((1.2, "--"), (3.0, "-"))
        ]
        self._left = patch(axes, {"fc": BLUE, "ec": "none", "clip_on": False, "in_layout": False})
        self.verdict = [label(axes) for _ in range(3)]
        self._lost = label(axes, y=_OUT, ha="left", color=ORANGE_TEXT)

    def arrange(self, narrow: bool) -> None:
        self._narrow, self._place = narrow, _NARROW if narrow else _WIDE
        width, left, right, _ = self._place
        self.axes.set_xlim(-2, width)
        self._walls.set_data([left, left, right, right], [_TOP, _BOTTOM, _BOTTOM, _TOP])
        self.title.set_x((left + right) / 2)

    def draw(self, done: int, past: Arrivals, now: BucketState) -> None:
        served = done > 0 and bool(past.served[-1])
        asked = past.needs[-1] if served else now.queue[0][1] if now.queue else 0
        slots = _slots(max(len(now.members), asked), self._place)
        self._draw_bucket(past, now, now.step - served, slots)
        self.title.set_text(
            f"Taken: the step is now {now.step}" if served else f"Bucket, step {now.step}"
        )
        start, end = self._place.right + 6, self._place.taker - 11
        for line, shown in zip(self._leaves, (bool(now.queue) and not served, served), strict=True):
            line.set_data(*(((start, end), (_TOP + 10,) * 2) if shown else ((), ())))
        self._left.set_path(_to_the_right(end + 11, _TOP + 10) if served or now.queue else NOWHERE)
        inside = done > 0 and bool(past.accepted[-1])
        left, right, top = (side[len(now.members) - 1 :][:1] for side in slots)
        self._newest.set_path(bars(left, right, top, top + _SLOT) if inside else NOWHERE)
        for k, name in enumerate(self._names):
            chosen = done > 0 and past.worker[-1] == k
            name.set(weight="bold" if chosen else "normal", color=BLACK if chosen else QUIET)
        self._draw_way(done, past, float(top[0]) + _SLOT / 2 if inside else _OUT)

    def _draw_bucket(
        self, past: Arrivals, now: BucketState, step: int, slots: tuple[np.ndarray, ...]
    ) -> None:
        """Chips in the first slots, dashed places in the others, and below the bucket what was
        below its step.
        """
        n, lost = len(now.members), now.lost[-_LOST:]
        left, right, top = slots
        x, size = self._place.left + _OUT_PITCH * np.arange(len(lost)), _OUT_CHIP
        some, who = (top[:n], np.full(len(lost), _OUT - size / 2)), [*now.members, *lost]
        self.chips.draw(
            np.concatenate([left[:n], x]),
            np.concatenate(some),
            np.concatenate([right[:n] - left[:n], np.full(len(lost), size)]),
            np.repeat((_SLOT, size), (n, len(lost))),
            np.array([past.worker[k] for k in who], int),
            np.arange(len(who)) < n,
        )
        self._lost.set(x=self._place.left + _OUT_PITCH * len(lost) + 2)
        why = "" if self._narrow else f": below step {step:,}"
        self._lost.set_text(f"{len(now.lost)} fell out{why}" if now.lost else "")
        self.slots.set_path(bars(left[n:], right[n:], top[n:], top[n:] + _SLOT))
        free = len(left) - n
        self.more.set_text("" if free <= 0 else "one more" if free == 1 else f"{free} more")
        if free > 0:
            self.more.set(x=(left[n] + right[n]) / 2, y=top[n] + _SLOT / 2)

    def _draw_way(self, done: int, past: Arrivals, height: float) -> None:
        """The way of the latest gradient, into the bucket or out, and why."""
        for line, tip in zip((self.way, self.out), self._heads, strict=True):
            line.set_data([], [])
            tip.set_path(NOWHERE)
        for words in self.verdict:
            words.set_text("")
        if not done:
            return
        inside, start, end = bool(past.accepted[-1]), _middle(past.worker[-1]), self._place.left - 4
        points = curve(_CHIP + 80, start, end - 9, height)
        (self.way if inside else self.out).set_data(*points)
        self._heads[not inside].set_path(_to_the_right(end, height))
        told = _verdict(past.local_step[-1], past.step[-1], inside)
        if self._narrow:
            x, y, ha = 0.0, _BOTTOM + 22, "left"
        elif inside:
            x, y, ha = _CHIP + 78, max(start, height) + 20, "left"
        else:
            told = (" ".join(told[:2]), *told[2:])
            x, y, ha = end - 6, height + 18, "right"
        for k, (words, text) in enumerate(zip(self.verdict, told, strict=False)):
            words.set(text=text, x=x, y=y + 17 * k, ha=ha, weight="normal", color=QUIET)
        self.verdict[len(told) - 1].set(weight="bold", color=BLUE_TEXT if inside else ORANGE_TEXT)


def _middle(worker: int) -> float:
    return 34 + _CHIP / 2 + _PITCH * worker


def _slots(count: int, place: _Place) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Left and right sides and tops (n,) of the slots of a bucket, filled from below in one column
    or more.
    """
    columns = max(1, -(-count // _TALL))
    rows, wide = max(1, -(-count // columns)), (place.right - place.left) / columns
    k = np.arange(count)
    x = place.left + wide * (k // rows)
    return x + 8, x + wide - 8, _BOTTOM - 8 - _SLOT - _APART * (k % rows)


def _to_the_right(x: float, y: float) -> Path:
    """The head of an arrow to the right that ends there."""
    return head(np.array([[x - 1, x], [y, y]]), 11.0)
