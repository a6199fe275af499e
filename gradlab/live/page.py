"""A LiveFigure in a page that has no kernel: many of its states, recorded, and the browser's half of the widget."""

from __future__ import annotations

import io
import json
import logging
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING, Any

import numpy as np

from ._bundle import WEB, joined, widget_style
from .description import few_colors
from .grid import MOST_STATES, Grid, Values, grid
from .messages import Stage
from .packed import Masks, Recorded, pack
from .progress import told
from .scheduling import drawing
from .state import FigureState

if TYPE_CHECKING:
    from .figure import LiveFigure

MOST_BYTES = 1_000_000
SAMPLE = 40  # states, by whose bytes it is told how many fit
ROUNDS = 4  # in which their number is found; in one more there are as few as can be
RATIO = 2.0  # device pixels per CSS pixel: sharp on every screen, for few bytes more than 1
FOLDER = Path(__file__).parent
THEMES = ("light", "dark")

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Part:
    """A figure as a part of a page.

    Attributes:
        html: the part; `script` brings it to life.
        states: how many it holds.
        bytes: how many those take in it.
        reached: whether its goal is met in one of them; a goal that is not is left out.
    """

    html: str
    states: int
    bytes: int
    reached: bool

    @property
    def told(self) -> str:
        """Number of states, and the bytes of each, in words."""
        return f"{self.states} states, {self.bytes / max(self.states, 1):,.0f} bytes each"


def page_html(
    live: LiveFigure,
    code: str = "",
    most: int = MOST_STATES,
    bytes_most: int = MOST_BYTES,
    note: str = "",
) -> tuple[str, Part]:
    """Give a page that needs neither kernel nor network, and what is in it.

    Every preset is in it. Of the other states as many are as fit: the figure's axis whole first,
    see `grid`.

    Args:
        live: the figure, at the state in which the page opens; it is moved about, so don't use it
            elsewhere.
        code: the line of Python that shows the same.
        most: states that the page holds.
        bytes_most: bytes, if the figure itself allows that.
        note: HTML after what the page says of controls that do not move in it, such as a link to
            where they do.
    """
    title, description = escape(live._state.label), escape(live.description.alt)

    def page(figure: str) -> str:
        return Template((FOLDER / "page.html").read_text("utf-8")).substitute(
            title=title,
            description=description,
            figure=figure,
            script=script(),
            style=style(),
            code=f'<p id="code">In Python, as saved: <code>{escape(code)}</code></p>'
            if code
            else "",
        )

    found = part(live, most, bytes_most - len(page("").encode()), note=note)
    return page(found.html), found


def part(
    live: LiveFigure, most: int = MOST_STATES, bytes_most: int = MOST_BYTES,
    within: Mapping[str, tuple[float, float]] | None = None, note: str = "",
) -> Part:  # fmt: skip
    """Give the figure as a part of a page.

    Args:
        live: the figure, at the state in which the page opens; it is moved about, so don't use it
            elsewhere.
        most: states.
        bytes_most: bytes, if the figure itself allows that.
        within: the ends between which a slider moves in the page, by name.
        note: as of a page.
    """
    recorder = Recorder(live._stage, live.fallback_html(), note)
    best, low, high, room, tried = None, 0, most + 1, min(most, SAMPLE), {0: 0}
    for _ in range(ROUNDS):
        found = recorder.part(grid(live._state, room, within))
        free = bytes_most - (len(found.html.encode()) - found.bytes)
        tried[room] = found.bytes
        low, high = (room, high) if found.bytes <= free else (low, room)
        best = found if found.bytes <= free else best
        if high - low <= 1 + low // 8:
            break
        room = min(_fitting(tried, int(0.97 * free)), most)
        far = high if high > most else low + 3 * (high - low) // 4
        room = room if low < room < far else (low + high) // 2
    while best is None:
        room //= 2
        found = recorder.part(grid(live._state, room, within))
        best = found if room <= 1 or len(found.html.encode()) <= bytes_most else None
    return best


def _fitting(tried: Mapping[int, int], free: int) -> int:
    """Estimate how many states fit, from the two largest numbers that were tried; the first states
    are dearer.
    """
    *_, (fewer, less), (states, size) = sorted(tried.items())
    each = max((size - less) / (states - fewer), 1) / (2 if fewer == 0 else 1)
    return int(states + (free - size) / each)


def script() -> str:
    """Give the module that brings all parts of a page to life, for a script element in it."""
    return joined(WEB, "page.js").replace("</script", "<\\/script")


def style() -> str:
    """Give the style of all parts of a page, for a style element in it."""
    return widget_style()


def _said(grid: Grid) -> str:
    fixed = [c.label for name, c in grid.controls.items() if name not in grid.moving]
    coarse = (
        "Other controls move one at a time and in larger steps here; "
        "Reset sets them all free again."
    )
    said = [coarse] * (len(grid.sheets) > 1)
    said += [f"Free to move only with Python: {escape(', '.join(fixed))}."] * bool(fixed)
    return f'<p class="gl-page">{" ".join(said)}</p>' if said else ""


