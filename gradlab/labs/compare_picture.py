"""Recorded runs on the same axes: norms and losses named at their ends, shares at one limit, how tensors differ."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.gridspec import GridSpec
from matplotlib.ticker import MaxNLocator

from .._base.numbers import number
from ..live.drawing.curves import running_median, window
from ..live.drawing.labels import label
from ..live.drawing.lanes import patch, text
from ..live.drawing.shapes import bars
from ..live.drawing.style import (
    BLACK,
    BLUE,
    BLUE_TEXT,
    GREEN,
    LABEL,
    NARROW,
    ORANGE,
    ORANGE_TEXT,
    OTHER,
    QUIET,
    SMALL,
    WIDE,
    log_ticks,
    moving_line,
    new_figure,
    percent_ticks,
    plain,
    tidy,
)  # fmt: skip
from ..record.analysis.compare import Comparison
from ..record.recording import Recording
from .tensor_rows import name_rows, short


class Look(NamedTuple):
    """Look of a run's curve: color, dash, marker, and a color dark enough for text."""

    color: str
    dash: Any
    marker: str
    words: str


# The first run is what others are compared with: it is before, and the second one after.
LOOKS = (
    Look(ORANGE, "-", "^", ORANGE_TEXT),
    Look(BLUE, "-", "o", BLUE_TEXT),
    Look(BLACK, (0, (5, 1.5)), "s", BLACK),
    Look(OTHER, "-", "D", QUIET),
    Look(BLUE, (0, (1.5, 1.2)), "v", BLUE_TEXT),
    Look(ORANGE, (0, (5, 1.2, 1.2, 1.2)), "P", ORANGE_TEXT),
)
MOST_ROWS = 7  # tensors, those that differ most
FARTHEST = 1000.0  # times as large: what is beyond is at the edge
_LIMIT = Look(GREEN, "--", "", GREEN)
_PART: dict[str, Any] = {"color": BLACK, "ls": ":", "lw": 1.1}
_LETTERS = 12  # of a run's name
# Of the steps, for names at the ends of lines; more where the page is narrow.
_ROOM = {False: 0.37, True: 0.62}
_LEADER = 0.035  # of the steps, from a line to its name
_LINE = 0.095  # of an axis's height: the least between two names


class Runs(NamedTuple):
    """The fixed part of the picture.

    Attributes:
        names: of the runs.
        steps: (buckets,) of each the first steps of its buckets.
        losses: (buckets,) of each, NaN where none is known.
        norms: the ends of the log axis of norms.
        parting: the step at which runs part; None if they never do.
        tensors: of the rows, at most `MOST_ROWS`.
        factors: (runs - 1, rows) norms as multiples of the first run's.
        stride: steps that a point may stand for, by their largest norm.
    """

    names: Sequence[str]
    steps: Sequence[np.ndarray]
    losses: Sequence[np.ndarray]
    norms: tuple[float, float]
    parting: int | None
    tensors: Sequence[str]
    factors: np.ndarray
    stride: int

    @property
    def until(self) -> float:
        """The last step of any."""
        return max(float(steps[-1]) for steps in self.steps)


def in_picture(
    both: Comparison[Any], seen: Sequence[Recording], norms: tuple[float, float]
) -> Runs:
    """Return the drawn part of a comparison; `seen` are its recordings in as many buckets as there is room for."""
    rows = both.order[:MOST_ROWS]
    losses = [rec["loss"] if "loss" in rec.scalars else np.full(len(rec), np.nan) for rec in seen]
    return Runs(
        both.names,
        [rec.step for rec in seen],
        [np.asarray(loss, float) for loss in losses],
        norms,
        both.first_step,
        [both.tensors[k] for k in rows],
        both.factor[1:, rows],
        max(rec.stride for rec in seen),
    )


class ComparedNorms(NamedTuple):
    """The moving part of the picture.

    Attributes:
        of: whose norms.
        norms: (buckets,) of each run.
        limit: the limit.
        shares: (runs,) share of steps on which it fires.
        words: what is written after each.
        chosen: the row that is framed; None if it is not among them.
    """

    of: str
    norms: Sequence[np.ndarray]
    limit: float
    shares: np.ndarray
    words: Sequence[str]
    chosen: int | None


