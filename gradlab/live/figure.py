"""LiveFigure: a matplotlib figure whose moving artists a browser paints while controls change them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ._bundle import widget_source
from .cells import attention, drawing, shell
from .controls import Button, Control, Menu, Preset, Toggle, by_name, checked
from .drags import Drag, check_drags
from .fallback import figure_html
from .inbox import Inbox
from .messages import picture, setup, state_of
from .reel import Preloader
from .scene import Scene
from .sliders import Slider
from .traits import MirroredWidget
from .words import Description

VIEW = "application/vnd.jupyter.widget-view+json"


class LiveFigure(MirroredWidget):
    """A figure with controls: the still parts are sent once, the moving ones whenever a control changes.

    Every control but a button is also a trait of the same name: `live.limit = 2`, `observe`, `link` and `jslink` work.

    Args:
        figure: a matplotlib `Figure` (not a pyplot one). Artists made with `animated=True` move.
        controls: `Slider`, `Range`, `Menu`, `Toggle` and `Button` objects, in the order in which they are shown.
        update: called with the values of all controls; sets data on artists, draws nothing, and returns a
            `Description` of the new state.
        drags: lines and points of the picture that move sliders.
        label: what the figure is called.
        name: what links call it; without one there are no links.
        presets: named settings.
        axis: the slider, menu or toggle whose pictures are recorded in the background and sent ahead, so that the
            browser shows them without asking.
        dark: colours to use on a dark page, by the figure's own; all others have their lightness turned round.
        arrange: lays the figure out for a narrow page (True) or a wide one (False).

    Raises:
        ValueError, TypeError: the parts do not fit together. Whatever `update` raises.

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

    _esm = widget_source()
    _css = (Path(__file__).parent / "widget.css").read_text("utf-8")  # of a path anywidget would hold all who have it

    def __init__(
        self,
        figure: Any,
        controls: Iterable[Control],
        update: Callable[[dict[str, Any]], Description],
        *,
        drags: Sequence[Drag] = (),
        label: str,
        name: str = "",
        presets: Sequence[Preset] = (),
        axis: str | None = None,
        dark: Mapping[str, str] | None = None,
        arrange: Callable[[bool], None] | None = None,
    ) -> None:
        self._controls = by_name(controls)
        check_drags(drags, self._controls, figure)
        if axis is not None and not isinstance(self._controls.get(axis), Slider | Menu | Toggle):
            raise ValueError(f"axis must name a slider, a menu or a toggle, got {axis!r}")
        self._presets = [Preset(p.label, checked(self._controls, p.values, p.label)) for p in presets]
        self._label, self._name, self._axis = label, name, axis
        self._update, self._drags, self._arrange = update, tuple(drags), arrange
        self._values = {n: c.check(c.value) for n, c in self._controls.items() if not isinstance(c, Button)}
        self._start = dict(self._values)
        self._number = self._edition = 0
        self._narrow = False
        self._status: dict[str, Any] = {"text": "", "error": False}
        attention.watch(shell())
        with drawing:
            self._description = self._described(self._values)
            self._scene = Scene(figure, dark or {})
            self._scene.frame(1.0, self._description.items)  # what cannot be recorded is refused here already
        self._inbox = Inbox(self)
        self._preloader = Preloader(self)
        super().__init__(self._controls)
        self.on_msg(lambda _widget, content, _buffers: self._inbox.receive(content))

    @property
    def values(self) -> dict[str, Any]:
        """The current values of all controls by name."""
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
        self._move(checked(self._controls, values, self._label))

    def refresh(self) -> None:
        """Call `update` again and show the result: the data behind the figure changed."""
        with drawing:
            self._edition += 1
            self._move({})

    def redraw_still(self, change: Callable[[], None] = lambda: None) -> None:
        """Paint the still parts again as well: limits, titles or colours changed.

        `change` is where they change: nobody draws or moves a control meanwhile, so any thread may do it.
        """
        with drawing:
            self._scene.rearranged(change)
            self._description = self._described(self._values)
            self._number += 1
            self._edition += 1
            for ratio, dark in self._inbox.looks:
                self.send(*picture(self, "still", ratio, dark))
        self._preloader.wake()

    def say(self, text: str) -> None:
        """Put a status text into the read-out of every view, until the next change; any thread may call it."""
        self._tell(kind="status", text=str(text), error=False)

    def frame(self, ratio: float = 1.0) -> bytes:
        """Give the display list of the moving artists as they are now, for `ratio` device pixels per CSS pixel."""
        with drawing:
            return self._scene.frame(ratio, self._settled().items)

    def png(self, dpi: float | None = None, dark: bool = False) -> bytes:
        """Paint the whole picture by Agg (default: at the figure's own dpi); the same state gives the same bytes."""
        with drawing:
            self._settled()
            return self._scene.png(dpi, dark)

    def fallback_html(self) -> str:
        """Give the picture, its description and its values as HTML that needs neither kernel nor network."""
        return figure_html(self.png(), self._description, self._label)

    def __repr__(self) -> str:
        return f"{self._label}: {self._description.summary}"

    def _repr_mimebundle_(self, **_: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        view = {"version_major": 2, "version_minor": 0, "model_id": self.model_id}
        return {"text/plain": repr(self), "text/html": self.fallback_html(), VIEW: view}, {}

    # State

    def _described(self, values: Mapping[str, Any]) -> Description:
        """Set the artists and describe them."""
        self._drawn: Mapping[str, Any] | None = None
        description = self._update(dict(values))
        if not isinstance(description, Description):
            raise TypeError(f"update must return a Description, got {type(description).__name__}")
        self._drawn = values
        return description

    def _settled(self) -> Description:
        """Set the artists to the current state, if they have been used for another one meanwhile."""
        if self._drawn is not self._values:
            self._description = self._described(self._values)
        return self._description

    def _move(self, changes: Mapping[str, Any], answer: list[Any] | None = None, have: bool = False) -> None:
        """Take over checked values, update the artists and show them; on an error all stays as it was.

        `answer` is the request that asked for it; `have` says that the one who asked shows the picture already.
        """
        if not have:
            attention.asked()  # before the lock, or another picture may be begun first
        with drawing:
            values = {**self._values, **changes}
            shown = have and len(self._inbox.views) == 1
            try:
                description = self._described(values)
                ratios = [] if shown else self._inbox.ratios or [1.0]
                frames = {ratio: self._scene.frame(ratio, description.items) for ratio in ratios}
            except BaseException:
                self._restore()
                raise
            self._values, self._description = values, description
            self._number += 1
            self._status = {"text": "", "error": False}
            if shown:
                self._tell(kind="answer", answer=answer, values=values)
            elif self._inbox.views:
                for ratio, frame in frames.items():
                    self.send({"kind": "frame", "ratio": ratio, "answer": answer, **state_of(self)}, [frame])
        self._mirror(changes)
        self._preloader.wake(at_once=have)

    def _restore(self) -> None:
        """Give the artists their last good data back, as far as `update` can."""
        try:
            self._described(self._values)
        except Exception:
            return

    # Messages to the browser

    def _introduce(self, view: str, ratio: float, dark: bool) -> None:
        """Tell a new view everything."""
        attention.asked()
        with drawing:
            self._fit(self._inbox.narrow)
            self.send(*setup(self, ratio, dark, view=view))
        self._preloader.begin_again()

    def _fit(self, narrow: bool) -> None:
        """Lay the figure out for a narrow page or a wide one."""
        arrange = self._arrange
        if arrange is not None and narrow != self._narrow:
            self._narrow = narrow
            self.redraw_still(lambda: arrange(narrow))

    def _zoom(self, panel: int | None, x: Sequence[float], y: Sequence[float]) -> None:
        """Show a part of a panel (fractions from its left and bottom), or all of it again."""
        self.redraw_still(self._scene.unzoom if panel is None else lambda: self._scene.zoom(panel, x, y))

    def _tell(self, **content: Any) -> None:
        if content["kind"] == "status":
            self._status = {"text": content["text"], "error": content["error"]}
        self.send(content)