class Recorder:
    """Records the states of a figure, each once however many grids it is in."""

    def __init__(self, stage: Stage, fallback: str, note: str) -> None:
        self._stage, self._state = stage, stage.state
        self._fallback, self._note = fallback, note
        self._pictures: dict[Any, tuple[dict[str, Any], bytes] | None] = {}
        self._stills: dict[bool, dict[str, str]] = {}

    def part(self, grid: Grid) -> Part:
        """Give the part with the states of a grid."""
        masks, narrow = Masks(), [False, True] if self._state.arrange else [False]
        layouts = []
        for shape in told(narrow, len(narrow)):
            self._stage.fit(shape)
            found = self._states(grid)
            reached = any(words["met"] for _, words, _ in found)  # the same in both shapes
            rows = [
                Recorded(self._row(grid, values, words, reached), frame)
                for values, words, frame in found
            ]
            setup, stills = _setup(self._state, grid), self._still(shape)
            layouts.append({"setup": setup, "stills": stills, "states": _text(pack(rows, masks))})
        data: dict[str, Any] = {"layouts": layouts, "masks": _text(masks.packed())}
        size = sum(len(layout["states"]) for layout in layouts) + len(data["masks"])
        text = json.dumps(data).replace("<", "\\u003c")
        html = (
            "<div "
            f'class="gl-saved">\n<div></div>\n<noscript>{self._fallback}</noscript>\n{_said(grid)}{self._note}\n'
            f'<script type="application/json">{text}</script>\n</div>'
        )
        return Part(html, len(found), size, reached)

    def _states(self, grid: Grid) -> list[tuple[Values, dict[str, Any], bytes]]:
        """The states that the figure can show."""
        everything = grid.states()
        pictures = [(values, self._picture(values)) for values in told(everything, len(everything))]
        return [(values, *picture) for values, picture in pictures if picture]

    def _row(self, grid: Grid, values: Values, words: dict[str, Any], reached: bool) -> list[Any]:
        """Give what a state says of itself: what it has unlike the first one, its key, and its
        words.
        """
        moved = {name: value for name, value in values.items() if value != self._state.values[name]}
        return [moved, grid.key(values), words if reached else words | {"goal": ""}]

    def _picture(self, values: Values) -> tuple[dict[str, Any], bytes] | None:
        """The words and the display list of a state; None for one that the figure cannot show."""
        place = (self._state.narrow, *values.values())
        if place not in self._pictures:
            self._pictures[place] = self._drawn(values)
        return self._pictures[place]

    def _drawn(self, values: Values) -> tuple[dict[str, Any], bytes] | None:
        with drawing:
            try:
                description = self._state.describe(values)
            except Exception as error:
                _log.debug("not recorded: %s", error, exc_info=error)
                return None
            return description.words(), self._state.scene.frame(RATIO, description.items)

    def _still(self, narrow: bool) -> dict[str, str]:
        if narrow not in self._stills:
            scene = self._state.scene
            with drawing:
                blank = {theme: scene.blank(scene.dpi * RATIO, theme == "dark") for theme in THEMES}
            self._stills[narrow] = {theme: _image(pixels) for theme, pixels in blank.items()}
        return self._stills[narrow]


def _setup(figure: FigureState, grid: Grid) -> dict[str, Any]:
    """The first message to a view, without what the page can't do: buttons, and handles of what
    doesn't move.
    """
    message = figure.setup_content(RATIO, dark=False)
    message["controls"] = grid.specs()
    message["presets"] = [
        p
        for p in message["presets"]
        if any(s.holds(figure.values | p["values"]) for s in grid.sheets)
    ]
    message["areas"] = [area for area in (_free(area, grid) for area in message["areas"]) if area]
    message["key"] = grid.key(figure.values)
    message["start"] = dict(figure.values)
    return message | {"fixed": True, "launch": ""}


def _free(area: dict[str, Any], grid: Grid) -> dict[str, Any] | None:
    """A drag area with the controls that the page can move; None if there are none."""
    ways = {
        way: area[way] if area[way] and area[way]["name"] in grid.moving else None
        for way in ("x", "y")
    }
    return area | ways if any(ways.values()) else None


def _image(pixels: np.ndarray) -> str:
    """Write a picture in few bytes."""
    from PIL import features

    buffer, image = io.BytesIO(), few_colors(pixels)
    if features.check("webp"):  # two thirds of the bytes of a PNG
        image.convert("RGB").save(buffer, "WEBP", lossless=True, quality=50)
    else:
        image.save(buffer, "PNG", optimize=True)
    return _text(buffer.getvalue())


def _text(data: bytes) -> str:
    return b64encode(data).decode()