def labels(names: Sequence[str]) -> list[str]:
    """Names where there is room for few letters: if some are long, without what all begin with.

    >>> labels(["char_rnn-clipped", "char_rnn-free"]), labels(["a-b", "a-c"])
    (['clipped', 'free'], ['a-b', 'a-c'])
    """
    one, *others = names
    cuts = [k + 1 for k, letter in enumerate(one) if letter in "-_./ "]
    cut = max((k for k in cuts if all(name[:k] == one[:k] for name in others)), default=0)
    if max(map(len, names)) > _LETTERS and all(len(name) > cut for name in names):
        names = [name[cut:] for name in names]
    return [short(name, _LETTERS) for name in names]


class CompareView:
    """Norms over losses on one axis of steps; beside them how often the limit fires, and how tensors differ."""

    def __init__(self, runs: Runs) -> None:
        self.figure, self._runs = new_figure(WIDE, 5.05), runs
        self.norms, self.shares, self.loss, self.factors = (
            self.figure.add_subplot() for _ in range(4)
        )
        loss_panel(self.loss, runs)
        _norm_panel(self.norms, runs)
        factor_panel(self.factors, runs)
        self._share_panel()
        self._moving()
        self.arrange(narrow=False)

    def arrange(self, narrow: bool) -> None:
        """Fit the page: shares and tensors beside the lines, or everything in one column."""
        few, rows = len(self._runs.names), max(len(self._runs.tensors), 4)
        if narrow:
            self.figure.set_size_inches(NARROW, 10.4)
            grid = GridSpec(4, 1, self.figure, height_ratios=(1.5, 0.4 + 0.12 * few, 1.2, 1.2))
            places = [grid[k] for k in range(4)]
        else:
            self.figure.set_size_inches(WIDE, 5.05)
            grid = GridSpec(1, 2, self.figure, width_ratios=(1.4, 1))
            left = grid[0].subgridspec(2, 1, height_ratios=(1.3, 1))
            # As many rows as there are bars.
            right = grid[1].subgridspec(2, 1, height_ratios=(1.1 + few, 1.6 + rows))
            places = [left[0], right[0], left[1], right[1]]
        for axes, place in zip(
            (self.norms, self.shares, self.loss, self.factors), places, strict=True
        ):
            axes.set_subplotspec(place)
        for axes in (self.norms, self.loss):
            span(axes, self._runs.until, narrow)

    def _share_panel(self) -> None:
        names, axes = self._runs.names, tidy(self.shares, "The limit fires on", "of the steps", "")
        axes.set(xlim=(0, 1.6), xticks=(0, 0.5, 1), ylim=(len(names) - 0.4, -0.6))
        name_rows(axes, range(len(names)), labels(names))
        for tick, look in zip(axes.get_yticklabels(), LOOKS, strict=False):
            tick.set(color=look.words, fontweight="bold")
        percent_ticks(axes.xaxis)
        axes.grid(False, axis="y")

    def _moving(self) -> None:
        looks = LOOKS[: len(self._runs.names)]
        self._raw = [moving_line(self.norms, **_thin(look)) for look in looks]
        self._middle = [moving_line(self.norms, **_thick(look)) for look in looks]
        self._ends = [_End(self.norms, look, moving=True) for look in looks]
        self._ends.append(_End(self.norms, _LIMIT, moving=True))
        self._level = moving_line(self.norms, color=_LIMIT.color, ls=_LIMIT.dash, lw=1.6)
        self._of = text(
            self.norms, x=0.995, y=1.03, ha="right", fontsize=SMALL, transform=self.norms.transAxes
        )
        self._bars = [patch(self.shares, {"fc": look.color, "ec": "none"}) for look in looks]
        self._words = [label(self.shares, ha="left", fontsize=SMALL) for _ in looks]
        self._frame = patch(self.factors, {"fc": "none", "ec": BLACK, "lw": 1.1})

    def draw(self, shown: ComparedNorms) -> None:
        """Set the moving artists."""
        middles = []
        for k, norms in enumerate(shown.norms):
            norms = np.where(np.isfinite(norms) & (norms > 0), norms, np.nan)
            middles.append(running_median(norms))
            self._raw[k].set_data(self._runs.steps[k], norms)
            self._middle[k].set_data(self._runs.steps[k], middles[-1])
        names, until = [*labels(self._runs.names), f"limit {number(shown.limit)}"], self._runs.until
        lasts = [*(float(steps[-1]) for steps in self._runs.steps), until]
        name_ends(self._ends, self.norms, names, lasts, [*map(_last, middles), shown.limit])
        self._level.set_data([-0.01 * until - 0.5, until], [shown.limit] * 2)
        self._of.set_text(plain(short(shown.of, 26)))
        for k, (share, words) in enumerate(zip(shown.shares, shown.words, strict=True)):
            self._bars[k].set_path(bars(0, share, k - 0.28, k + 0.28))
            self._words[k].set(x=share + 0.04, y=k, text=words)
        here = np.array([] if shown.chosen is None else [shown.chosen], float)
        low, high = self.factors.get_xlim()
        self._frame.set_path(
            bars(np.full(len(here), low), np.full(len(here), high), here - 0.45, here + 0.45)
        )


