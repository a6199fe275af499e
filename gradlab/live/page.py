"""A LiveFigure in a page that has no kernel: many of its states, recorded, and the browser's half of the widget."""

from __future__ import annotations

import io
import itertools
import json
import logging
import struct
import zlib
from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from html import escape
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING, Any

import numpy as np

from ._bundle import WEB, joined, widget_style
from .controls import key_of
from .grid import MOST_STATES, Grid, Values, grids
from .inbox import Stage
from .progress import told
from .scheduling import drawing
from .state import FigureState

if TYPE_CHECKING:
    from .figure import LiveFigure

MOST_BYTES = 3_000_000
RATIO = 2.0  # device pixels per CSS pixel: sharp on every screen, for few bytes more than 1
BLOCK = 1200  # bytes, in which states are compared with each other; a multiple of 4
FOLDER = Path(__file__).parent
THEMES = ("light", "dark")

Block = tuple[tuple[int, int], bytes]

_log = logging.getLogger(__name__)


def page_html(live: LiveFigure, code: str = "", most: int = MOST_STATES) -> str:
    """Give a page that needs neither kernel nor network, at most 3 MB if the figure itself allows that.

    Args:
        live: the figure, at the state in which the page opens; it is moved about, so let nobody else use it.
        code: the line of Python that shows the same.
        most: states that the page holds.
    """
    title, description = escape(live._state.label), escape(live.description.alt)
    page = ""
    for part in parts(live, most):
        page = Template((FOLDER / "page.html").read_text("utf-8")).substitute(
            title=title, description=description, figure=part, script=script(),
            code=f'<p id="code">In Python: <code>{escape(code)}</code></p>' if code else "",
            style=style(),
        )  # fmt: skip
        if len(page.encode()) <= MOST_BYTES:
            break
    return page


def parts(
    live: LiveFigure, most: int = MOST_STATES, within: Mapping[str, tuple[float, float]] | None = None
) -> Iterator[str]:
    """Give the figure as a part of a page, the same one with ever fewer of its states; `script` runs all in a page.

    Args:
        live: the figure, at the state in which the page opens; it is moved about, so let nobody else use it.
        most: states at first.
        within: the ends between which a slider moves in the page, by name.
    """
    fallback, recorder = live.fallback_html(), Recorder(live._stage)
    for grid in grids(live._state, most, within or {}):
        shapes = [False, True] if live._state.arrange else [False]
        layouts = [recorder.layout(grid, narrow) for narrow in told(shapes, len(shapes))]
        data = json.dumps({"layouts": layouts}).replace("<", "\\u003c")
        yield (
            f'<div class="gl-saved">\n<div></div>\n<noscript>{fallback}</noscript>\n{_note(grid)}\n'
            f'<script type="application/json">{data}</script>\n</div>'
        )


def script() -> str:
    """Give the module that brings all parts of a page to life, for a script element in it."""
    return joined(WEB, "page.js").replace("</script", "<\\/script")


def style() -> str:
    """Give the style of all parts of a page, for a style element in it."""
    return widget_style()


def _note(grid: Grid) -> str:
    fixed = [c.label for name, c in grid.controls.items() if name not in grid.values]
    return f"<p>Fixed in this page, free to move in a notebook: {escape(', '.join(fixed))}.</p>" if fixed else ""


@dataclass(frozen=True)
class Recorded:
    """One state: the values of the moving controls, the key of all, the words, and the display list in blocks."""

    values: Values
    key: str
    words: dict[str, Any]
    blocks: tuple[Block, ...]


