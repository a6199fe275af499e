"""LiveFigure: a matplotlib figure whose moving artists a browser paints while controls change them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import anywidget
import traitlets

from .._base.forks import renew_in_child
from ._bundle import widget_source, widget_style
from .controls import Button, Control, Drag, Preset, checked
from .description import Description, figure_html
from .messages import Inbox, Stage
from .notebook_cells import cells, layout_is_shared
from .scene import encoded
from .scheduling import attention, drawing, hear_at_any_time, in_background, shell
from .sliders import Slider
from .state import FigureState

DEFERRED_SECONDS = 0.1  # more than between two pictures of a drag
VIEW = "application/vnd.jupyter.widget-view+json"


class ControlTrait(traitlets.TraitType[Any, Any]):
    """The value of one control; refuses what the control refuses."""

    def __init__(self, control: Any) -> None:
        super().__init__(default_value=control.value)
        self._control = control

    def validate(self, _: Any, value: Any) -> Any:
        return self._control.check(value)


class LiveFigure(anywidget.AnyWidget):
    """A figure with controls: the still parts are sent once, the moving ones whenever a control changes.

    Every control but a button is also a trait of the same name: `live.limit = 2`, `observe`, `link`
    and `jslink` work.

    Args:
        figure: a matplotlib `Figure` (not a pyplot one). Artists made with `animated=True` move.
        controls: `Slider`, `Range`, `Menu`, `Toggle` and `Button` objects, in the order in which
            they are shown.
        update: called with the values of all controls; sets data on artists, draws nothing, and
            returns a `Description` of the new state.
        drags: lines and points of the picture that move sliders.
        label: what the figure is called.
        name: what links call it; without one there are no links.
        presets: named settings.
        axis: the slider, menu or toggle whose pictures are recorded in the background and sent
            ahead, so that the browser shows them without asking.
        dark: colors to use on a dark page, by the figure's own; all others have their lightness
            turned round.
        arrange: lays the figure out for a narrow page (True) or a wide one (False).

    Raises:
        ValueError, TypeError: the parts do not fit together. Whatever `update` raises.

    >>> from matplotlib.figure import Figure
    >>> from gradlab.live import Description, LiveFigure, Slider
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
    _css = widget_style()  # of a path anywidget would hold all who have it

    selected = traitlets.Int(
        None, allow_none=True, min=0, help="The item that the reader has selected, or None."
    ).tag(sync=True)
    _name = traitlets.Unicode(
        help="What links call it: a page knows it before it asks for a picture."
    ).tag(sync=True)

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
        attention.watch(shell())
        self._defers, self._deferred = False, set[str]()  # traits that pages have not been told
        self._guard: threading.Lock
        renew_in_child(self, "_guard", threading.Lock)
        self._state = FigureState(
            figure,
            controls,
            update,
            drags=drags,
            label=label,
            name=name,
            presets=presets,
            axis=axis,
            dark=dark,
            arrange=arrange,
            send=lambda *message: self.send(*message),
        )
        self._stage = Stage(self._state, self._mirror)
        self._inbox = Inbox(self._stage)
        valued = {key: c for key, c in self._state.controls.items() if not isinstance(c, Button)}
        traits = {key: ControlTrait(control).tag(sync=True) for key, control in valued.items()}
        for key in traits:
            if hasattr(type(self), key):
                raise ValueError(
                    f"a control cannot be called {key!r}, for a widget has something of that name"
                )
        self.add_traits(**traits)
        super().__init__(_name=name)
        if traits:  # asked for none, `observe` takes all there are
            self.observe(self._trait_moved, names=list(traits))
        hear_at_any_time(self.comm)
        self.on_msg(lambda _widget, content, _buffers: self._inbox.receive(content))

    @property
    def values(self) -> dict[str, Any]:
        """The current values of all controls by name."""
        return dict(self._state.values)

    @property
    def description(self) -> Description:
        """The current state in words."""
        return self._state.description

    def set(self, **values: Any) -> None:
        """Move controls from Python, in every view.

        Raises:
            ValueError, TypeError: a name or a value is not allowed; nothing has changed then.
        """
        self._stage.move(checked(self._state.controls, values, self._state.label))

    def refresh(self) -> None:
        """Call `update` again and show the result: the data behind the figure changed."""
        self._stage.refresh()

    def redraw_still(self, change: Callable[[], None] = lambda: None) -> None:
        """Paint the still parts again as well: limits, titles or colors changed.

        `change` is where they change: nobody draws or moves a control meanwhile, so any thread may
        do it.
        """
        self._stage.redraw_still(change)

    def renew(
        self,
        controls: Sequence[Slider],
        presets: Sequence[Preset],
        change: Callable[[], None] | None = None,
    ) -> None:
        """Show data that have changed, in every view; any thread may do it, before anybody else draws.

        Args:
            controls: sliders with wider ends, in place of those of the same name.
            presets: with other values, likewise.
            change: what the still parts need, if the moving ones are not enough; it takes many
                times as long.
        """
        for control in controls:
            self.traits()[control.name]._control = control
        self._stage.renew(controls, presets, change)

    @property
    def changing(self) -> bool:
        """True if the data change by themselves for now, so that nothing is precomputed."""
        return self._state.changing

    @changing.setter
    def changing(self, value: bool) -> None:
        self._state.changing = value
        self._stage.preloader.wake()

    def present(self) -> None:
        """Show the figure alone, as large as the window, where it was used last, or under the cell that runs now.

        "Present" in the page does the same, and takes the whole screen, which only a reader can
        allow.
        """
        if not self._state.present():
            from IPython.display import display

            display(self)

    def say(self, text: str) -> None:
        """Put a status text in place of the sentence in every view, until the next change; any thread may call it."""
        self._state.tell(kind="status", text=str(text), error=False)

    def frame(self, ratio: float = 1.0) -> bytes:
        """Give the display list of the moving artists as they are now, for `ratio` device pixels per CSS pixel."""
        with drawing:
            return self._state.scene.frame(ratio, self._state.settled().items)

    def png(self, dpi: float | None = None, dark: bool = False, source: str = "") -> bytes:
        """Paint the whole picture by Agg (default: at the figure's own dpi); the same state gives the same bytes.

        With a `source`, which says where it is from, a caption stands around it.
        """
        with drawing:
            words = self._state.settled()
            pixels = self._state.scene.whole(dpi, dark)
            if source:
                pixels = self._state.framed(
                    pixels, dark, self._state.around([(self.values, words)], source)
                )
            return encoded(pixels)

    def fallback_html(self) -> str:
        """Give the picture, its description and its values as HTML that needs neither kernel nor network."""
        with drawing:
            self._state.settled()
            picture = self._state.scene.whole()
        return figure_html(picture, self.description, self._state.label)

    def open(self) -> None:
        """Let pages show it; a figure that is made is open, and one that is shown again opens by itself."""
        self.layout.open()
        super().open()
        hear_at_any_time(self.comm)

    def close(self) -> None:
        """Take it out of every page and out of ipywidgets' list of all widgets, so that it can be freed."""
        if self.comm is None:
            return
        super().close()
        # ipywidgets leaves an attribute that shows what is closed as plain text for ever.
        self.__dict__.pop("_repr_mimebundle_", None)
        self._state.views.clear()  # so that nothing is made ahead
        if not layout_is_shared(self):
            self.layout.close()

    def __repr__(self) -> str:
        return f"{self._state.label}: {self.description.summary}"

    def _repr_mimebundle_(self, **_: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        self.open()
        cells.note(self)
        view = {"version_major": 2, "version_minor": 0, "model_id": self.model_id}
        return {"text/plain": repr(self), "text/html": self.fallback_html(), VIEW: view}, {}

    # Traits

    def _mirror(self, names: Iterable[str], by_page: bool) -> None:
        """Let the traits follow the controls; who observes one sees all of them at their new
        values.
        """
        values, self._defers = self.values, by_page
        try:
            with self.hold_sync(), self.hold_trait_notifications():
                for name in names:
                    self.set_trait(name, values[name])
        finally:
            self._defers = False

    def send_state(self, key: Any = None) -> None:
        """Send traits to pages; those that a page has moved a little later, for its pictures go first."""
        if not (self._defers and key):
            super().send_state(key)
            return
        with self._guard:
            first = not self._deferred
            self._deferred |= {key} if isinstance(key, str) else set(key)
        if first and in_background(self._send_deferred()) is None:
            list(self._send_deferred())

    def _send_deferred(self) -> Iterator[float]:
        yield DEFERRED_SECONDS
        with self._guard:
            names, self._deferred = self._deferred, set()
        super().send_state(names)

    def _trait_moved(self, change: Any) -> None:
        held = self.values[change.name]
        if change.new == held:
            return
        try:
            self._stage.move({change.name: change.new})
        except BaseException:
            self.set_trait(change.name, held)
            raise
