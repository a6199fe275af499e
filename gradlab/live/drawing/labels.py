"""Texts that move: single ones that are painted from memory, and names at the ends of curves.

Their places are whole pixels: a text that was painted once is then painted from memory wherever it
stands.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from matplotlib.colors import to_rgba
from matplotlib.patches import BoxStyle
from matplotlib.transforms import IdentityTransform, ScaledTranslation

from .moving import MovingLine, MovingText
from .style import BLACK, LABEL, OTHER, QUIET, SMALL

_LEFT = {"left": 0.0, "center": 0.5, "right": 1.0}  # how much of a text is left of its place
_CHIP: Any = BoxStyle("Round", pad=0.25)  # type: ignore[no-untyped-call]
_PAPER: Any = BoxStyle("Square", pad=0.17)  # type: ignore[no-untyped-call]
_LEADER, _LINE = 0.14, 0.16  # inches: from the end of a curve to its name, and between two names
# Widths of a panel from its middle: what ends beyond is out of sight, where somebody looks closer.
_PAST = 0.55


class Label(MovingText):
    """One line without formulas around a whole pixel, painted without the layout that Text makes again each time.

    Its middle is that of its digits, so that numbers of one row stand on one line; its alignment is
    horizontal only.
    """

    on: Any = None  # the color that it stands on, if that is not the page's
    box: Any = None  # the BoxStyle of a box of that color, which is painted with it

    def draw(self, renderer: Any) -> None:
        """Paint it."""
        words = self.get_text()
        if not (words and self.get_visible()):
            return
        font, aligned = self.get_fontproperties(), self.get_horizontalalignment()
        width, _, _ = renderer.get_text_width_height_descent(words, font, False)
        _, digit, _ = renderer.get_text_width_height_descent("0", font, False)
        x, y = np.round(self.get_transform().transform(self.get_position()))
        x, y = x - round(_LEFT[aligned] * width), y - round(digit / 2)
        # Align the edge of the chip, wider than its words, so that it stays in the panel.
        if self.box is _CHIP:
            x += round(
                (1 - 2 * _LEFT[aligned])
                * _CHIP.pad
                * renderer.points_to_pixels(self.get_fontsize())
            )
        pen = renderer.new_gc()
        if self.get_clip_on():
            pen.set_clip_rectangle(self.get_clip_box())
        if self.box is not None:
            # Of any word.
            _, height, descent = renderer.get_text_width_height_descent("lp", font, False)
            box = self.box(
                x, y - descent, width, height, renderer.points_to_pixels(self.get_fontsize())
            )
            pen.set_linewidth(0)
            renderer.draw_path(pen, box, IdentityTransform(), to_rgba(self.on))
        pen.set_foreground(self.get_color())
        y = renderer.get_canvas_width_height()[1] - y if renderer.flipy() else y
        renderer.draw_text(pen, x, y, words, font, 0.0, False, self)
        pen.restore()
        self.stale = False

    def put_on(self, color: str | None, box: Any = None) -> None:
        """Let it stand on a color, which it paints itself if it is given a box; None is the page."""
        if (color, box) != (self.on, self.box):
            self.on, self.box, self.stale = color, box, True


def label(axes: Any, **looks: Any) -> Any:
    """A moving text around a whole pixel; of many that change often."""
    place: dict[str, Any] = {
        "x": 0,
        "y": 0,
        "ha": "center",
        "va": "center",
        "fontsize": SMALL,
        "color": BLACK,
        "transform": axes.transData,
    }
    one = Label(**{**place, "animated": True, "zorder": 4, "clip_on": False} | looks)
    one.set_in_layout(False)
    axes.add_artist(one)
    return one


class Leaders(MovingLine):
    """The lines from marks to names; painted before the names, it places both, once the panel is laid out.

    It has to be made `stale` when what `place` goes by has changed.
    """

    def __init__(self, place: Callable[[], None], transform: Any) -> None:
        super().__init__(
            [], [], color=OTHER, lw=0.8, clip_on=False, transform=transform, animated=True, zorder=2
        )
        self.set_in_layout(False)
        self._put = place

    def draw(self, renderer: Any) -> None:
        """Paint them."""
        self._put()
        super().draw(renderer)


class EndLabels:
    """Names beside the last points of up to `most` curves: with a thin line to each, moved apart where they collide.

    They lie over what is right of those points, and beyond the panel: leave them room there.
    """

    def __init__(self, axes: Any, most: int) -> None:
        self._axes = axes
        self._names = [label(axes, ha="left", transform=axes.transAxes) for _ in range(most)]
        self._leaders = axes.add_line(Leaders(self._place, axes.transAxes))
        self._ends = np.empty((0, 2))  # of the curves, in the panel
        self._named: list[int] = []  # the curves that have a name now

    def draw(
        self, x: float, ends: Sequence[float], words: Sequence[str], **looks: Sequence[Any]
    ) -> None:
        """Write words at the ends of curves that all end at x, if that is in sight.

        What has no finite end, or no words, is not named.

        Args:
            x: in data.
            ends: y (n,), in data.
            words: (n,).
            looks: of each text, such as `color` and `weight` (n,).
        """
        places = self._fractions(x, ends)
        named = [
            k
            for k, place in enumerate(places)
            if np.isfinite(place).all() and abs(place[0] - 0.5) < _PAST and words[k]
        ]
        for k, name in enumerate(self._names):
            name.set_visible(k in named)
            if k in named:
                name.set(text=words[k], **{look: each[k] for look, each in looks.items()})
        self._ends = places
        self._named = named
        self._leaders.stale = True

    def _place(self) -> None:
        """Put the names and their lines where there is room in the panel."""
        places = self._ends
        named = self._named
        width, height = self._axes.get_position().size * self._axes.figure.get_size_inches()
        # Of a name: none stands beside the title of its panel, or beside the numbers below.
        half = _LINE / 2 / height
        heights, lines = apart(places[named, 1], 2 * half, half, 1 - half), []
        for k, y in zip(named, heights, strict=True):
            start, end = places[k, 0] + 0.02 / width, places[k, 0] + _LEADER / width
            lines += [(start, places[k, 1].clip(0, 1)), (end, y), (np.nan, np.nan)]
            self._names[k].set_position((end + 0.04 / width, y))
        self._leaders.set_data(*np.reshape(lines, (-1, 2)).T)

    def _fractions(self, x: float, ends: Sequence[float]) -> np.ndarray:
        """The places (n, 2) of the ends in the panel, 0 to 1."""
        points = np.column_stack([np.full(len(ends), float(x)), np.asarray(ends, float)])
        found: np.ndarray = (self._axes.transScale + self._axes.transLimits).transform(points)
        return found


def apart(places: np.ndarray, least: float, low: float = 0.0, high: float = 1.0) -> np.ndarray:
    """Places (n,) moved as little as possible until each two are `least` apart, within low and high.

    The mean of the squares of the moves is smallest: places less a step each must not fall, and
    neighbors that would share their mean.

    >>> import numpy as np
    >>> apart(np.array([0.5, 0.9, 0.5]), 0.25).tolist()
    [0.375, 0.9, 0.625]
    """
    order = np.argsort(places, kind="stable")
    groups: list[tuple[float, int]] = []  # mean and size
    for k, place in enumerate(places[order].clip(low, high)):
        mean, size = float(place) - k * least, 1
        while groups and groups[-1][0] > mean:
            before, count = groups.pop()
            mean, size = (before * count + mean * size) / (count + size), size + count
        groups.append((mean, size))
    settled = (
        np.repeat([mean for mean, _ in groups], [size for _, size in groups])
        if groups
        else np.empty(0)
    )
    room = max(low, high - max(0, len(places) - 1) * least)
    moved = np.empty(len(places))
    moved[order] = settled.clip(low, room) + np.arange(len(places)) * least
    return moved


def chip(axes: Any, color: str, **looks: Any) -> Any:
    """A moving text on a box of a color, for the handle of a line that can be dragged."""
    words = label(axes, color="white", weight="bold", zorder=5, **looks)
    words.put_on(color, _CHIP)
    return words


def on_paper(words: Any, paper: bool) -> None:
    """Put words on white paper, so that they can be read on what lies below them, or take the paper away."""
    words.put_on("white" if paper else None, _PAPER if paper else None)


def moving_title(axes: Any) -> Any:
    """The title of a panel, which `draw` sets for every state: it says what is seen."""
    axes.set_title(" ", loc="left", fontsize=LABEL)  # keeps the room
    # Where titles stand.
    above = ScaledTranslation(0, (6 + 0.365 * LABEL) / 72, axes.figure.dpi_scale_trans)
    return label(
        axes, y=1, ha="left", fontsize=LABEL, weight="bold", transform=axes.transAxes + above
    )


def colored_title(axes: Any, *parts: tuple[str, str]) -> None:
    """Words (text, color) that go on where the title of a panel ends: they are the key of its marks."""
    title = axes.set_title(axes.get_title("left"), loc="left", fontsize=LABEL, fontweight="bold")
    before = title
    for words, color in parts:
        before = axes.annotate(
            words,
            (1, 0),
            (0.3 * LABEL, 0),
            xycoords=before,
            textcoords="offset points",
            color=color,
            va="bottom",
            annotation_clip=False,
            fontsize=LABEL,
            fontweight="bold",
        )
        before.set_in_layout(False)


def beyond(axes: Any, end: float, words: str) -> float:
    """Make room above `end` for what has no value up to there, under these words; give the height of its marks."""
    axes.set_ylim(0, 1.3 * end)
    axes.set_yticks([tick for tick in axes.get_yticks() if tick <= end])
    axes.axhline(1.04 * end, color=OTHER, lw=0.8, ls=":")
    axes.text(
        0.01,
        0.99,
        words,
        transform=axes.transAxes,
        fontsize=SMALL,
        color=QUIET,
        va="top",
        in_layout=False,
    )
    return 1.11 * end
