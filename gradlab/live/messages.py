"""Requests to a figure, from Python or from a browser, and their effects.

Nothing that a browser says can raise: the worst answer is the state as it is.
"""

from __future__ import annotations

import contextvars
import logging
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeGuard

from .controls import Button, Preset
from .frame_cache import Preloader
from .scene import usable_ratio
from .scheduling import attention, drawing, in_background, let_speak
from .sliders import Slider
from .state import FigureState, Screen

MOST_VIEWS = 8
AGAIN_SECONDS = 4.0  # less than a view waits before it asks again

_log = logging.getLogger(__name__)


class Stage:
    """Changes what a figure shows and tells every view.

    `moved` hears the names of the controls that have changed, and whether a page changed them.
    """

    def __init__(self, state: FigureState, moved: Callable[[Iterable[str], bool], None]) -> None:
        self.state, self._moved = state, moved
        self.preloader = Preloader(state)

    def move(
        self, changes: Mapping[str, Any], answer: list[Any] | None = None, have: bool = False
    ) -> None:
        """Take over checked values, update the artists and show them; on an error all stays as it was.

        `answer` is the request that asked for it; `have` says that the one who asked shows the
        picture already.
        """
        state = self.state
        if not have:
            attention.asked()  # before the lock, or another picture may be begun first
        with drawing:
            values = {**state.values, **changes}
            shown = have and len(state.views) == 1
            try:
                description = state.describe(values)
                ratios = [] if shown else state.views.ratios or [1.0]
                frames = {ratio: state.scene.frame(ratio, description.items) for ratio in ratios}
            except BaseException:
                state.restore()
                raise
            state.values, state.description = values, description
            state.number += 1
            state.status = {"text": "", "error": False}
            if shown:
                state.tell(kind="answer", answer=answer, values=values)
            elif state.views:
                for ratio, frame in frames.items():
                    state.send(
                        {"kind": "frame", "ratio": ratio, "answer": answer, **state.now()}, [frame]
                    )
        if answer is not None:
            let_speak()
        self._moved(changes, answer is not None)
        self.preloader.wake(at_once=have)

    def refresh(self) -> None:
        """Describe the same values again: the data behind the figure changed."""
        with drawing:
            self.state.edition += 1
            self.move({})

    def redraw_still(self, change: Callable[[], None]) -> None:
        """Paint the still parts again as well, after `change`."""
        state = self.state

        def changed() -> None:
            change()
            # The layout is that of this state, not of one drawn ahead.
            state.description = state.describe(state.values)

        with drawing:
            state.scene.rearranged(changed)
            state.number += 1
            state.edition += 1
            for ratio, dark in state.views.looks:
                state.send(*state.picture("still", ratio, dark))
        self.preloader.wake()

    def renew(
        self,
        controls: Sequence[Slider],
        presets: Sequence[Preset],
        change: Callable[[], None] | None,
    ) -> None:
        """Show other data, with other ends of sliders and other presets; `change` is what the still parts need."""
        state = self.state
        with drawing:
            state.controls |= {control.name: control for control in controls}
            state.presets = [*presets]
            state.tell(
                kind="controls",
                controls=[control.spec() for control in controls],
                presets=state.told_presets(),
            )
            if change is None:
                self.refresh()
            else:
                self.redraw_still(change)

    def introduce(self, view: str, ratio: float, dark: bool) -> None:
        """Tell a new view everything."""
        attention.asked()
        with drawing:
            self.fit(self.state.views.narrow)
            self.state.send(*self.state.setup(ratio, dark, view=view))
        self.preloader.begin_again()

    def fit(self, narrow: bool) -> None:
        """Lay the figure out for a narrow page or a wide one."""
        arrange = self.state.arrange
        if arrange is not None and narrow != self.state.narrow:
            self.state.narrow = narrow
            self.redraw_still(lambda: arrange(narrow))

    def zoom(self, panel: int | None, x: Sequence[float] = (), y: Sequence[float] = ()) -> None:
        """Show a part of a panel (fractions from its left and bottom), or all of it again."""
        scene = self.state.scene
        self.redraw_still(scene.unzoom if panel is None else lambda: scene.zoom(panel, x, y))


