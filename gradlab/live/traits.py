"""Controls as traits, so that `observe`, `link` and `jslink` of ipywidgets work on them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import anywidget
import traitlets

from .controls import Button, Control


class ControlTrait(traitlets.TraitType[Any, Any]):
    """The value of one control; refuses what the control refuses."""

    def __init__(self, control: Any) -> None:
        super().__init__(default_value=control.value)
        self._control = control

    def validate(self, _: Any, value: Any) -> Any:
        return self._control.check(value)


class MirroredWidget(anywidget.AnyWidget):
    """A widget with one trait for each control; setting a trait moves the control."""

    selected = traitlets.Int(None, allow_none=True, min=0, help="The item that the reader has selected, or None.").tag(
        sync=True
    )

    def __init__(self, controls: Mapping[str, Control]) -> None:
        traits = {name: ControlTrait(c).tag(sync=True) for name, c in controls.items() if not isinstance(c, Button)}
        for name in traits:
            if hasattr(type(self), name):
                raise ValueError(f"a control cannot be called {name!r}, for a widget has something of that name")
        self.add_traits(**traits)
        super().__init__()
        if traits:  # asked for none, `observe` takes all there are
            self.observe(self._trait_moved, names=list(traits))

    def _move(self, changes: Mapping[str, Any]) -> None:
        """Take over checked values; the traits follow through `_mirror`."""
        raise NotImplementedError

    @property
    def values(self) -> dict[str, Any]:
        """The current values of the controls by name."""
        raise NotImplementedError

    def _mirror(self, names: Iterable[str]) -> None:
        """Let the traits follow the controls; who observes one sees all of them at their new values."""
        values = self.values
        with self.hold_sync(), self.hold_trait_notifications():
            for name in names:
                self.set_trait(name, values[name])

    def _trait_moved(self, change: Any) -> None:
        held = self.values[change.name]
        if change.new == held:
            return
        try:
            self._move({change.name: change.new})
        except BaseException:
            self.set_trait(change.name, held)
            raise
