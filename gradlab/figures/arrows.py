"""One gradient in the plane, before and after a clip, and the region the clip allows."""

from __future__ import annotations

import numpy as np
from matplotlib.patches import PathPatch
from matplotlib.path import Path

from ._style import BLUE, GREEN, ORANGE, OTHER, moving_line, new_figure, tidy

REACH = 6.0


class ArrowsView:
    """A gradient before (orange, dashed) and after (blue) a clip, with the region the clip leaves alone.

    Beside it the norm after the clip against the norm before it, along the direction of the gradient.
    """

    def __init__(self) -> None:
        self.figure = new_figure(8.4, 4.9)
        self.plane, self.transfer = self.figure.subplots(1, 2, width_ratios=(1.05, 1))
        tidy(self.plane, "The gradient", "first entry", "second entry")
        tidy(self.transfer, "The same direction, shorter or longer", "norm before", "norm after")
        self.plane.set(xlim=(-REACH, REACH), ylim=(-REACH, REACH), aspect="equal")
        self.transfer.set(xlim=(0, REACH * 1.45), ylim=(0, REACH * 1.45), aspect="equal")
        self.transfer.plot([0, REACH * 2], [0, REACH * 2], ":", color=OTHER, lw=1.2)
        self.transfer.annotate("unclipped", (6.4, 6.5), rotation=45, fontsize=8.5, ha="center", va="bottom")
        samples = (
            ("--", ORANGE, 2, "gradient before"),
            ("-", BLUE, 3, "after"),
            ("--", GREEN, 1.4, "left alone inside"),
        )
        for style, colour, width, label in samples:
            self.plane.plot([], [], style, color=colour, lw=width, label=label)
        self.figure.legend(loc="outside lower center", ncols=3, fontsize=9, frameon=False)
        self._region = PathPatch(Path(np.zeros((1, 2))), fc="#CFE8DF", ec=GREEN, lw=1.4, ls="--", animated=True)
        self.plane.add_patch(self._region)
        self._before = moving_line(self.plane, "--", lw=2.0, color=ORANGE)
        self._after = moving_line(self.plane, "-", lw=3.0, color=BLUE)
        self._heads = [PathPatch(Path(np.zeros((1, 2))), fc=c, ec="none", animated=True) for c in (ORANGE, BLUE)]
        for head in self._heads:
            self.plane.add_patch(head)
        self._curve = moving_line(self.transfer, "-", lw=2.0, color=BLUE)
        self._here = moving_line(self.transfer, "o", ms=9, color=ORANGE, linestyle="none", mec="white")

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
        self._curve.set_data(*curve.T)
        norms = [float(np.hypot(*v)) for v in (before, after)]
        self._here.set_data([norms[0]], [norms[1]])


def _head(tip: np.ndarray, length: float = 0.42, width: float = 0.17) -> Path:
    """A triangle at the tip of an arrow from the origin; nothing for a zero or non-finite arrow."""
    norm = float(np.hypot(*tip))
    if not 0 < norm < np.inf:
        return Path(np.full((3, 2), np.nan))
    along = tip / norm * min(length, norm)
    across = np.array([-along[1], along[0]]) * width / length
    return Path([tip, tip - along + across, tip - along - across, tip], closed=True)
