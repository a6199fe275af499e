"""One gradient in the plane, before and after a clip, and the region the clip allows."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.gridspec import GridSpec
from matplotlib.patches import PathPatch
from matplotlib.path import Path

from ._lanes import text
from ._style import (
    BLACK,
    BLUE,
    BLUE_TEXT,
    GREEN,
    NARROW,
    ORANGE,
    ORANGE_TEXT,
    OTHER,
    PALE_GREEN,
    SMALL,
    WIDE,
    moving_line,
    new_figure,
    tidy,
)

REACH = 6.0
_BEFORE: dict[str, Any] = {"color": ORANGE, "ls": "--", "lw": 2.0}
_AFTER: dict[str, Any] = {"color": BLUE, "ls": "-", "lw": 3.0}
_REGION: dict[str, Any] = {"color": GREEN, "ls": "-.", "lw": 1.4}


class ArrowsView:
    """A gradient before (orange, dashed) and after (blue) a clip, with the region the clip leaves alone.

    Beside it the norm after the clip against the norm before it, along the direction of the gradient.
    """

    def __init__(self) -> None:
        self.figure = new_figure(WIDE, 4.2)
        self.plane, self.transfer = self.figure.add_subplot(), self.figure.add_subplot()
        tidy(self.plane, "The gradient", "first entry", "second entry")
        tidy(self.transfer, "The same gradient, shorter or longer", "norm before", "norm after")
        self.plane.set(xlim=(-REACH, REACH), ylim=(-REACH, REACH), aspect="equal")
        self.transfer.set(xlim=(0, REACH * 1.45), ylim=(0, REACH * 1.45), aspect="equal")
        self.transfer.plot([0, REACH * 2], [0, REACH * 2], ":", color=OTHER, lw=1.4)
        looks: dict[str, Any] = {"fontsize": SMALL, "ha": "center", "va": "bottom", "color": BLACK}
        self.transfer.annotate("unclipped", (6.4, 6.5), rotation=45, **looks)
        self._region = PathPatch(Path(np.zeros((1, 2))), fc=PALE_GREEN, ec=GREEN, lw=1.4, ls="-.", animated=True)
        self.plane.add_patch(self._region)
        self._before, self._after = moving_line(self.plane, **_BEFORE), moving_line(self.plane, **_AFTER)
        self._heads = [PathPatch(Path(np.zeros((1, 2))), fc=c, ec="none", animated=True) for c in (ORANGE, BLUE)]
        for head in self._heads:
            self.plane.add_patch(head)
        words: dict[str, Any] = {"weight": "bold", "bbox": {"fc": "white", "ec": "none", "pad": 1, "alpha": 0.8}}
        colored = zip(("before", "after"), (ORANGE_TEXT, BLUE_TEXT), strict=True)
        self._names = [text(self.plane, s=name, color=color, va="center", **words) for name, color in colored]
        self._alone = text(self.plane, s="unchanged inside", color=GREEN, ha="center", va="top")
        self._curve = moving_line(self.transfer, lw=2.0, color=BLUE)
        self._here = moving_line(self.transfer, marker="o", ms=9, color=ORANGE, ls="none", mec="white")
        self.arrange(narrow=False)

    def arrange(self, narrow: bool) -> None:
        """Fit the page: side by side, or one below the other."""
        self.figure.set_size_inches(*((NARROW, 7.6) if narrow else (WIDE, 4.2)))
        grid = GridSpec(*((2, 1) if narrow else (1, 2)), self.figure)
        self.plane.set_subplotspec(grid[0])
        self.transfer.set_subplotspec(grid[1])

    def draw(self, before: np.ndarray, after: np.ndarray, region: np.ndarray, curve: np.ndarray) -> None:
        """Set the moving artists.

        Args:
            before, after: (2,) gradients. region: (n, 2) outline of what the clip leaves alone.
            curve: (m, 2) norm before, norm after.
        """
        self._region.set_path(Path(region, closed=True))
        for line, head, tip in ((self._before, self._heads[0], before), (self._after, self._heads[1], after)):
            line.set_data([0, tip[0]], [0, tip[1]])
            head.set_path(_head(tip))
        self._name(before, after, region)
        self._curve.set_data(*curve.T)
        norms = [float(np.hypot(*v)) for v in (before, after)]
        self._here.set_data([norms[0]], [norms[1]])

    def _name(self, before: np.ndarray, after: np.ndarray, region: np.ndarray) -> None:
        """Words at the tips of the arrows, away from each other, and below the region."""
        same = bool(np.allclose(before, after))
        for name, tip, side in zip(self._names, (before, after), (1, -1), strict=True):
            right = tip[0] <= 0.55 * REACH
            place = tip[0] + (0.35 if right else -0.35), np.clip(tip[1] + 0.45 * side, -REACH + 0.4, REACH - 0.4)
            name.set(position=place, ha="left" if right else "right", visible=bool(np.isfinite(tip).all()))
        self._names[0].set_text("before and after" if same else "before")
        self._names[1].set_visible(self._names[1].get_visible() and not same)
        side = -1 if before[1] > 0 else 1  # away from the arrows
        edge = float(np.abs(region[:, 1]).max())
        self._alone.set(position=(0, side * (edge + 0.15)), va="bottom" if side > 0 else "top")
        self._alone.set_visible(edge < REACH - 0.9)


def _head(tip: np.ndarray, length: float = 0.42, width: float = 0.17) -> Path:
    """A triangle at the tip of an arrow from the origin; nothing for a zero or non-finite arrow."""
    norm = float(np.hypot(*tip))
    if not 0 < norm < np.inf:
        return Path(np.full((3, 2), np.nan))
    along = tip / norm * min(length, norm)
    across = np.array([-along[1], along[0]]) * width / length
    return Path([tip, tip - along + across, tip - along - across, tip], closed=True)
