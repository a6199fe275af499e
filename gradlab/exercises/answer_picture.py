"""A wanted result beside the one that somebody's function gave: small pictures of one case, drawn once.

They stand still, so they have a function each and no view; their margins are fixed, for a layout
takes longer than the rest.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.ticker import MaxNLocator

from .._base.numbers import number as rounded
from .._base.numbers import signed
from ..live.drawing.style import BLACK, BLUE, GREEN, GRID, ORANGE, OTHER, tidy

WIDE, HIGH = 5.2, 2.3  # inches
_WANTED: dict[str, Any] = {"color": BLUE, "lw": 2.4, "zorder": 3}
# What is higher is drawn so high, and says what it is: an axis has to end somewhere.
_HIGHEST = 1e30
_GIVEN: dict[str, Any] = {"color": ORANGE, "lw": 2.0, "ls": "--", "zorder": 4}


def painted(draw: Any) -> np.ndarray:
    """The picture that `draw(figure)` makes, as pixels (h, w, 4)."""
    figure = Figure(figsize=(WIDE, HIGH), dpi=100)
    draw(figure)
    canvas: Any = FigureCanvasAgg(figure)
    canvas.draw()
    return np.array(canvas.buffer_rgba())


def number(value: float) -> str:
    """Four digits with a true minus.

    >>> number(-0.25), number(1 / 3), number(float("nan"))
    ('−0.25', '0.3333', 'nan')
    """
    return signed(rounded(value, 4))


def bars(figure: Figure, names: Sequence[str], wanted: np.ndarray, given: np.ndarray) -> None:
    """Two bars for every name: wanted (filled) and given (hatched), with a mark under those that differ."""
    axes = _axes(figure, bottom=0.24)
    place = np.arange(len(names))
    apart = ~np.isclose(wanted, given, rtol=1e-5, atol=1e-6, equal_nan=True)
    looks: tuple[dict[str, Any], ...] = (
        {"color": BLUE, "label": "wanted"},
        {"fc": "none", "ec": ORANGE, "hatch": "///", "label": "given"},
    )
    low, high = _ends(_drawable(np.concatenate([wanted, given])))
    for values, side, look in zip((wanted, given), (-0.2, 0.2), looks, strict=True):
        # What has no height is written at 0.
        heights = np.where(np.isfinite(values), _drawable(values), np.nan)
        axes.bar(place + side, heights, 0.36, **look)
        for x, height, value in zip(place + side, np.nan_to_num(heights), values, strict=True):
            _number_at(axes, x, height, value, small=len(names) > 6)
    room = 0.2 * (high - low)
    axes.set(xlim=(-0.6, len(names) - 0.4), ylim=(low - room * (low < 0), high + room * (high > 0)))
    heads = [
        f"{_wrapped(name)} ✗" if a else _wrapped(name) for name, a in zip(names, apart, strict=True)
    ]
    axes.set_xticks(place, heads, fontsize=8.5 if len(names) <= 6 else 7.5)
    axes.axhline(0, color=BLACK, lw=0.8)
    axes.grid(False, axis="x")
    _legend(axes)


def arrows(
    figure: Figure, wanted: np.ndarray, given: np.ndarray, limit: float | None = None
) -> None:
    """Two vectors of two entries from one point, and the circle of a limit on their norm."""
    axes = figure.add_axes((0.08, 0.21, 0.5, 0.75))
    tidy(axes, "", "first entry", "second entry")
    finite = [_drawable(v) for v in (wanted, given) if np.isfinite(v).all()]
    reach = 1.15 * max([1e-6, limit or 0.0, *(float(np.abs(v).max()) for v in finite)])
    axes.set(xlim=(-reach, reach), ylim=(-reach, reach), aspect="equal")
    if limit:
        turn = np.linspace(0, 2 * np.pi, 100)
        axes.plot(
            limit * np.cos(turn),
            limit * np.sin(turn),
            "-.",
            color=GREEN,
            lw=1.2,
            label=f"norm {limit:g}",
        )
    for name, v, look in (("wanted", wanted, _WANTED), ("given", given, _GIVEN)):
        label = f"{name} ({', '.join(map(number, v))})"
        x, y = _drawable(v)
        axes.plot([0, x], [0, y], marker="o", markevery=[1], ms=6, label=label, **look)
    figure.legend(loc="center left", bbox_to_anchor=(0.56, 0.5), fontsize=9, frameon=False)


def cells(
    figure: Figure, heads: Sequence[str], wanted: Sequence[str], given: Sequence[str]
) -> None:
    """Two rows of words, wanted above given, with a frame around what differs; one may have more than the other."""
    axes = figure.add_axes((0.14, 0.1, 0.845, 0.8))
    columns = max(len(wanted), len(given), 1)
    axes.set(xlim=(0, columns), ylim=(2, -0.6))
    axes.axis("off")
    size = 9 if columns <= 6 else 7.5
    looks: dict[str, Any] = {"ha": "center", "va": "center", "color": BLACK}
    for row, (name, color, words) in enumerate(
        (("wanted", BLUE, wanted), ("given", ORANGE, given))
    ):
        beside = axes.get_yaxis_transform()
        axes.text(
            -0.02,
            row + 0.5,
            name,
            ha="right",
            va="center",
            color=BLACK,
            fontsize=9,
            transform=beside,
        )
        for k, word in enumerate(words):
            differs = row == 1 and (k >= len(wanted) or word != wanted[k])
            edge = {"ec": ORANGE, "lw": 2.2, "zorder": 3} if differs else {"ec": GRID, "lw": 0.8}
            axes.add_patch(_box(k, row, **edge))
            axes.text(k + 0.5, row + 0.5, textwrap.fill(word, 14), fontsize=size, zorder=4, **looks)
        axes.plot(
            [-0.008] * 2,
            [row + 0.08, row + 0.92],
            color=color,
            lw=4,
            clip_on=False,
            transform=beside,
        )
    for k, head in enumerate(heads[:columns]):
        axes.text(k + 0.5, -0.3, _wrapped(head), fontsize=min(size, 8) - (columns > 4), **looks)


def lines(
    figure: Figure, x: np.ndarray, wanted: np.ndarray, given: np.ndarray, names: tuple[str, str]
) -> None:
    """Two curves over the same x."""
    axes = _axes(figure, bottom=0.22, left=0.18)
    tidy(axes, "", *names)
    axes.plot(x, _drawable(wanted), label="wanted", **_WANTED)
    axes.plot(x, _drawable(given), label="given", **_GIVEN)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    _legend(axes)


def levels(
    figure: Figure,
    values: np.ndarray,
    marks: Sequence[tuple[str, float]],
    name: str,
    title: str = "",
) -> None:
    """Values of steps as stems, those without a height named, and marks across them: wanted, given, any other."""
    axes = _axes(figure, bottom=0.22, left=0.18)
    tidy(axes, title, "step", name)
    values = np.where(np.isfinite(values), _drawable(values), values)
    heights = [float(_drawable(v)) for _, v in marks if np.isfinite(v)]
    top = 1.25 * max([1e-6, *heights, *values[np.isfinite(values)].tolist()])
    x, finite = np.arange(len(values)), np.isfinite(values)
    axes.vlines(x[finite], 0, values[finite], color=OTHER, lw=5)
    for k in map(int, x[~finite]):
        axes.text(k, top, number(values[k]), ha="center", va="top", fontsize=9, color=BLACK)
    looks = {"wanted": _WANTED, "given": _GIVEN}
    for label, height in marks:
        look = looks.get(label.split()[0], {"color": GREEN, "ls": "-.", "lw": 1.4})
        axes.plot(
            [-0.5, len(values) - 0.5],
            [_drawable(height)] * 2,
            label=f"{label} {number(height)}",
            **look,
        )
    axes.set(xlim=(-0.5, len(values) - 0.5), ylim=(0, top), xticks=x)
    _legend(axes)


def _axes(figure: Figure, bottom: float, left: float = 0.1) -> Any:
    return tidy(figure.add_axes((left, bottom, 0.97 - left, 0.86 - bottom)), "", "", "")


def _legend(axes: Any) -> None:
    axes.legend(
        loc="lower right",
        bbox_to_anchor=(1.0, 1.0),
        ncols=3,
        fontsize=9,
        frameon=False,
        borderpad=0.1,
    )


def _drawable(values: Any) -> Any:
    return np.clip(values, -_HIGHEST, _HIGHEST)


def _ends(values: np.ndarray) -> tuple[float, float]:
    """The range of bars: all that is finite, and 0."""
    finite = values[np.isfinite(values)]
    low, high = min(0.0, *finite) if finite.size else 0.0, max(0.0, *finite) if finite.size else 0.0
    return (low, high) if high > low else (0.0, 1.0)


def _number_at(axes: Any, x: float, y: float, value: float, small: bool) -> None:
    down = y < 0
    axes.annotate(
        number(value),
        (x, y),
        (0, -3 if down else 3),
        textcoords="offset points",
        color=BLACK,
        ha="center",
        va="top" if down else "bottom",
        fontsize=7 if small else 8.5,
    )


def _wrapped(name: str) -> str:
    """A long name on two lines."""
    return name.replace("[", "\n[").replace("_", "_\n").strip() if len(name) > 9 else name


def _box(column: int, row: int, **looks: Any) -> Any:
    return Rectangle((column + 0.04, row + 0.08), 0.92, 0.84, fc="none", **looks)
