"""Ticks of a figure, computed once for each view: matplotlib does so again for every title, label and neighbor."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from .memory import panels

METHODS = ("_update_ticks", "_get_ticklabel_bboxes")  # matplotlib's: one that it calls otherwise is not remembered


@contextmanager
def ticks_once(figure: Any) -> Iterator[None]:
    """Let each axis remember its ticks and the boxes of their labels, while it lies where it does and shows the same.

    Use it around a layout or a draw, which change no locator or formatter. Without it, a third of a layout's time is
    spent on computing ticks again. Panels that are not plain (polar, in space) compute theirs every time.
    """
    axes = [axes for axes in panels(figure.axes) if axes.name == "rectilinear"]
    each = [axis for one in axes for axis in (one.xaxis, one.yaxis)]
    tickers = {id(axis.major): axis.major for axis in each}  # panels that share an axis have one in common
    users = Counter(id(ticker.formatter) for ticker in tickers.values())
    with ExitStack() as stack:
        for axis in each:
            for name in METHODS:
                # A formatter of two axes says what stands beside the ticks of the one that was computed last.
                if users[id(axis.major.formatter)] == 1 and hasattr(axis, name) and name not in vars(axis):
                    setattr(axis, name, _once(axis, getattr(axis, name)))
                    stack.callback(delattr, axis, name)
        yield


def _once(axis: Any, method: Callable[..., Any]) -> Callable[..., Any]:
    """Give what a method of an axis gave last, if it is asked for the same view."""
    last: tuple[Any, Any] = (None, None)

    def remembered(*asked: Any, **named: Any) -> Any:
        nonlocal last
        given = [tuple(one) if isinstance(one, list) else one for one in (*asked, *named.values())]
        view = *axis.axes.viewLim.extents, *axis.axes.bbox.extents, axis.axes.get_figure().dpi, *named, *given
        if last[0] != view:
            last = view, method(*asked, **named)
        return last[1]

    return remembered