class Inbox:
    """Reads messages, keeps the open views, runs buttons.

    Messages are {kind: "open", view, ratio, dark, narrow, again}, {kind: "close", view}, {kind:
    "set", view, id, values, have}, {kind: "press", name} and {kind: "zoom", panel, x, y}; {kind:
    "nudge"} and anything else is passed over. A "set" is always answered, so that its view may send
    the next one.
    """

    def __init__(self, stage: Stage) -> None:
        self._state, self._stage = stage.state, stage
        self._told: dict[str, float] = {}  # when each view was told everything

    def receive(self, message: Any) -> None:
        """Act on one message."""
        handlers = {
            "open": self._open,
            "close": self._close,
            "set": self._set,
            "press": self._press,
            "zoom": self._zoom,
        }
        kind = message.get("kind") if isinstance(message, dict) else None
        handler = handlers.get(kind) if isinstance(kind, str) else None
        if handler is None:
            return
        try:
            handler(message)
        except Exception as error:
            self.report(error, message.get("view") if kind == "open" else None)

    def report(self, error: BaseException, view: Any = None) -> None:
        """Log an error and show it in place of the sentence in every view; or of one only, which will open again."""
        _log.error("%s", error, exc_info=error)
        said = {"kind": "status", "text": f"{type(error).__name__}: {error}", "error": True}
        if view is None:
            self._state.tell(**said)
        else:
            self._state.send({**said, "view": view})

    def _open(self, message: dict[str, Any]) -> None:
        view, views = str(message.get("view")), self._state.views
        screen = Screen(
            usable_ratio(message.get("ratio")),
            message.get("dark") is True,
            message.get("narrow") is True,
        )
        if message.get("again") is True and views.get(view) == screen:
            if time.monotonic() < self._told.get(view, -AGAIN_SECONDS) + AGAIN_SECONDS:
                return  # its first message has only waited
        else:
            views.pop(view, None)
            while len(views) >= MOST_VIEWS:  # a page that vanished never said goodbye
                views.pop(next(iter(views)))
            views[view] = screen
        self._stage.introduce(view, screen.ratio, screen.dark)
        self._told = {other: at for other, at in self._told.items() if other in views} | {
            view: time.monotonic()
        }

    def _close(self, message: dict[str, Any]) -> None:
        views = self._state.views
        views.pop(str(message.get("view")), None)
        if views:
            self._stage.fit(views.narrow)

    def _set(self, message: dict[str, Any]) -> None:
        answer = [message.get("view"), message.get("id")]
        try:
            self._stage.move(
                self._read(message.get("values")), answer, have=message.get("have") is True
            )
        except BaseException:
            self._state.tell(kind="answer", answer=answer, values=dict(self._state.values))
            raise

    def _read(self, values: Any) -> dict[str, Any]:
        """Give the usable values: numbers beyond an end become that end, all else is left out."""
        controls, usable = self._state.controls, {}
        for name, value in values.items() if isinstance(values, dict) else ():
            control = controls.get(name)
            if control is None or isinstance(control, Button):
                continue
            try:
                usable[name] = control.clamp(value)
            except (TypeError, ValueError):
                continue
        return usable

    def _zoom(self, message: dict[str, Any]) -> None:
        panel, x, y = (message.get(name) for name in ("panel", "x", "y"))
        if panel is None:
            self._stage.zoom(None)
        elif isinstance(panel, int) and _fractions(x) and _fractions(y):
            self._stage.zoom(panel, x, y)

    def _press(self, message: dict[str, Any]) -> None:
        button, busy = self._state.controls.get(str(message.get("name"))), self._state.busy
        if not isinstance(button, Button) or button.name in busy:
            return
        busy.add(button.name)
        self._state.tell(kind="busy", name=button.name, busy=True)
        # In a copy of the context, which keeps printed text beside the cell that the press belongs
        # to.
        if in_background(self._work(button), contextvars.copy_context()) is None:
            list(self._work(button))

    def _work(self, button: Button) -> Iterator[float]:
        """All of it in one turn."""
        try:
            button.press()
        except Exception as error:
            self.report(error)
        finally:
            self._state.busy.discard(button.name)
            self._state.tell(kind="busy", name=button.name, busy=False)
        yield from ()


def _fractions(pair: Any) -> TypeGuard[list[float]]:
    """Tell whether these are two finite numbers in rising order."""
    number: bool = (
        isinstance(pair, list) and len(pair) == 2 and all(isinstance(v, int | float) for v in pair)
    )
    return number and -1e3 < pair[0] < pair[1] < 1e3
