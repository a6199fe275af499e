"""Which notebook cell shows which figures, to close the figures that are no longer visible.

ipywidgets keeps a widget until it is closed, and no event says that an output was replaced. So a
figure that is shown is noted with its cell, and once that cell has run again, figures that only its
earlier runs had shown are closed.

A cell is known by the id that JupyterLab and Notebook 7 send with its code. A front end that sends
none shows each run in a place of its own, as far as can be known here, and nothing is closed.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any, Protocol
from weakref import WeakSet

from ipywidgets import Output
from ipywidgets.widgets import widget

from .scheduling import shell


class Shown(Protocol):
    """A widget, or what else can be closed."""

    def close(self) -> None: ...


class NotebookCells:
    """The figures shown by the runs of each cell, by the ids of both."""

    def __init__(self) -> None:
        self._runs: dict[str, dict[str, WeakSet[Any]]] = {}
        self._guard = threading.Lock()
        self._shell: Any = None

    def note(self, shown: Shown) -> None:
        """The cell that runs now shows this."""
        ipython = shell()
        cell, run = _running(ipython)
        if not cell or any(isinstance(one, Output) and one.msg_id == run for one in _open()):
            return  # no cell, or one whose output goes to another place, which may stay longer
        if ipython is not self._shell:
            self._shell = ipython
            ipython.events.register("post_run_cell", self.ended)
        with self._guard:
            self._runs.setdefault(cell, {}).setdefault(run, WeakSet()).add(shown)

    def ended(self, *_: Any) -> None:
        """The cell has run: close what only its earlier runs show."""
        cell, run = _running(self._shell)
        with self._guard:
            runs = self._runs.pop(cell, {})
            if now := runs.pop(run, None):
                self._runs[cell] = {run: now}
            seen = {
                id(one)
                for of_cell in self._runs.values()
                for some in of_cell.values()
                for one in some
            }
            gone = [one for some in runs.values() for one in some if id(one) not in seen]
        for shown in gone:
            if not any(shown in getattr(one, "children", ()) for one in _open()):
                shown.close()
                _drop_from_history(self._shell, shown)


def _running(ipython: Any) -> tuple[str, str]:
    """The id of the cell whose code runs, and that of the run; empty where there is none."""
    parent = ipython.get_parent() if hasattr(ipython, "get_parent") else {}
    cell = (parent.get("metadata") or {}).get("cellId") or ""
    return cell, (parent.get("header") or {}).get("msg_id", "")


def _open() -> Iterator[Any]:
    """Yield all widgets that are not closed.

    ipywidgets' public list of them, `Widget.widgets`, is deprecated without a successor.
    """
    yield from list(getattr(widget, "_instances", {}).values())


def _drop_from_history(ipython: Any, shown: Shown) -> None:
    """Out[n] and _n would keep what is closed for as long as the kernel runs."""
    history = ipython.user_ns.get("_oh", {})
    for number in [number for number, value in history.items() if value is shown]:
        del history[number]
        for names in (ipython.user_ns, ipython.user_ns_hidden):
            names.pop(f"_{number}", None)


cells = NotebookCells()


def layout_is_shared(figure: Any) -> bool:
    """Tell whether another open widget is laid out by the same `Layout`."""
    return any(
        one is not figure and getattr(one, "layout", None) is figure.layout for one in _open()
    )
