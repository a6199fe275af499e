"""Text around a saved picture: the sentence of what is seen, the settings under it, and the source below the picture.

On a slide nobody sees the controls. The figure itself is left as it is: an image gets a strip above
it and one below, and a drawing gets room there.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.transforms import Bbox

from .._base.names import printable
from .._base.numbers import in_full
from .controls import Button, Menu, Toggle
from .description import Description
from .lettering import Agg, Recent
from .sliders import Range
from .theme import DarkAgg, Palette

# Gray: 4.5 : 1 and more, in the dark as well.
INK, GRAY, RAIL, DONE = "#141414", "#6B6B6B", "#D9D9D9", "#187FD8"
EDGE = 0.12  # inches, around each strip
LEADING = 1.35  # from line to line, in sizes of the letters
BAR = 0.05  # inches, the height of the bar that says how far a film has come
BETWEEN = "  ·  "  # two settings


@dataclass(frozen=True)
class Caption:
    """The words around one picture.

    Args:
        title: the sentence of what is seen.
        state: the settings.
        source: where the picture is from, and how to get the lab again.
    """

    title: str
    state: str
    source: str

    @classmethod
    def of(
        cls, controls: Mapping[str, Any], values: Mapping[str, Any], words: Description, source: str
    ) -> Caption:
        """The caption of the state in which controls have these values and which is described in these words."""
        return cls(words.summary, settings(controls, values), source)


@dataclass(frozen=True)
class Style:
    """The style of a paragraph of a strip; `size` in points."""

    size: float
    color: str = INK
    weight: str = "normal"
    joint: str = " "  # where its lines may break


TITLE, STATE = Style(12.0, weight="bold"), Style(9.5, joint=BETWEEN)
SOURCE = Style(8.5, GRAY)


def settings(controls: Mapping[str, Any], values: Mapping[str, Any]) -> str:
    """The values of all controls, as a reader sees them.

    >>> from gradlab.live import Slider
    >>> controls = {"limit": Slider("limit", "Limit", 0.0, 9.0, 1.0, unit="V"), "on": Toggle("on", "Fast", False)}
    >>> settings(controls, {"limit": 2.5, "on": True})
    'Limit: 2.5 V  ·  Fast: on'
    """
    valued = (control for control in controls.values() if not isinstance(control, Button))
    return BETWEEN.join(
        f"{control.label}: {_said(control, values[control.name])}" for control in valued
    )


def _said(control: Any, value: Any) -> str:
    if isinstance(control, Menu):
        return str(control.options[control.position(value)][1])
    if isinstance(control, Toggle):
        return "on" if value else "off"
    numbers = value if isinstance(control, Range) else [value]
    return " ".join(filter(None, [" to ".join(map(in_full, numbers)), control.unit]))


class Strip:
    """Paragraphs in a given width, in inches; `height` is what they need at least."""

    def __init__(self, paragraphs: Iterable[tuple[str, Style]], width: float) -> None:
        self.width = width
        self._lines = [
            (line, style)
            for text, style in paragraphs
            for line in broken(text, style, width - 2 * EDGE)
        ]
        self.height = 2 * EDGE + sum(LEADING * style.size / 72 for _, style in self._lines)

    def write(self, figure: Any, top: float) -> None:
        """Write the paragraphs on a figure, from `top`, in inches from its lower edge."""
        width, height = figure.get_size_inches()
        down = top - EDGE
        for line, style in self._lines:
            figure.text(
                EDGE / width,
                (down - 0.15 * style.size / 72) / height,
                line,
                fontsize=style.size,
                color=style.color,
                fontweight=style.weight,
                va="top",
                parse_math=False,
                in_layout=False,
            )
            down -= LEADING * style.size / 72

    def painted(
        self, dpi: float, palette: Palette | None, height: float | None = None
    ) -> np.ndarray:
        """Paint it as an image (h, w, 4) of its own, of a `height` if it is to be higher; in dark with a palette."""
        figure = Figure((self.width, height or self.height), dpi=dpi)
        self.write(figure, figure.get_figheight())
        size = round(self.width * dpi), round(figure.get_figheight() * dpi)
        painter: Any = Agg(*size, dpi) if palette is None else DarkAgg(*size, dpi, palette)
        figure.draw(painter)
        return np.array(painter.buffer_rgba())


def broken(text: str, style: Style, width: float) -> Iterator[str]:
    """Break a paragraph into lines that fit into a width, in inches; a word that is wider has a line of its own."""
    parts, width_of = printable(text).split(style.joint), _ruler(style)

    def wide(count: int) -> float:
        return width_of(style.joint.join(parts[:count]))

    while any(parts):
        fit = max(1, bisect_right(range(1, len(parts) + 1), width, key=wide))
        yield style.joint.join(parts[:fit])
        del parts[:fit]


def _ruler(style: Style) -> Callable[[str], float]:
    """Give what measures the width of a line, in inches."""
    measure, prop = (
        Agg(1, 1, 72).get_text_width_height_descent,
        FontProperties(size=style.size, weight=style.weight),
    )
    return lambda line: measure(line, prop, False)[0] / 72


@dataclass(frozen=True)
class Around:
    """The strips around a picture or, all of one height, around those of a film."""

    above: Sequence[Strip]
    below: Strip
    # The one below is the same in all pictures of a film.
    _feet: Recent = field(default_factory=lambda: Recent(1))

    @classmethod
    def of(cls, captions: Sequence[Caption], width: float) -> Around:
        """Lay out the captions of pictures that have a width, in inches, and one source."""
        above = [Strip([(one.title, TITLE), (one.state, STATE)], width) for one in captions]
        return cls(above, Strip([(captions[0].source, SOURCE)], width))

    @property
    def top(self) -> float:
        """The height above the picture, in inches."""
        return max(strip.height for strip in self.above)

    def stacked(
        self, picture: np.ndarray, dpi: float, palette: Palette | None, place: int = 0
    ) -> np.ndarray:
        """Put a picture (h, w, 4) between its strips; in a film `place` says which, and a bar how far that is."""
        foot: np.ndarray = self._feet.find((dpi, palette), lambda: self.below.painted(dpi, palette))
        parts = [self.above[place].painted(dpi, palette, self.top), picture, foot]
        if len(self.above) > 1:
            parts.insert(
                2, bar(place / (len(self.above) - 1), picture.shape[1], round(BAR * dpi), palette)
            )
        return np.concatenate([part[:, : picture.shape[1]] for part in parts])

    def save_drawing(self, figure: Any, path: Any, **how: Any) -> None:
        """Write a figure with its strips as what `savefig` makes of it; for one picture."""
        width, height = figure.get_size_inches()
        self.above[0].write(figure, height + self.top)
        self.below.write(figure, 0.0)
        figure.savefig(
            path, bbox_inches=Bbox([[0, -self.below.height], [width, height + self.top]]), **how
        )


def bar(share: float, width: int, height: int, palette: Palette | None) -> np.ndarray:
    """Paint a bar (height, width, 4) of which a share, 0 to 1, is done.

    >>> bar(0.5, 4, 1, None)[0, :, 0].tolist()
    [24, 24, 217, 217]
    """
    colors = [tuple(int(color[k : k + 2], 16) / 255 for k in (1, 3, 5)) for color in (DONE, RAIL)]
    done, rail = ((palette.dark(color) if palette else color) for color in colors)
    pixels = np.full((height, width, 4), 255, np.uint8)
    pixels[..., :3] = np.round(255 * np.array(rail))
    pixels[:, : round(share * width), :3] = np.round(255 * np.array(done))
    return pixels