def _norm_panel(axes: Any, runs: Runs) -> None:
    tidy(
        axes,
        "Gradient norm",
        "",
        "norm" if runs.stride == 1 else f"largest norm of up to {runs.stride:,} steps",
    )
    axes.set(yscale="log", ylim=runs.norms)
    log_ticks(axes.yaxis)
    axes.tick_params(labelbottom=False)
    _part(axes, runs, said=True)


def still_norms(axes: Any, runs: Runs, norms: Sequence[np.ndarray]) -> None:
    """The global norms of all runs, for a picture that stands still."""
    _norm_panel(axes, runs)
    axes.set_title("Gradient norm over all tensors", loc="left", fontsize=LABEL)
    _lines(axes, runs, norms, log=True)


def loss_panel(axes: Any, runs: Runs) -> None:
    """The losses of all runs; a word where there are none."""
    width = window(max(map(len, runs.steps)))
    tidy(axes, "Loss", "training step" + f" (thick: median of up to {width})" * (width > 1), "loss")
    known = np.concatenate(runs.losses)
    known = known[np.isfinite(known)]
    if not known.size:
        axes.set(title="", yticks=[], ylabel="")
        axes.set_title("No loss was recorded", loc="left", fontsize=LABEL)
        return
    if (known > 0).all():
        axes.set(yscale="log", ylim=(0.9 * known.min(), 1.15 * known.max()))
        log_ticks(axes.yaxis)
    else:
        room = 0.05 * (float(np.ptp(known)) or 1.0)
        axes.set_ylim(known.min() - room, known.max() + room)
    _part(axes, runs)
    _lines(axes, runs, runs.losses)


def _lines(axes: Any, runs: Runs, values: Sequence[np.ndarray], log: bool = False) -> None:
    """Lines that stand still, thin and their medians thick, with names at their ends."""
    middles = []
    for look, step, line in zip(LOOKS, runs.steps, values, strict=False):
        line = np.where(np.isfinite(line) & ((line > 0) | (not log)), line, np.nan)
        middles.append(running_median(line))
        axes.plot(step, line, **_thin(look))
        axes.plot(step, middles[-1], **_thick(look))
    lasts = [float(steps[-1]) for steps in runs.steps]
    name_ends(
        [_End(axes, look) for look in LOOKS[: len(values)]],
        axes,
        labels(runs.names),
        lasts,
        [*map(_last, middles)],
    )


def factor_panel(axes: Any, runs: Runs) -> None:
    """A row for each tensor: its norm in the other runs, as a multiple of the first run's."""
    first = plain(labels(runs.names)[0])
    tidy(axes, "Tensors that differ most", f"norm, times that of {first}", "")
    rows = len(runs.tensors)
    axes.set(ylim=(max(rows, 4) - 0.4, -0.6), xscale="log")
    name_rows(axes, range(rows), runs.tensors)
    factors = np.clip(runs.factors, 1 / FARTHEST, FARTHEST)
    far = float(np.exp(np.nanmax(np.abs(np.log(factors)), initial=np.log(1.6))))
    axes.set_xlim(1 / (1.35 * far), 1.35 * far)
    log_ticks(axes.xaxis, 1 / FARTHEST, FARTHEST)
    axes.axvline(1.0, color=LOOKS[0].color, lw=1.4)
    axes.grid(False, axis="y")
    for look, row in zip(LOOKS[1:], factors, strict=False):
        axes.plot(row, np.arange(rows), look.marker, ms=7, mew=0, color=look.color)
    if not rows:
        axes.text(
            0.5,
            0.5,
            "no tensor is in all runs",
            ha="center",
            transform=axes.transAxes,
            fontsize=SMALL,
        )


