"""One gradient in the plane, before and after a clip, and the region the clip allows."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.path import Path

from ..._base.numbers import number
from ...live.drawing.labels import label, on_paper
from ...live.drawing.lanes import text
from ...live.drawing.moving import MovingPath
from ...live.drawing.style import (
    BLACK,
    BLUE,
    BLUE_TEXT,
    GREEN,
    NARROW,
    ORANGE,
    ORANGE_TEXT,
    OTHER,
    PALE_GREEN,
    SELECTED,
    SMALL,
    WIDE,
    moving_line,
    new_figure,
    tidy,
)
from .._layout import PanelLayout, place_panels

REACH = 6.0
_HALF_LINE = 0.45  # of a text, in units of the plane where they are smallest
TURNED = 0.05  # degrees from which on an arrow counts as turned
_BEFORE: dict[str, Any] = {"color": ORANGE, "ls": "--", "lw": 2.0}
_AFTER: dict[str, Any] = {"color": BLUE, "ls": "-", "lw": 3.0}
_REGION: dict[str, Any] = {"color": GREEN, "ls": "-.", "lw": 1.4}
_WIDE_LAYOUT = PanelLayout((WIDE, 3.95), "PT")
_NARROW_LAYOUT = PanelLayout((NARROW, 7.6), "P/T")


class ArrowsView:
    """A gradient before (orange, dashed) and after (blue) a clip, with the region the clip leaves alone, and the turn.

    Beside it the norm after the clip against the norm before it, along the direction of the
    gradient.
    """

    def __init__(self) -> None:
        self.figure = new_figure(WIDE, 3.95)
        self.plane, self.transfer = self.figure.add_subplot(), self.figure.add_subplot()
        tidy(self.plane, "The gradient", "first entry", "second entry")
        tidy(self.transfer, "What each norm becomes", "norm before", "norm after")
        self.plane.set(xlim=(-REACH, REACH), ylim=(-REACH, REACH), aspect="equal")
        self.transfer.set(xlim=(0, REACH * 1.45), ylim=(0, REACH * 1.45), aspect="equal")
        self.transfer.plot([0, REACH * 2], [0, REACH * 2], ":", color=OTHER, lw=1.4)
        looks: dict[str, Any] = {"fontsize": SMALL, "ha": "center", "va": "bottom", "color": BLACK}
        self.transfer.annotate("unclipped", (6.4, 6.5), rotation=45, **looks)
        self._region = MovingPath(
            Path(np.zeros((1, 2))), fc=PALE_GREEN, ec=GREEN, lw=1.4, ls="-.", animated=True
        )
        self.plane.add_patch(self._region)
        self._before, self._after = (
            moving_line(self.plane, **_BEFORE),
            moving_line(self.plane, **_AFTER),
        )
        self._heads = [
            MovingPath(Path(np.zeros((1, 2))), fc=c, ec="none", animated=True)
            for c in (ORANGE, BLUE)
        ]
        for head in self._heads:
            self.plane.add_patch(head)
        words: dict[str, Any] = {
            "weight": "bold",
            "bbox": {"fc": "white", "ec": "none", "pad": 1, "alpha": 0.8},
        }
        colored = zip(("before", "after"), (ORANGE_TEXT, BLUE_TEXT), strict=True)
        self._names = [
            text(self.plane, s=name, color=color, va="center", **words) for name, color in colored
        ]
        self._alone = text(self.plane, s="unchanged inside", color=GREEN, ha="center", va="top")
        self._arc = moving_line(self.plane, lw=1.6, color=BLACK)
        self._turn = text(self.plane, weight="bold", va="center", ha="center")
        self._curve = moving_line(self.transfer, lw=SELECTED, color=BLUE)
        self._here = moving_line(
            self.transfer, marker="o", ms=9, color=BLUE, ls="none", mec="white"
        )
        self._drop = moving_line(self.transfer, color=ORANGE, ls="--", lw=1.4)
        self._becomes = label(self.transfer, color=BLUE_TEXT, weight="bold")
        on_paper(self._becomes, True)  # the curve may pass below it
        self.arrange(narrow=False)

    def arrange(self, narrow: bool) -> None:
        """Fit the page: side by side, or one below the other."""
        layout = _NARROW_LAYOUT if narrow else _WIDE_LAYOUT
        place_panels(self.figure, layout, P=self.plane, T=self.transfer)

    def draw(
        self,
        before: np.ndarray,
        after: np.ndarray,
        region: np.ndarray,
        curve: np.ndarray,
        turn: float = 0.0,
    ) -> None:
        """Set the moving artists.

        Args:
            before, after: (2,) gradients.
            region: (n, 2) outline of what the clip leaves alone.
            curve: (m, 2) norm before, norm after.
            turn: from before to after, in degrees.
        """
        self._region.set_path(Path(region, closed=True))
        for line, head, tip in (
            (self._before, self._heads[0], before),
            (self._after, self._heads[1], after),
        ):
            line.set_data([0, tip[0]], [0, tip[1]])
            head.set_path(_head(tip))
        self._draw_turn(before, after, turn)
        self._name(before, after, region)
        self._curve.set_data(*curve.T)
        x, y = (float(np.hypot(*v)) for v in (before, after))
        self._here.set_data([x], [y])
        self._drop.set_data([x, x], [x, y])
        if x < REACH:
            self._becomes.set(position=(x + 0.2, (x + y) / 2), ha="left")
        elif y > 1.5:  # below the curve
            self._becomes.set(position=(x, y - 0.5), ha="right")
        else:  # where there is no room below it
            self._becomes.set(position=(x - 0.2, (x + y) / 2), ha="right")
        self._becomes.set(
            text=f"{number(x)} → {number(y)}",
            visible=bool(y < x) and not np.allclose(before, after),
        )

    def _draw_turn(self, before: np.ndarray, after: np.ndarray, turn: float) -> None:
        """An arc from one arrow to the other, and its degrees on the other side of the origin."""
        for artist in (self._arc, self._turn):
            artist.set_visible(turn >= TURNED)
        if turn < TURNED:
            return
        first, last = (float(np.arctan2(v[1], v[0])) for v in (before, after))
        last = first + (last - first + np.pi) % (2 * np.pi) - np.pi
        angles, radius = np.linspace(first, last, 25), min(1.5, 0.6 * float(np.hypot(*after)))
        self._arc.set_data(radius * np.cos(angles), radius * np.sin(angles))
        middle = (first + last) / 2
        self._turn.set(x=-0.9 * np.cos(middle), y=-0.7 * np.sin(middle), text=f"{turn:.1f}°")

    def _name(self, before: np.ndarray, after: np.ndarray, region: np.ndarray) -> None:
        """Words at the tips of the arrows, away from each other, and below the region."""
        same = bool(np.allclose(before, after))
        up = before[1] >= 0
        right = before[0] <= 0.55 * REACH
        y = float(np.clip(before[1] + (0.45 if up else -0.45), -REACH + 0.4, REACH - 0.4))
        self._names[0].set(
            position=(before[0] + (0.1 if right else -0.1), y), ha="left" if right else "right"
        )
        self._names[0].set(
            text="before and after" if same else "before", visible=bool(np.isfinite(before).all())
        )
        # Beside its tip, on the side where the other arrow is not.
        along = after / max(float(np.hypot(*after)), 1e-9)
        side = 1.0 if along[0] * before[1] - along[1] * before[0] <= 0 else -1.0
        out = np.array([-along[1], along[0]]) * side
        x, y = after + 0.4 * out
        self._names[1].set(
            position=(x, y), ha="left" if out[0] > 0.3 else "right" if out[0] < -0.3 else "center"
        )
        self._names[1].set_visible(bool(np.isfinite(after).all()) and not same)
        side = -1 if before[1] > 0 else 1  # away from the arrows
        edge = float(np.abs(region[:, 1]).max())
        away = edge + 0.15
        if self._turn.get_visible():  # the degrees may stand there, if the region is small
            away = max(away, abs(self._turn.get_position()[1]) + _HALF_LINE + 0.1)
        self._alone.set(position=(0, side * away), va="bottom" if side > 0 else "top")
        self._alone.set(
            text="unchanged inside" if edge else "every gradient is clipped",
            visible=edge < REACH - 0.9,
        )


def _head(tip: np.ndarray, length: float = 0.42, width: float = 0.17) -> Path:
    """A triangle at the tip of an arrow from the origin; nothing for a zero or non-finite arrow."""
    norm = float(np.hypot(*tip))
    if not 0 < norm < np.inf:
        return Path(np.full((3, 2), np.nan))
    along = tip / norm * min(length, norm)
    across = np.array([-along[1], along[0]]) * width / length
    return Path([tip, tip - along + across, tip - along - across, tip], closed=True)
