"""What a browser may say to a LiveFigure. Nothing it says can raise: the worst answer is the state as it is."""

from __future__ import annotations

import contextvars
import logging
import threading
import time
from typing import TYPE_CHECKING, Any, NamedTuple, TypeGuard

from .controls import Button
from .scene import usable_ratio

if TYPE_CHECKING:
    from .figure import LiveFigure

MOST_VIEWS = 8
AGAIN_SECONDS = 4.0  # less than a view waits before it asks again

_log = logging.getLogger(__name__)


class Screen(NamedTuple):
    """What a view is shown on: device pixels per CSS pixel, and whether the page is dark, and narrow."""

    ratio: float
    dark: bool
    narrow: bool


class Inbox:
    """Reads messages, keeps the open views, runs buttons.

    Messages are {kind: "open", view, ratio, dark, narrow, again}, {kind: "close", view}, {kind: "set", view, id,
    values, have}, {kind: "press", name} and {kind: "zoom", panel, x, y}; {kind: "nudge"} and anything else is passed
    over. A "set" is always answered, so that its view may send the next one.
    """

    def __init__(self, live: LiveFigure) -> None:
        self._live = live
        self.views: dict[str, Screen] = {}
        self.busy: set[str] = set()
        self._told: dict[str, float] = {}  # when each view was told everything

    @property
    def looks(self) -> list[tuple[float, bool]]:
        """The (ratio, dark) for which still pictures are wanted now."""
        return sorted({(screen.ratio, screen.dark) for screen in [*self.views.values()]})

    @property
    def ratios(self) -> list[float]:
        """The pixel ratios for which moving pictures are wanted now."""
        return sorted({screen.ratio for screen in [*self.views.values()]})

    @property
    def narrow(self) -> bool:
        """Whether the view that spoke last is on a narrow page: all views share one arrangement."""
        return bool(self.views) and [*self.views.values()][-1].narrow

    def receive(self, message: Any) -> None:
        """Act on one message."""
        handlers = {
            "open": self._open, "close": self._close, "set": self._set, "press": self._press, "zoom": self._zoom,
        }  # fmt: skip
        kind = message.get("kind") if isinstance(message, dict) else None
        handler = handlers.get(kind) if isinstance(kind, str) else None
        if handler is None:
            return
        try:
            handler(message)
        except Exception as error:
            self.report(error, message.get("view") if kind == "open" else None)

    def report(self, error: BaseException, view: Any = None) -> None:
        """Log an error and show it in the read-out of every view; or of one only, which will open again."""
        _log.error("%s", error, exc_info=error)
        said = {"kind": "status", "text": f"{type(error).__name__}: {error}", "error": True}
        if view is None:
            self._live._tell(**said)
        else:
            self._live.send({**said, "view": view})

    def _open(self, message: dict[str, Any]) -> None:
        view = str(message.get("view"))
        screen = Screen(usable_ratio(message.get("ratio")), message.get("dark") is True, message.get("narrow") is True)
        if message.get("again") is True and self.views.get(view) == screen:
            if time.monotonic() < self._told.get(view, -AGAIN_SECONDS) + AGAIN_SECONDS:
                return  # its first message has only waited
        else:
            self.views.pop(view, None)
            while len(self.views) >= MOST_VIEWS:  # a page that vanished never said goodbye
                self.views.pop(next(iter(self.views)))
            self.views[view] = screen
        self._live._introduce(view, screen.ratio, screen.dark)
        self._told = {other: at for other, at in self._told.items() if other in self.views} | {view: time.monotonic()}

    def _close(self, message: dict[str, Any]) -> None:
        self.views.pop(str(message.get("view")), None)
        if self.views:
            self._live._fit(self.narrow)

    def _set(self, message: dict[str, Any]) -> None:
        answer = [message.get("view"), message.get("id")]
        try:
            self._live._move(self._read(message.get("values")), answer, have=message.get("have") is True)
        except BaseException:
            self._live._tell(kind="answer", answer=answer, values=self._live.values)
            raise

    def _read(self, values: Any) -> dict[str, Any]:
        """Give the usable values: numbers beyond an end become that end, all else is left out."""
        controls, usable = self._live._controls, {}
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
            self._live._zoom(None, (), ())
        elif isinstance(panel, int) and _fractions(x) and _fractions(y):
            self._live._zoom(panel, x, y)

    def _press(self, message: dict[str, Any]) -> None:
        button = self._live._controls.get(str(message.get("name")))
        if not isinstance(button, Button) or button.name in self.busy:
            return
        self.busy.add(button.name)
        self._live._tell(kind="busy", name=button.name, busy=True)
        # A copy of the context keeps printed text beside the cell that the press belongs to.
        context = contextvars.copy_context()
        threading.Thread(target=context.run, args=(self._work, button), daemon=True).start()

    def _work(self, button: Button) -> None:
        try:
            button.press()
        except Exception as error:
            self.report(error)
        finally:
            self.busy.discard(button.name)
            self._live._tell(kind="busy", name=button.name, busy=False)


def _fractions(pair: Any) -> TypeGuard[list[float]]:
    """Whether this is two finite numbers in rising order."""
    number: bool = isinstance(pair, list) and len(pair) == 2 and all(isinstance(v, int | float) for v in pair)
    return number and -1e3 < pair[0] < pair[1] < 1e3
