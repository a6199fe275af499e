"""Ticks of a figure, computed once for each view: matplotlib does so again for every title, label and neighbor."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from .memory import panels

PARTS = ("_update_ticks", "_get_ticklabel_bboxes")  # matplotlib's: one that it calls otherwise is not remembered


@contextmanager
def ticks_once(figure: Any) -> Iterator[None]:
    """Let each axis remember its ticks and the boxes of their labels, while it lies where it does and shows the same.

    For a layout or a picture, in which nobody changes how ticks are found: a third of a layout's time goes otherwise.
    """
    with ExitStack() as stack:
        for axis in (axis for axes in panels(figure.axes) for axis in (axes.xaxis, axes.yaxis)):
            for part in PARTS:
                if hasattr(axis, part):
                    setattr(axis, part, _once(axis, getattr(axis, part)))
                    stack.callback(delattr, axis, part)
        yield


def _once(axis: Any, part: Callable[..., Any]) -> Callable[..., Any]:
    """Give what `part` of an axis gave last, if it is asked for the same view."""
    last: tuple[Any, Any] = (None, None)

    def remembered(*asked: Any) -> Any:
        nonlocal last
        given = [tuple(each) if isinstance(each, list) else each for each in asked]
        view = *axis.get_view_interval(), *axis.axes.bbox.extents, axis.axes.get_figure().dpi, *given
        if last[0] != view:
            last = view, part(*asked)
        return last[1]

    return remembered
