"""Figure of a placement: how much of each table every device holds, and what it sends for each in a step."""

from __future__ import annotations

import base64
import html
import io
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.figure import Figure

from .._base.numbers import counted, number
from ..live.drawing.labels import colored_title
from ..live.drawing.style import (
    BLACK,
    BLUE,
    BLUE_TEXT,
    DASHED,
    GREEN,
    GRID,
    HATCH,
    OTHER,
    PALE_BLUE,
    PALE_GREEN,
    PALE_VIOLET,
    QUIET,
    SMALL,
    VIOLET,
    VIOLET_TEXT,
    WIDE,
    new_figure,
    plain,
    tidy,
)

if TYPE_CHECKING:  # protobuf, which all of gl.tpu needs, may be missing
    from ..tpu import PlacementPlan

MIB, KIB = 1 << 20, 1 << 10
MOST = 10  # tables with a bar of their own
_LOOKS = {  # fill, edge and color of the word
    "rows": (PALE_BLUE, BLUE, BLUE_TEXT),
    "whole": (PALE_VIOLET, VIOLET, VIOLET_TEXT),
    "columns": (PALE_GREEN, GREEN, GREEN),
    "copies": (GRID, OTHER, QUIET),
}
_LETTER = 0.012  # width of a letter, as a share of the axes


class PlacementPicture:
    """A picture of a `gl.tpu.PlacementPlan`, with its alternative text, for a notebook; `figure` is matplotlib's.

    On the left every device with the tables that it holds, in MiB: hatched is room that holds no
    row, and a dashed line the budget. On the right what each device sends for each table in a step,
    in KiB. Colors say how a table lies. Not in TensorFlow.

    >>> from gradlab.tpu import Feature, Plan, Table
    >>> from gradlab.tpu import plan_placement
    >>> plan = Plan((Table("days", 7, 8),), (Feature("day", 0, (4,)),), cores=2)
    >>> PlacementPicture(plan_placement(plan, 2)).alt.partition(":")[0]
    '1 table on 2 devices'
    """

    def __init__(self, plan: PlacementPlan) -> None:
        self._plan = plan
        self.figure: Figure = new_figure(
            WIDE, 1.5 + 0.26 * max(plan.devices, min(len(plan.tables), MOST), 3)
        )
        held, sent = self.figure.subplots(1, 2, width_ratios=(3, 2))
        layouts = [layout for layout in _LOOKS if layout in plan.layouts]
        tidy(held, "", "MiB of weights and slots", "device")
        colored_title(held, ("Held:", BLACK), *((layout, _LOOKS[layout][2]) for layout in layouts))
        tidy(sent, "Sent by each device", "KiB in a step", "")
        self._held(held)
        self._sent(sent)

    @property
    def alt(self) -> str:
        """The placement in words."""
        plan = self._plan
        limit = "" if plan.budget is None else f" of {number(plan.budget / MIB)}"
        each = (
            f"{t.table} {t.layout}{'' if t.device is None else f' on device {t.device}'}, "
            f"{number(t.cost.memory / MIB)} MiB held and {number(t.cost.traffic / KIB)} KiB sent"
            for t in plan.tables
        )
        return (
            f"{counted(len(plan.tables), 'table')} on {counted(plan.devices, 'device')}: each has "
            f"room for {number(plan.memory / MIB)}{limit} MiB and sends "
            f"{number(plan.traffic / KIB)} KiB in a step; {'; '.join(each)}."
        )

    def _held(self, axes: Any) -> None:
        plan, end = self._plan, np.zeros(self._plan.devices)
        most = max(plan.memory, plan.budget or 0) / MIB
        for t in sorted(plan.tables, key=lambda t: -max(t.held)):
            size, (fill, edge, _) = np.array(t.held) / MIB, _LOOKS[t.layout]
            axes.barh(
                range(plan.devices),
                size,
                left=end,
                height=0.8,
                color=fill,
                edgecolor=edge,
                linewidth=0.8,
            )
            for device in np.flatnonzero(size > most * _LETTER * (2 + len(t.table))):
                middle = end[device] + size[device] / 2
                axes.text(
                    middle,
                    device,
                    plain(t.table),
                    ha="center",
                    va="center",
                    fontsize=SMALL,
                    color=BLACK,
                )
            end += size
        empty = plan.memory / MIB - end
        axes.barh(
            range(plan.devices),
            empty,
            left=end,
            height=0.8,
            fc="none",
            ec=HATCH["color"],
            hatch="///",
            lw=0,
        )
        if plan.budget is not None:
            axes.axvline(plan.budget / MIB, color=BLACK, ls=DASHED, lw=1)
            axes.annotate(
                "budget ",
                (plan.budget / MIB, -0.75),
                ha="right",
                va="center",
                fontsize=SMALL,
                color=BLACK,
            )
        axes.set(xlim=(0, 1.03 * most), ylim=(plan.devices - 0.4, -1.1), yticks=range(plan.devices))

    def _sent(self, axes: Any) -> None:
        bars = list(self._bars())
        for k, (_, traffic, layout) in enumerate(bars):
            fill, edge, _ = _LOOKS.get(layout, _LOOKS["copies"])
            axes.barh(k, traffic / KIB, height=0.7, color=fill, edgecolor=edge, linewidth=0.8)
        axes.set(
            ylim=(len(bars) - 0.4, -0.6),
            yticks=range(len(bars)),
            yticklabels=[plain(name) for name, *_ in bars],
        )

    def _bars(self) -> Iterator[tuple[str, int, str]]:
        """Name, bytes and layout of the tables that send most, and of all others together."""
        most = sorted(self._plan.tables, key=lambda t: -t.cost.traffic)
        shown = most if len(most) <= MOST else most[: MOST - 1]
        yield from ((t.table, t.cost.traffic, t.layout) for t in shown)
        if others := most[len(shown) :]:
            yield f"{len(others)} others", sum(t.cost.traffic for t in others), ""

    def _repr_html_(self) -> str:
        file = io.BytesIO()
        self.figure.savefig(file, format="png", metadata={"Software": None})
        pixels = base64.b64encode(file.getvalue()).decode()
        looks = 'style="max-width:100%;height:auto"'
        picture = (
            f'<img alt="{html.escape(self.alt)}" {looks} src="data:image/png;base64,{pixels}">'
        )
        return f"{picture}<details><summary>Values</summary>{self._plan._repr_html_()}</details>"

    def __repr__(self) -> str:
        return repr(self._plan)
