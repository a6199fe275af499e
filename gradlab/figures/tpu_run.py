"""A training of two embedding tables: which rows have moved, what the loss is, and who asks whom for rows."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from matplotlib.gridspec import GridSpec

from ._labels import label
from ._lanes import ACCEPTED, IN_HAND, patch
from ._shapes import Key, bars
from ._style import BLACK, BLUE, GREEN, NARROW, ORANGE, WIDE, log_ticks, moving_line, new_figure, tidy

FARTHEST = 2.0  # a row that has moved so far has the brightest color
_LOSSES: tuple[dict[str, Any], ...] = ({"color": BLUE, "lw": 1.8}, {"color": GREEN, "lw": 1.8, "ls": "--"})
_NOW: dict[str, Any] = {"color": ORANGE, "lw": 1.8, "ls": "-."}
_TOUCHED: dict[str, Any] = {"marker": ">", "ms": 6, "color": BLUE, "ls": "none"}


class Training(NamedTuple):
    """The data of a training run that the figure shows.

    Fields: step: how many are done. moved: for each table how far each row is from its start, (steps + 1, rows).
    touched: for each table its rows that the last step looked up. loss: (steps, tables). owner: for each table the
    device of each row. traffic: (devices, devices), rows that the first asks of the second in the step.
    """

    step: int
    moved: tuple[np.ndarray, ...]
    touched: tuple[np.ndarray, ...]
    loss: np.ndarray
    owner: tuple[np.ndarray, ...]
    traffic: np.ndarray


class RunView:
    """Rows over steps on one side; losses over steps and the traffic of one step on the other."""

    def __init__(self, names: tuple[str, ...], rows: tuple[int, ...], steps: int, devices: int) -> None:
        self.figure = new_figure(WIDE, 7.0)
        self.names, self.steps, self.devices = names, steps, devices
        self._tops = np.cumsum([0, *(n + 2 for n in rows)])[:-1]
        self._rows = rows
        self.rows, self.loss, self.traffic, key = (self.figure.add_subplot() for _ in range(4))
        tidy(self.rows, f"Distance from the start: dark 0, bright {FARTHEST:g}", "step", "row, and its device")
        tidy(self.loss, "Loss of each step", "step", "loss")
        tidy(self.traffic, "Rows that are asked for in the step", "device that has the rows", "device that asks")
        self._key = Key(key, (
            *((looks, f"loss of {name}") for looks, name in zip(_LOSSES, names, strict=False)),
            (_NOW, "the step"), (_TOUCHED, "a row that it looks up"), (ACCEPTED, "rows from another device"),
            (IN_HAND, "rows of its own"),
        ))  # fmt: skip
        self._still()
        self._moving()
        self.arrange(narrow=False)

    def arrange(self, narrow: bool) -> None:
        """Fit the page: rows beside the rest, or all in one column."""
        self.figure.set_size_inches(NARROW if narrow else WIDE, 14.0 if narrow else 7.0)
        if narrow:
            grid = GridSpec(4, 1, self.figure, height_ratios=(5.2, 2.2, 3.6, 1.6))
            places = [grid[k] for k in range(4)]
        else:
            grid = GridSpec(3, 2, self.figure, height_ratios=(2.2, 3.6, 0.6))
            places = [grid[:2, 0], grid[0, 1], grid[1, 1], grid[2, :]]
        for axes, place in zip((self.rows, self.loss, self.traffic, self._key.axes), places, strict=True):
            axes.set_subplotspec(place)
        self._key.arrange(1 if narrow else 3, 3.3 if narrow else 8.2)

    def _still(self) -> None:
        end = self._tops[-1] + self._rows[-1]
        self.rows.grid(False)
        self.rows.set(xlim=(-0.5, self.steps + 5.6), ylim=(end - 0.4, -1.6), yticks=[])
        self.rows.set_xticks(range(0, self.steps + 1, 10))
        for name, top in zip(self.names, self._tops, strict=True):
            self.rows.text(0, top - 1.0, name, fontsize=8.5, color=BLACK, va="center")
        self.loss.set(xlim=(0, self.steps + 1), yscale="log", ylim=(1e-2, 300), xticks=range(0, self.steps + 1, 10))
        log_ticks(self.loss.yaxis)
        self.traffic.grid(False)
        ticks = range(self.devices)
        self.traffic.set(xlim=(-0.6, self.devices - 0.4), ylim=(self.devices + 0.5, -0.6), xticks=ticks)
        self.traffic.set_yticks([*ticks, self.devices], labels=[*map(str, ticks), "sum"])

    def _moving(self) -> None:
        self._images = [
            self.rows.imshow(
                np.zeros((n, self.steps + 1)), extent=(-0.5, self.steps + 0.5, top + n - 0.5, top - 0.5), aspect="auto",
                cmap="cividis", vmin=0, vmax=FARTHEST, interpolation="none", animated=True, zorder=1,
            )
            for n, top in zip(self._rows, self._tops, strict=True)
        ]  # fmt: skip
        self._now = [moving_line(axes, zorder=3, **_NOW) for axes in (self.rows, self.loss)]
        self._touched = moving_line(self.rows, clip_on=False, zorder=4, **_TOUCHED)
        self._owners = [[label(self.rows, x=self.steps + 3.4, y=top + k) for k in range(n)] for n, top in zip(
            self._rows, self._tops, strict=True)]  # fmt: skip
        self._losses = [moving_line(self.loss, **looks) for looks in _LOSSES]
        self._away, self._home = patch(self.traffic, ACCEPTED), patch(self.traffic, IN_HAND)
        count = self.devices * (self.devices + 1)
        self._counts = [label(self.traffic, fontsize=8.5) for _ in range(count)]

    def draw(self, training: Training) -> None:
        """Set the moving artists."""
        step = training.step
        for image, moved in zip(self._images, training.moved, strict=True):
            image.set_data(np.minimum(moved, FARTHEST).T)
        self._now[0].set_data([step] * 2, [-1.6, self._tops[-1] + self._rows[-1]])
        self._now[1].set_data([step] * 2, [1e-3, 1e3])
        marks = np.concatenate([top + touched for top, touched in zip(self._tops, training.touched, strict=True)])
        self._touched.set_data(np.full(len(marks), step - 0.1), marks)
        for words, owner in zip(self._owners, training.owner, strict=True):
            for k, one in enumerate(words):
                one.set_text(f"{k}: d{owner[k]}")
        for line, loss in zip(self._losses, training.loss.T, strict=True):
            line.set_data(np.arange(1, len(loss) + 1), loss)
        self._draw_traffic(training.traffic)

    def _draw_traffic(self, traffic: np.ndarray) -> None:
        y, x = np.nonzero(traffic)
        for shape, some in ((self._away, x != y), (self._home, x == y)):
            shape.set_path(bars(x[some] - 0.42, x[some] + 0.42, y[some] - 0.42, y[some] + 0.42))
        with_sums = np.vstack([traffic, traffic.sum(axis=0)])
        for words, (row, column) in zip(self._counts, np.ndindex(with_sums.shape), strict=True):
            words.set(x=column, y=row, text=f"{with_sums[row, column]}" if with_sums[row, column] else "")
            words.set_weight("bold" if row == self.devices else "normal")
