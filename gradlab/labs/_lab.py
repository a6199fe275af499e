"""The frame every lab shares: controls, compute, figure."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ..live import Button, Description, Drag, Menu, Slider

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..live import LiveFigure

Control = Slider | Menu | Button
_PLAIN = {".png": {"Software": None}, ".svg": {"Date": None, "Creator": None}, ".pdf": {"CreationDate": None}}


def plain(x: float) -> str:
    """A number for readers: three digits, and no exponent where none is needed."""
    return f"{x:,.0f}".replace(",", " ") if 1000 <= abs(x) < 1e6 else f"{x:.3g}"


class Lab:
    """Something to move and look at. Shows itself as the last value of a cell.

    A lab is written by giving `label`, `controls`, `compute` (values to a trace), `view` (an object with `figure` and
    `draw`), `draw` (a trace into the view), `describe` (a trace in words) and `columns` (a trace as named arrays).

    Args:
        **initial: where the controls start; each name is that of a control.

    Raises:
        ValueError, TypeError: an unknown name, or a value its control does not allow; the message lists what is.
    """

    label: ClassVar[str]

    def __init__(self, **initial: Any) -> None:
        controls = {c.name: c for c in self.make_controls()}
        self._controls = tuple(controls.values())
        self._values = {c.name: c.value for c in self._controls if not isinstance(c, Button)}
        self._values |= self._checked(initial)
        self._live: LiveFigure | None = None
        self._view: Any = None

    # What a lab gives

    def make_controls(self) -> list[Control]:
        """The controls in the order shown, at their defaults."""
        raise NotImplementedError

    def compute(self, values: dict[str, Any]) -> Any:
        """The trace for these control values: plain arrays, from the library."""
        raise NotImplementedError

    def make_view(self) -> Any:
        """A new view: `.figure`, and `.draw(...)` for `draw` below."""
        raise NotImplementedError

    def draw(self, view: Any, trace: Any) -> None:
        """Put a trace into a view."""
        raise NotImplementedError

    def describe(self, trace: Any) -> Description:
        """The trace in words and as a table."""
        raise NotImplementedError

    def columns(self, trace: Any) -> dict[str, np.ndarray]:
        """The trace as columns of equal length, for .csv."""
        raise NotImplementedError

    def drags(self, view: Any) -> list[Drag]:
        """Parts of the view that move controls."""
        return []

    # What a lab does

    @property
    def controls(self) -> tuple[Control, ...]:
        """The controls, at their current values."""
        return tuple(c if isinstance(c, Button) else replace(c, value=self._values[c.name]) for c in self._controls)

    @property
    def params(self) -> dict[str, Any]:
        """The current value of every control."""
        return dict(self._values)

    @property
    def description(self) -> Description:
        """The current state in words: `.alt`, `.summary`, `.table`."""
        return self.describe(self.compute(self._values))

    @property
    def live(self) -> LiveFigure:
        """The widget, made when it is first needed."""
        if self._live is None:
            from ..live import LiveFigure

            self._view = self.make_view()
            self._live = LiveFigure(
                self._view.figure, self.controls, self._update, drags=self.drags(self._view), label=self.label
            )
        return self._live

    def _update(self, values: dict[str, Any]) -> Description:
        trace = self.compute(values)
        self.draw(self._view, trace)
        self._values = values
        return self.describe(trace)

    def set(self, **params: Any) -> None:
        """Move controls from Python; every view follows. Unknown names and bad values change nothing."""
        checked = self._checked(params)
        if self._live is None:
            self._values |= checked
        else:
            self._live.set(**checked)

    def figure(self, **params: Any) -> Figure:
        """A still matplotlib Figure of the current state, or of other params."""
        view = self.make_view()
        self.draw(view, self.compute({**self._values, **self._checked(params)}))
        for artist in view.figure.findobj():
            artist.set_animated(False)
        return view.figure

    def save(self, path: str | Path, **params: Any) -> None:
        """Write the picture (.png, .svg, .pdf) or its numbers (.csv); the same state gives the same bytes."""
        suffix = Path(path).suffix.lower()
        if suffix == ".csv":
            self._save_csv(Path(path), {**self._values, **self._checked(params)})
        elif suffix in _PLAIN:
            import matplotlib

            with matplotlib.rc_context({"svg.hashsalt": "gradlab"}):
                self.figure(**params).savefig(path, metadata=_PLAIN[suffix], dpi=150)
        else:
            raise ValueError(f"cannot save {Path(path).name!r}: allowed are .png, .svg, .pdf and .csv")

    def _save_csv(self, path: Path, values: dict[str, Any]) -> None:
        columns = self.columns(self.compute(values))
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(columns)
            writer.writerows(zip(*(np.asarray(c).tolist() for c in columns.values()), strict=True))

    def _checked(self, params: dict[str, Any]) -> dict[str, Any]:
        named = {c.name: c for c in self._controls if not isinstance(c, Button)}
        for name in params:
            if name not in named:
                raise ValueError(f"{self.label} has no control {name!r}; allowed are {', '.join(named)}")
        return {name: named[name].check(value) for name, value in params.items()}

    def __repr__(self) -> str:
        return f"{self.label}: {self.description.summary}"

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        return self.live._repr_mimebundle_(**kwargs)