class Recorder:
    """Records the states of a figure, each once however many grids it is in."""

    def __init__(self, stage: Stage) -> None:
        self._stage, self._state = stage, stage.state
        self._pictures: dict[Any, tuple[dict[str, Any], tuple[Block, ...]] | None] = {}
        self._blocks: dict[Block, Block] = {}  # one of those that are equal
        self._stills: dict[bool, dict[str, str]] = {}

    def layout(self, grid: Grid, narrow: bool) -> dict[str, Any]:
        """Give everything that a wide or a narrow page shows."""
        scene = self._state.scene
        self._stage.fit(narrow)
        everything = told(grid.states(), grid.count)
        states = [state for state in (self._recorded(grid, values) for values in everything) if state]
        if narrow not in self._stills:
            with drawing:
                blank = {theme: scene.blank(scene.dpi * RATIO, theme == "dark") for theme in THEMES}
            self._stills[narrow] = {theme: _image(pixels) for theme, pixels in blank.items()}
        return {"setup": _setup(self._state, grid), "stills": self._stills[narrow], "states": _text(packed(states))}

    def _recorded(self, grid: Grid, values: Values) -> Recorded | None:
        everything = {**self._state.values, **values}
        place = (self._state.narrow, *everything.values())
        if place not in self._pictures:
            self._pictures[place] = self._picture(everything)
        picture = self._pictures[place]
        return picture and Recorded(values, key_of(grid.controls, everything), *picture)

    def _picture(self, values: Values) -> tuple[dict[str, Any], tuple[Block, ...]] | None:
        """The words and the display list of a state; None for one that the figure cannot show."""
        with drawing:
            try:
                description = self._state.describe(values)
            except Exception as error:
                _log.debug("not recorded: %s", error, exc_info=error)
                return None
            frame = self._state.scene.frame(RATIO, description.items)
        return description.words(), tuple(self._blocks.setdefault(block, block) for block in blocks(frame))


def blocks(frame: bytes, most: int = BLOCK) -> Iterator[Block]:
    """Cut a display list into blocks: (number of the operation, part of it), bytes.

    >>> operations = bytes([1, 0, 0, 0, 2, 0, 0, 0, 9, 0, 0, 0, 3, 0, 0, 0, 7, 7, 7, 7])
    >>> [(place, len(block)) for place, block in blocks(operations, most=8)]
    [((0, 0), 8), ((1, 0), 8), ((1, 1), 4)]
    """
    start = 0
    for number in itertools.count():
        if start == len(frame):
            return
        end = start + 4 * struct.unpack_from("<I", frame, start + 4)[0]
        for part, at in enumerate(range(start, end, most)):
            yield (number, part), frame[at : min(at + most, end)]
        start = end


def packed(states: Iterable[Recorded]) -> bytes:
    """Pack states as `frame_cache.pack` does, but what several of them share only once, and like beside like."""
    states = list(states)
    places: dict[bytes, Any] = {}
    for state in states:
        for place, block in state.blocks:
            places.setdefault(block, (place, len(places)))
    ordered = sorted(places, key=places.__getitem__)
    number = {block: k for k, block in enumerate(ordered)}
    rows = [[state.values, state.key, state.words, [number[b] for _, b in state.blocks]] for state in states]
    contents = json.dumps({"lengths": [len(one) for one in ordered], "states": rows}).encode()
    contents += b" " * (-len(contents) % 4)
    return zlib.compress(struct.pack("<I", len(contents)) + contents + b"".join(ordered), 9)


def _setup(figure: FigureState, grid: Grid) -> dict[str, Any]:
    """The first message to a view, without controls that the page can't move."""
    message, _ = figure.setup(RATIO, dark=False)
    message["controls"] = grid.specs()
    message["presets"] = [preset for preset in message["presets"] if grid.holds(preset["values"])]
    message["areas"] = [area for area in (_free(area, grid) for area in message["areas"]) if area]
    message["key"] = key_of(grid.controls, figure.values)
    message["start"] = dict(figure.values)
    return message | {"fixed": True, "launch": ""}


def _free(area: dict[str, Any], grid: Grid) -> dict[str, Any] | None:
    """A drag area with the controls that the page can move; None if there are none."""
    ways = {way: area[way] if area[way] and area[way]["name"] in grid.values else None for way in ("x", "y")}
    return area | ways if any(ways.values()) else None


def _image(pixels: np.ndarray) -> str:
    """Write a picture as small as it goes without loss."""
    from PIL import Image, features

    buffer, image = io.BytesIO(), Image.fromarray(pixels).convert("RGB")
    if features.check("webp"):  # a third of the bytes of a PNG
        image.save(buffer, "WEBP", lossless=True, quality=100)
    else:
        image.save(buffer, "PNG", optimize=True)
    return _text(buffer.getvalue())


def _text(data: bytes) -> str:
    return b64encode(data).decode()