def span(axes: Any, until: float, narrow: bool) -> None:
    """The axis of steps, with room for names after the last."""
    axes.set_xlim(-0.01 * until - 0.5, (1 + _ROOM[narrow]) * until + 0.5)
    axes.xaxis.set_major_locator(MaxNLocator(4 if narrow else 6, integer=True, steps=[1, 2, 5, 10]))


def _part(axes: Any, runs: Runs, said: bool = False) -> None:
    """Draw a line where the runs part, unless that is at the start."""
    if not runs.parting:
        return
    axes.axvline(runs.parting, **_PART)
    if said:
        early = runs.parting < runs.until / 2
        place = ((5 if early else -5), 4)  # points
        axes.annotate(
            f"first differ at step {runs.parting:,}",
            (runs.parting, 0),
            place,
            xycoords=axes.get_xaxis_transform(),
            textcoords="offset points",
            fontsize=SMALL,
            color=BLACK,
            ha="left" if early else "right",
        )


class _End:
    """The name of a run, and a line to it from where its own ends."""

    def __init__(self, axes: Any, look: Look, moving: bool = False) -> None:
        looks: dict[str, Any] = {
            "ha": "left",
            "va": "center",
            "color": look.words,
            "fontweight": "bold",
            "fontsize": SMALL,
        }
        self._name = text(axes, **looks | {"animated": moving})
        (self._line,) = axes.plot([], [], color=look.color, ls=look.dash, lw=1.0, animated=moving)

    def write(self, name: str, x: tuple[float, float], y: tuple[float, float]) -> None:
        self._name.set(x=x[1], y=y[1], text=f" {name}")
        self._line.set_data(x, y)


def name_ends(
    ends: Sequence[_End],
    axes: Any,
    names: Sequence[str],
    steps: Sequence[float],
    values: Sequence[float],
) -> None:
    """Write each name after the last step and value of its line, as far apart as words need it; NaN: it has none."""
    last, until = np.array(values), max(steps)
    there = np.flatnonzero(np.isfinite(last))
    to_axes = axes.transScale + axes.transLimits
    height = np.array([to_axes.transform((1.0, y))[1] for y in last[there]])
    order = np.argsort(height)
    for end in ends:
        end.write("", (np.nan, np.nan), (np.nan, np.nan))
    for k, y in zip(there[order], spaced(height[order], _LINE), strict=True):
        where = to_axes.inverted().transform((0.0, y))[1]
        ends[k].write(plain(names[k]), (steps[k], steps[k] + _LEADER * until), (last[k], where))


def spaced(places: np.ndarray, gap: float) -> np.ndarray:
    """Rising places from 0 to 1, moved as little as keeps them `gap` apart, or as far as there is room.

    >>> spaced(np.array([0.5, 0.5]), 0.1).round(2).tolist()
    [0.45, 0.55]
    """
    gap = min(gap, 1 / max(len(places) - 1, 1))
    steps = gap * np.arange(len(places))
    free = np.array(places, float) - steps  # to be rising: the nearest such are means of stretches
    blocks: list[list[float]] = []
    for x in free:
        blocks.append([float(x), 1])
        while len(blocks) > 1 and blocks[-2][0] > blocks[-1][0]:
            (a, n), (b, m) = blocks[-2:]
            blocks[-2:] = [[(a * n + b * m) / (n + m), n + m]]
    rising = np.concatenate([np.full(int(n), x) for x, n in blocks]) if blocks else free
    edge = min(gap / 2, (1 - steps[-1]) / 2) if len(steps) else 0
    placed: np.ndarray = np.clip(rising, edge, 1 - edge - steps[-1] if len(steps) else 1) + steps
    return placed


def _last(line: np.ndarray) -> float:
    known = line[np.isfinite(line)]
    return float(known[-1]) if known.size else np.nan


def _thin(look: Look) -> dict[str, Any]:
    return {"color": look.color, "ls": "-", "lw": 0.7, "alpha": 0.45}


def _thick(look: Look) -> dict[str, Any]:
    return {"color": look.color, "ls": look.dash, "lw": 2.0}
