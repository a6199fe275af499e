"""The visual language, as far as a machine can hold it: what of a figure is not as its page in the
guide says.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from matplotlib.colors import to_hex
from matplotlib.legend import Legend
from matplotlib.lines import Line2D
from matplotlib.patches import PathPatch
from matplotlib.text import Text

from gradlab.labs._accumulators import accumulator_picture as accumulator
from gradlab.labs._adagrad_libraries import picture as digits
from gradlab.labs._clip_libraries import picture as libraries
from gradlab.labs._gate_race import picture as gate
from gradlab.labs._tpu_embedding_run import picture as tpu_run
from gradlab.live.drawing import style as _style

SIZES = {_style.TITLE, _style.LABEL, _style.SMALL}
PALETTE = {
    to_hex(color)
    for name in dir(_style)
    if isinstance(color := getattr(_style, name), str) and color[:1] == "#"
}
# Fills of cells and of workers: they are no series, and their word or number is in them.
FILLS = {
    *libraries.LOOKS.values(),
    *digits.LOOKS.values(),
    digits.QUIET,
    digits.RUST,
    gate.PALE_ORANGE,
    gate.BAND,
    *accumulator.TINTS,
    *tpu_run.SHADES,
}
# What a colored word says, and the color that says it, too.
MEANING = {
    "before": _style.ORANGE_TEXT, "dropped": _style.ORANGE_TEXT, "clipped": _style.ORANGE_TEXT,
    "starves": _style.ORANGE_TEXT, "after": _style.BLUE_TEXT, "accepted": _style.BLUE_TEXT,
    "untouched": _style.BLUE_TEXT, "threshold": _style.GREEN, "memory": _style.VIOLET_TEXT,
}  # fmt: skip


def broken(view: Any, panels: list[Any]) -> list[str]:
    """What does not speak the language: sizes, colors, their meanings, axes without names, legends."""
    nowhere = {
        part
        for axes in view.figure.axes
        if not axes.axison
        for axis in (axes.xaxis, axes.yaxis)
        for part in axis.findobj()
    }
    shown = [
        artist for artist in view.figure.findobj() if artist.get_visible() and artist not in nowhere
    ]
    texts = [
        t
        for t in shown
        if isinstance(t, Text) and t.get_text().strip() and "Mono" not in t.get_family()[0]
    ]
    drawn = {hue for artist in shown for hue in hues(artist)}
    return [
        *(
            f"size {t.get_fontsize()} of {t.get_text()!r}"
            for t in texts
            if t.get_fontsize() not in SIZES
        ),
        *(
            f"color {hue}"
            for hue in sorted(drawn - PALETTE - {to_hex(color) for color in FILLS})
            if colored(hue)
        ),
        *(
            f"{t.get_text()!r} in {t.get_color()}"
            for t in texts
            if t.get_color() in MEANING.values() and misled(t)
        ),
        *nameless(panels),
        *("a legend" for one in view.figure.findobj(Legend)),
    ]


def hues(artist: Any) -> Iterator[str]:
    """The colors in which an artist is painted now."""
    if isinstance(artist, Text) and artist.get_text().strip():
        yield to_hex(artist.get_color())
    if isinstance(artist, Line2D) and len(artist.get_xdata()):
        if artist.get_linestyle() != "None":
            yield to_hex(artist.get_color())
        elif artist.get_marker() not in ("None", None) and artist.get_markerfacecolor() != "none":
            yield to_hex(artist.get_markerfacecolor())
    if isinstance(artist, PathPatch):
        yield from (
            to_hex(color) for color in (artist.get_facecolor(), artist.get_edgecolor()) if color[3]
        )


def colored(hue: str) -> bool:
    """Whether it is more than a gray."""
    parts = [int(hue[k : k + 2], 16) for k in (1, 3, 5)]
    return max(parts) - min(parts) > 12


def misled(text: Text) -> bool:
    """Whether a word has the color of another one, and none of its own."""
    said = {color for word, color in MEANING.items() if word in text.get_text().lower().split()}
    return bool(said) and text.get_color() not in said


def nameless(panels: list[Any]) -> Iterator[str]:
    """Axes with numbers that no label names; of an upright one the title of the panel may be the
    name.
    """
    for axes in panels:
        title = axes.get_title("left").strip()
        for axis in (axes.xaxis, axes.yaxis):
            ticks = [
                t
                for t in axis.get_ticklabels()
                if t.get_visible() and any(map(str.isdigit, t.get_text()))
            ]
            if (
                axis.get_visible()
                and ticks
                and not (axis.label.get_text().strip() or (axis is axes.yaxis and title))
            ):
                yield f"the {axis.axis_name} axis of {title!r} has no label"
