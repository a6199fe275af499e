"""LiveFigure: a matplotlib figure whose moving artists a browser paints while controls change them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import anywidget

from .controls import Button, Description, Drag, Menu, Slider
from .fallback import figure_html
from .inbox import Inbox
from .scene import Scene

FOLDER = Path(__file__).parent
VIEW = "application/vnd.jupyter.widget-view+json"

Control = Slider | Menu | Button


class LiveFigure(anywidget.AnyWidget):
    """A figure with controls: the still parts are sent once, the moving ones whenever a control changes.

    Args:
        figure: a matplotlib `Figure` (not a pyplot one). Artists made with `animated=True` move.
        controls: `Slider`, `Menu` and `Button` objects, in the order in which they are shown.
        update: called with the values of all sliders and menus; sets data on artists, draws nothing, and returns a
            `Description` of the new state.
        drags: parts of the picture that move sliders.
        label: what the figure is called.

    Raises:
        ValueError, TypeError: controls or drags do not fit together. Whatever `update` raises.

    >>> from matplotlib.figure import Figure
    >>> figure = Figure(figsize=(2, 1))
    >>> line, = figure.add_subplot().plot([0, 1], [0, 1], animated=True)
    >>> def update(values):
    ...     line.set_ydata([0, values["slope"]])
    ...     return Description(f"The line rises to {values['slope']:g}.", f"slope {values['slope']:g}")
    >>> live = LiveFigure(figure, [Slider("slope", "Slope", 0.0, 2.0, 1.0)], update, label="A line")
    >>> live.set(slope=0.5)
    >>> live
    A line: slope 0.5
    """

    _esm = FOLDER / "widget.js"
    _css = FOLDER / "widget.css"

    def __init__(
        self,
        figure: Any,
        controls: Iterable[Control],
        update: Callable[[dict[str, Any]], Description],
        *,
        drags: Sequence[Drag] = (),
        label: str,
    ) -> None:
        self._controls = _by_name(controls)
        _check_drags(drags, self._controls, figure)
        self._label, self._update, self._drags = label, update, tuple(drags)
        self._values = {name: c.check(c.value) for name, c in self._controls.items() if not isinstance(c, Button)}
        self._lock = threading.RLock()  # one at a time may touch the figure
        self._number = 0
        self._status: dict[str, Any] = {"text": "", "error": False}
        self._description = self._described(self._values)
        self._scene = Scene(figure)
        self._scene.frame(1.0)  # what cannot be recorded is refused here, not in the browser
        self._inbox = Inbox(self)
        super().__init__()
        self.on_msg(lambda _widget, content, _buffers: self._inbox.receive(content))

    @property
    def values(self) -> dict[str, Any]:
        """The current values of sliders and menus by name."""
        return dict(self._values)

    @property
    def description(self) -> Description:
        """The current state in words."""
        return self._description

    def set(self, **values: Any) -> None:
        """Move controls from Python, in every view.

        Raises:
            ValueError, TypeError: a name or a value is not allowed; nothing has changed then.
        """
        self._move(self._checked(values))

    def refresh(self) -> None:
        """Call `update` again and show the result: the data behind the figure changed."""
        self._move({})

    def redraw_still(self, change: Callable[[], None] = lambda: None) -> None:
        """Paint the still parts again as well: limits, titles or colours changed.

        `change` is where they change: nobody draws or moves a control meanwhile, so any thread may do it.
        """
        with self._lock:
            change()
            self._description = self._described(self._values)
            self._scene.forget()
            self._scene.settle()
            self._scene.frame(1.0)
            self._number += 1
            for ratio in self._inbox.ratios:
                self._send_picture(ratio, kind="still")

    def say(self, text: str) -> None:
        """Put a status text into the read-out of every view, until the next change; any thread may call it."""
        self._tell(kind="status", text=str(text), error=False)

    def frame(self, ratio: float = 1.0) -> bytes:
        """Give the display list of the moving artists as they are now, for `ratio` device pixels per CSS pixel."""
        with self._lock:
            return self._scene.frame(ratio)

    def png(self, dpi: float | None = None) -> bytes:
        """Paint the whole picture by Agg (default: at the figure's own dpi); the same state gives the same bytes."""
        with self._lock:
            return self._scene.png(dpi)

    def fallback_html(self) -> str:
        """Give the picture, its description and its values as HTML that needs neither kernel nor network."""
        return figure_html(self.png(), self._description, self._label)

    def __repr__(self) -> str:
        return f"{self._label}: {self._description.summary}"

    def _repr_mimebundle_(self, **_: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        view = {"version_major": 2, "version_minor": 0, "model_id": self.model_id}
        return {"text/plain": repr(self), "text/html": self.fallback_html(), VIEW: view}, {}

    # State

    def _checked(self, values: Mapping[str, Any]) -> dict[str, Any]:
        for name in values:
            if name not in self._values:
                raise ValueError(f"unknown control {name!r}: allowed are {', '.join(self._values) or 'none'}")
        return {name: self._controls[name].check(value) for name, value in values.items()}  # type: ignore[union-attr]

    def _described(self, values: Mapping[str, Any]) -> Description:
        description = self._update(dict(values))
        if not isinstance(description, Description):
            raise TypeError(f"update must return a Description, got {type(description).__name__}")
        return description

    def _move(self, changes: Mapping[str, Any], answer: list[Any] | None = None) -> None:
        """Take over checked values, update the artists and show them; on an error all stays as it was."""
        with self._lock:
            values = {**self._values, **changes}
            try:
                description = self._described(values)
                frames = {ratio: self._scene.frame(ratio) for ratio in self._inbox.ratios or [1.0]}
            except BaseException:
                self._restore()
                raise
            self._values, self._description = values, description
            self._number += 1
            self._status = {"text": "", "error": False}
            if self._inbox.views:
                for ratio, frame in frames.items():
                    self.send({"kind": "frame", "ratio": ratio, "answer": answer, **self._state()}, [frame])

    def _restore(self) -> None:
        """Give the artists their last good data back, as far as `update` can."""
        try:
            self._update(dict(self._values))
        except Exception:
            return

    # Messages to the browser

    def _wire_values(self) -> dict[str, Any]:
        """Values as the browser holds them: numbers, and places in a menu."""
        controls = self._controls
        return {
            name: menu.index(value) if isinstance(menu := controls[name], Menu) else value
            for name, value in self._values.items()
        }

    def _state(self) -> dict[str, Any]:
        words = self._description
        return {
            "number": self._number, "values": self._wire_values(),
            "alt": words.alt, "summary": words.summary, "table": words.table,
        }  # fmt: skip

    def _send_picture(self, ratio: float, **more: Any) -> None:
        areas = [self._scene.area(drag) for drag in self._drags]
        buffers = [self._scene.still(ratio), self._scene.frame(ratio)]
        self.send({"ratio": ratio, "areas": areas, "size": self._scene.size, **self._state(), **more}, buffers)

    def _introduce(self, view: str, ratio: float) -> None:
        """Tell a new view everything."""
        with self._lock:
            self._send_picture(
                ratio, kind="setup", view=view, label=self._label, controls=_described_controls(self._controls),
                busy=sorted(self._inbox.busy), status=self._status,
            )  # fmt: skip

    def _tell(self, **content: Any) -> None:
        if content["kind"] == "status":
            self._status = {"text": content["text"], "error": content["error"]}
        self.send(content)


def _by_name(controls: Iterable[Control]) -> dict[str, Control]:
    named: dict[str, Control] = {}
    for control in controls:
        if not isinstance(control, Control):
            raise TypeError(f"controls are Slider, Menu or Button objects, got {type(control).__name__}")
        if control.name in named:
            raise ValueError(f"two controls are called {control.name!r}: give each its own name")
        named[control.name] = control
    return named


def _check_drags(drags: Iterable[Drag], controls: Mapping[str, Control], figure: Any) -> None:
    for drag in drags:
        if drag.axes not in figure.axes:
            raise ValueError("the axes of a Drag must belong to the figure")
        for name, axis in ((drag.x, drag.axes.xaxis), (drag.y, drag.axes.yaxis)):
            if name is not None and not isinstance(controls.get(name), Slider):
                sliders = [key for key, control in controls.items() if isinstance(control, Slider)]
                raise ValueError(f"a Drag moves sliders: {name!r} is none of {', '.join(sliders) or '(no sliders)'}")
            if name is not None and axis.get_scale() not in ("linear", "log"):
                raise ValueError(f"a Drag needs a linear or log axis for {name!r}, got {axis.get_scale()!r}")


def _described_controls(controls: Mapping[str, Control]) -> list[dict[str, Any]]:
    described = []
    for name, control in controls.items():
        if isinstance(control, Slider):
            described.append(control.positions())
        elif isinstance(control, Menu):
            labels = [label for _, label in control.options]
            described.append({"kind": "menu", "name": name, "label": control.label, "options": labels})
        else:
            described.append({"kind": "button", "name": name, "label": control.label})
    return described
