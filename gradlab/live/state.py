"""The state of a LiveFigure: its values, its views, and its messages to a browser, shared by its parts."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from .._base.addresses import PROMPT, binder_here
from .caption import Around, Caption
from .controls import (
    Button,
    Control,
    Drag,
    Menu,
    Preset,
    Toggle,
    by_name,
    check_drags,
    checked,
    key_of,
)
from .description import Description
from .scene import Scene
from .scheduling import drawing
from .sliders import Slider

Message = tuple[dict[str, Any], list[bytes]]


class Screen(NamedTuple):
    """The screen of a view: device pixels per CSS pixel, and whether the page is dark, and narrow."""

    ratio: float
    dark: bool
    narrow: bool


class Views(dict[str, Screen]):
    """The open views by name, in the order in which they spoke last."""

    @property
    def looks(self) -> list[tuple[float, bool]]:
        """The (ratio, dark) for which still pictures are wanted now."""
        return sorted({(screen.ratio, screen.dark) for screen in [*self.values()]})

    @property
    def ratios(self) -> list[float]:
        """The pixel ratios for which moving pictures are wanted now."""
        return sorted({screen.ratio for screen in [*self.values()]})

    @property
    def narrow(self) -> bool:
        """Tell whether the last active view is on a narrow page: all views share one arrangement."""
        return bool(self) and [*self.values()][-1].narrow


class FigureState:
    """The parts of a figure and what they show; for the arguments see `LiveFigure`.

    `send` takes a message and its buffers to every view. A thread that changes `values` or draws
    holds `drawing`.
    """

    def __init__(
        self,
        figure: Any,
        controls: Iterable[Control],
        update: Callable[[dict[str, Any]], Description],
        *,
        drags: Sequence[Drag],
        label: str,
        name: str,
        presets: Sequence[Preset],
        axis: str | None,
        dark: Mapping[str, str] | None,
        arrange: Callable[[bool], None] | None,
        send: Callable[..., None],
    ) -> None:
        self.controls = by_name(controls)
        check_drags(drags, self.controls, figure)
        if axis is not None and not isinstance(self.controls.get(axis), Slider | Menu | Toggle):
            raise ValueError(f"axis must name a slider, a menu or a toggle, got {axis!r}")
        self.presets = [Preset(p.label, checked(self.controls, p.values, p.label)) for p in presets]
        self.label = label
        self.name = name
        self.axis = axis
        self.drags = tuple(drags)
        self.arrange = arrange
        self.send = send
        self.values = {
            n: c.check(c.value) for n, c in self.controls.items() if not isinstance(c, Button)
        }
        self.start = dict(self.values)
        self.number = self.edition = 0
        self.narrow = False
        self.status: dict[str, Any] = {"text": "", "error": False}
        self.presented = False  # in the view that opens next
        self.changing = False  # the data by themselves, so that nothing is made ahead
        self.views = Views()
        self.busy: set[str] = set()  # buttons at work
        self._update = update
        with drawing:
            self.description = self.describe(self.values)
            self.scene = Scene(figure, dark or {})
            # What cannot be recorded is refused here already.
            self.scene.frame(1.0, self.description.items)

    def describe(self, values: Mapping[str, Any]) -> Description:
        """Set the artists to some values and describe them."""
        self._drawn: Mapping[str, Any] | None = None
        description = self._update(dict(values))
        if not isinstance(description, Description):
            raise TypeError(f"update must return a Description, got {type(description).__name__}")
        self._drawn = values
        return description

    def settled(self) -> Description:
        """Set the artists to the current state, if they have been used for another one meanwhile."""
        if self._drawn is not self.values:
            self.description = self.describe(self.values)
        return self.description

    def restore(self) -> None:
        """Give the artists their last good data back, as far as `update` can."""
        try:
            self.describe(self.values)
        except Exception:
            return

    def around(
        self, states: Sequence[tuple[Mapping[str, Any], Description]], source: str
    ) -> Around:
        """Lay out the captions of some states, each given by its values and its words, in the figure's width."""
        captions = [Caption.of(self.controls, values, words, source) for values, words in states]
        return Around.of(captions, self.scene.figure.get_figwidth())

    def framed(self, pixels: np.ndarray, dark: bool, around: Around, place: int = 0) -> np.ndarray:
        """Put a picture of the figure, at any resolution, between its strips; `place` is that of one in a film."""
        dpi = pixels.shape[1] / self.scene.figure.get_figwidth()
        return around.stacked(pixels, dpi, self.scene.palette if dark else None, place)

    # Messages to the browser

    def tell(self, **content: Any) -> None:
        """Say something without pictures to every view."""
        if content["kind"] == "status":
            self.status = {"text": content["text"], "error": content["error"]}
        self.send(content)

    def now(self) -> dict[str, Any]:
        """The state in numbers and in words; a view that knows a later `edition` or `number` may ignore it."""
        return {
            "number": self.number,
            "edition": self.edition,
            "key": key_of(self.controls, self.values),
            "values": self.values,
            "colors": list(self.scene.colors.items()),
            **self.description.words(),
        }

    def picture(self, kind: str, ratio: float, dark: bool, **more: Any) -> Message:
        """The still parts and the moving ones."""
        items = self.settled().items
        buffers = [self.scene.still(ratio, dark), self.scene.frame(ratio, items)]
        return {**self._seen(kind, ratio, dark), **more}, buffers

    def _seen(self, kind: str, ratio: float, dark: bool) -> dict[str, Any]:
        """Say what a picture shows, and where; the colors are those of the frames so far."""
        items, scene = self.settled().items, self.scene
        named = None
        if items is not None:  # not `if items`: there may be none of them
            named = {"name": items.name, "columns": list(items.values), "names": list(items.names)}
        return {
            "kind": kind, "ratio": ratio, "dark": dark, "narrow": self.narrow, "size": scene.size,
            "areas": [scene.area(drag) for drag in self.drags], "panels": scene.panels(),
            "items": named,
            "zoomed": scene.zoomed, **self.now(),
        }  # fmt: skip

    def told_presets(self) -> list[dict[str, Any]]:
        """The presets as a browser is told them."""
        return [{"label": preset.label, "values": preset.values} for preset in self.presets]

    def present(self) -> bool:
        """Let the view that was used last take the window; or the next one, and say that there is none."""
        view = next(reversed([*self.views]), None)
        self.presented = view is None
        if view is not None:
            self.tell(kind="present", view=view)
        return not self.presented

    def setup(self, ratio: float, dark: bool, **more: Any) -> Message:
        """State that a new view needs."""
        return self.picture("setup", ratio, dark, **self._parts(), **more)

    def setup_content(self, ratio: float, dark: bool) -> dict[str, Any]:
        """Give the message of `setup` without its pictures, which are most of the work."""
        return {**self._seen("setup", ratio, dark), **self._parts()}

    def _parts(self) -> dict[str, Any]:
        """Say what is around the picture."""
        present, self.presented = self.presented, False
        return {
            "label": self.label,
            "present": present,
            "name": self.name,
            "axis": self.axis,
            "start": self.start,
            "controls": [control.spec() for control in self.controls.values()],
            "presets": self.told_presets(),
            "busy": sorted(self.busy),
            "status": self.status,
            "launch": binder_here(),
            "prompt": PROMPT in os.environ,
        }
