"""What a LiveFigure says to a browser about itself: its state, its picture, everything."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._base.addresses import binder_here
from .controls import key_of

if TYPE_CHECKING:
    from .figure import LiveFigure

Message = tuple[dict[str, Any], list[bytes]]


def state_of(live: LiveFigure) -> dict[str, Any]:
    """The state in numbers and in words; whoever knows a later `edition` or `number` may forget it."""
    return {
        "number": live._number, "edition": live._edition, "key": key_of(live._controls, live._values),
        "values": live._values, "colours": list(live._scene.colours.items()), **live._description.words(),
    }  # fmt: skip


def picture(live: LiveFigure, kind: str, ratio: float, dark: bool, **more: Any) -> Message:
    """The still parts and the moving ones."""
    items, scene = live._settled().items, live._scene
    buffers = [scene.still(ratio, dark), scene.frame(ratio, items)]
    content = {
        "kind": kind, "ratio": ratio, "dark": dark, "narrow": live._narrow, "size": scene.size,
        "areas": [scene.area(drag) for drag in live._drags], "panels": scene.panels(),
        "items": items and {"name": items.name, "columns": list(items.values), "names": list(items.names)},
        "zoomed": scene.zoomed,
    }  # fmt: skip
    return {**content, **state_of(live), **more}, buffers


def setup(live: LiveFigure, ratio: float, dark: bool, **more: Any) -> Message:
    """Everything that a new view needs to know."""
    return picture(
        live, "setup", ratio, dark, label=live._label, name=live._name, axis=live._axis, start=live._start,
        controls=[control.spec() for control in live._controls.values()],
        presets=[{"label": preset.label, "values": preset.values} for preset in live._presets],
        busy=sorted(live._inbox.busy), status=live._status, launch=binder_here(), **more,
    )  # fmt: skip
