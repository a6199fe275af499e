"""The frame every lab shares: controls, compute, figure; and its state as text.

The state is one line of Python, or the end of a link: `#gl=1&lab=NAME&control=value&...`, where 1
is the version of this format. The browser reads and writes the same (`live/web/link.js`).
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal
from urllib.parse import parse_qsl, urlencode

import numpy as np

from .._base import addresses, notebooks
from ..live import Button, Description, Drag, Items, Preset
from ..live.controls import Control as Control
from ..live.controls import Valued, by_name, checked
from ..live.drawing.style import DARK
from . import _save

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..live import LiveFigure

GLANCE = "At a glance: "
LINKS = "1"  # the version of their format
MOST = 300  # characters of a link that survive every chat and every course page


@dataclass(frozen=True)
class Target:
    """Something to reach by moving the controls.

    Args:
        text: what to do, "clip at most 5% of the steps".
        measure: of a trace: whether it is reached, and a sentence in the words of `text` that says
            how far it is, "Now 2.3% are clipped"; ": reached" or ": not yet" follows it.
    """

    text: str
    measure: Callable[[Any], tuple[bool, str]]

    def said(self, trace: Any) -> tuple[bool, str]:
        """A flag, true once it is reached, and the target and its state in one line."""
        reached, now = self.measure(trace)
        reached = bool(reached)  # NumPy's own booleans can't be sent to a browser
        return reached, f"Target: {self.text}. {now}: {'reached' if reached else 'not yet'}."


class Lab:
    """Something to move and look at. Shows itself as the last value of a cell.

    A lab is written by giving `label`, `make_controls`, `compute` (values to a trace), `make_view`
    (an object with `figure` and `draw(trace)`) and `describe` (a trace in words); the rest has
    defaults.

    Args:
        target: the name of one of the lab's targets, shown above the picture until and after it is
            reached.
        **initial: where the controls start; each name is that of a control.

    Raises:
        ValueError, TypeError: an unknown name, or a value its control does not allow; the message
            lists what is.
    """

    function: ClassVar[str] = ""  # of gl.labs, that makes it; a lab of your own has none
    label: ClassVar[str]
    axis: ClassVar[str | None] = None  # the control whose pictures are made ahead
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {}
    targets: ClassVar[Mapping[str, Target]] = {}
    source: str = ""  # how `code` writes what is not a control

    def __init__(self, target: str | None = None, **initial: Any) -> None:
        if target is not None and target not in self.targets:
            raise ValueError(
                f"{self._called()} has no target {target!r}; it has "
                f"{', '.join(self.targets) or 'none'}"
            )
        self.target = target
        self._controls = by_name(self.make_controls())
        self._initial: dict[str, Any] = {name: c.value for name, c in self._valued().items()}
        self._initial |= self._checked(initial)
        self._live: LiveFigure | None = None
        self._view: Any = None

    # What a lab gives

    def make_controls(self) -> list[Control]:
        """The controls in the order shown, at their defaults."""
        raise NotImplementedError(f"{type(self).__name__} must define make_controls()")

    def compute(self, values: dict[str, Any]) -> Any:
        """The trace for these control values: plain arrays, from the library."""
        raise NotImplementedError(f"{type(self).__name__} must define compute(values)")

    def make_view(self) -> Any:
        """A new view: `.figure`, `.draw(...)` for `draw` below, and `.arrange(narrow)` if it fits a narrow page."""
        raise NotImplementedError(f"{type(self).__name__} must define make_view()")

    def describe(self, trace: Any) -> Description:
        """The trace in words and as a table."""
        raise NotImplementedError(f"{type(self).__name__} must define describe(trace)")

    def draw(self, view: Any, trace: Any) -> None:
        """Put a trace into a view."""
        view.draw(trace)

    def columns(self, trace: Any) -> dict[str, np.ndarray]:
        """The trace as columns of equal length, for .csv: by default its arrays of one dimension, by name."""
        fields = (
            trace
            if isinstance(trace, Mapping)
            else getattr(trace, "_asdict", lambda: vars(trace))()
        )
        columns = {
            name: np.asarray(column) for name, column in fields.items() if np.ndim(column) == 1
        }
        longest = max((len(column) for column in columns.values()), default=0)
        return {name: column for name, column in columns.items() if len(column) == longest}

    def items(self, view: Any, trace: Any) -> Items | None:
        """Return what can be pointed at in the view."""
        return None

    def drags(self, view: Any) -> list[Drag]:
        """Lines and points of the view that move controls."""
        return []

    def idle(self, values: dict[str, Any]) -> Iterable[str]:
        """The names of the controls that change nothing while the others are at these values; nobody can move them."""
        return ()

    def fresh(self) -> None:
        """Take over what is new in the data that the lab is about, before it is looked at; nothing as a rule."""

    # What a lab does

    @property
    def controls(self) -> tuple[Control, ...]:
        """The controls, at their current values."""
        return self._at(self.params)

    @property
    def params(self) -> dict[str, Any]:
        """The current value of every control."""
        return dict(self._initial) if self._live is None else self._live.values

    @property
    def description(self) -> Description:
        """The current state in words: `.alt`, `.summary`, `.table`, `.goal`."""
        self.fresh()
        return self._describe(self.compute(self.params))

    @property
    def live(self) -> LiveFigure:
        """The widget, made when it is first needed; it has a trait for every control."""
        if self._live is None:
            self.fresh()
            self._view = self.make_view()
            self._live = self.make_live(self._view)
            self._live.observe(self._closed, "comm")
        return self._live

    def close(self) -> None:
        """Take the lab out of every page and free its picture; shown again, it goes on from the same values."""
        if self._live is not None:
            self._live.close()

    def _closed(self, change: Any) -> None:
        """The widget is closed: the values stay, its figure goes."""
        if self._live is not None and change.new is None:
            self._initial, self._live, self._view = self._live.values, None, None

    def make_live(self, view: Any, **params: Any) -> LiveFigure:
        """A widget of its own on a view, at the current state or at other params."""
        from ..live import LiveFigure

        def update(values: dict[str, Any]) -> Description:
            trace = self.compute(values)
            self.draw(view, trace)
            return replace(
                self._describe(trace), items=self.items(view, trace), idle=tuple(self.idle(values))
            )

        presets = [Preset(label, values) for label, values in self.presets.items()]
        return LiveFigure(
            view.figure,
            self._at({**self.params, **self._checked(params)}),
            update,
            drags=self.drags(view),
            label=self.label,
            name=self._name(),
            presets=presets,
            axis=self.axis,
            dark=DARK,
            arrange=getattr(view, "arrange", None),
        )

    def set(self, **params: Any) -> None:
        """Move controls from Python; every view follows. Unknown names and bad values change nothing."""
        values = self._checked(params)
        if self._live is None:
            self._initial |= values
        else:
            self._live.set(**values)

    def present(self) -> None:
        """Show the lab alone, as large as the window, for a lecture.

        Arrow keys, and a remote's Page keys, go from preset to preset; Escape leaves. "Present" in
        the page does the same and takes the whole screen, which only a reader can allow. A lab that
        no page shows appears under the cell.
        """
        self.live.present()

    def figure(self, **params: Any) -> Figure:
        """A still matplotlib Figure of the current state, or of other params."""
        self.fresh()
        view = self.make_view()
        self.draw(view, self.compute({**self.params, **self._checked(params)}))
        for artist in view.figure.findobj():
            artist.set_animated(False)
        figure: Figure = view.figure
        return figure

    def code(self) -> str:
        """The current state as one line of Python.

        >>> from gradlab import labs
        >>> labs.clip_arrows(method="norm", limit=2.5).code()
        "gl.labs.clip_arrows(limit=2.5, method='norm')"
        """
        return self._code()

    def _code(self, filmed: str | None = None) -> str:
        """Write what `code` gives; of the control that moves in a film, that it has any value."""
        valued = [c for c in self.make_controls() if not isinstance(c, Button)]
        defaults = {c.name: c.value for c in valued}
        moved = []
        for name, start in defaults.items():
            if name == filmed:
                moved.append(f"{name}=...")
            elif self.params[name] != start:
                moved.append(f"{name}={self.params[name]!r}")
        target = [f"target={self.target!r}"] * (self.target is not None)
        return f"{self._called()}({', '.join([self.source] * bool(self.source) + moved + target)})"

    def link(self, to: str | None = None) -> str:
        """The current state as the end of a link: a notebook opened at `...ipynb` plus this shows it.

        Args:
            to: "binder" for a whole address, which opens a notebook with this lab on Binder. On
                Binder it launches one like it; elsewhere the repository is the one that
                `gradlab/_base/addresses.py` names.

        Raises:
            ValueError: the state is too long for a link, another `to`, a lab that no notebook of
                gradlab's shows, or a copy of gradlab that has no repository.

        >>> from gradlab import labs
        >>> labs.clip_libraries(case="inf").link()
        '#gl=1&lab=clip_libraries&case=inf'
        """
        if to not in (None, "binder"):
            raise ValueError(f"to must be 'binder' or left out, got {to!r}")
        name, params = self._name(), self.params
        values = [(c.name, c.write(params[c.name])) for c in self._valued().values()]
        text = "#" + urlencode([("gl", LINKS), ("lab", name), *values], safe="~")
        if len(text) > MOST:
            raise ValueError(
                f"this state needs {len(text)} characters, a link may "
                f"have {MOST}; use code() instead"
            )
        if not to:
            return text
        if not (found := notebooks.find_with_lab(name)):
            raise ValueError(
                f"no notebook of gradlab's shows {name}, so Binder has no page for it; link() "
                "gives its state"
            )
        address = addresses.on_binder(found[0], text)
        if not address:
            raise ValueError(
                "this copy of gradlab has no repository that Binder could open; `python -m "
                "notebooks.repository OWNER/REPO` in a clone sets one, and "
                "link() gives the state alone"
            )
        return address

    def save(
        self, path: str | Path, theme: Literal["light", "dark"] = "light", **params: Any
    ) -> str:
        """Write the lab to a file; the same state gives the same bytes.

        A picture or a film has a caption: what is seen, the settings, and the line of Python that
        shows the same, in a film without the control that it moves. What takes more than two
        seconds says how far it has come, in a terminal or under the cell.

        Args:
            path: .png, .svg or .pdf for the picture, .csv for its numbers, .html for a page that
                needs no kernel, .gif or .mp4 for a film along the lab's `axis` (.mp4 needs the
                extra `film`). A page has every preset and as many other states as fit into 1 MB.
            theme: "dark" for a dark .png, .gif or .mp4; a page is as dark as its reader's screen.
            **params: other values of controls than the current ones.

        Returns:
            The size of the file in words; of a page also how many states it holds.

        Raises:
            ValueError: another ending, or a film of a lab without an axis.
            OSError: the file cannot be written.
            ImportError: an .mp4 without its encoder.
        """
        self.fresh()
        other = copy.copy(
            self
        )  # at the other params and without a widget; this one stays where it is
        other._initial, other._live = {**self.params, **self._checked(params)}, None
        try:
            return _save.save(other, Path(path), theme)
        finally:
            other.close()

    def _at(self, values: Mapping[str, Any]) -> tuple[Control, ...]:
        controls = self._controls.values()
        return tuple(
            c if isinstance(c, Button) else replace(c, value=values[c.name]) for c in controls
        )

    def _describe(self, trace: Any) -> Description:
        words = self.describe(trace)
        if self.target is None:
            return words
        met, goal = self.targets[self.target].said(trace)
        return replace(words, goal=goal, met=met)

    def _checked(self, params: Mapping[str, Any]) -> dict[str, Any]:
        return checked(self._controls, params, self._called())

    def _valued(self) -> dict[str, Valued]:
        """The controls that hold a value; a button only acts in a page."""
        return {name: c for name, c in self._controls.items() if not isinstance(c, Button)}

    def _name(self) -> str:
        """Return what links call the lab."""
        return self.function or type(self).__name__

    def _called(self) -> str:
        """Return how Python code calls the lab."""
        return f"gl.labs.{self.function}" if self.function else type(self).__name__

    def __repr__(self) -> str:
        try:
            return f"{self.label}: {self.description.summary}"
        except Exception as error:
            # A notebook that could not show the lab has said why, and asks for this next.
            return f"{self.label}: {type(error).__name__}: {error}"

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        return self.live._repr_mimebundle_(**kwargs)


def about(make: Callable[..., Lab]) -> str:
    """Return what a lab is for: the first line of the documentation of the function, or the class, that makes it.

    >>> from gradlab import labs
    >>> about(labs.clip_arrows)
    'Drag a two-entry gradient and see it clipped by value, norm, average norm or global norm.'
    """
    return (make.__doc__ or "").partition("\n")[0]


def glance(make: Callable[..., Lab]) -> str:
    """Return what is seen in three seconds: the paragraph of the documentation that begins "At a glance: ".

    >>> from gradlab import labs
    >>> glance(labs.clip_arrows)
    'A clip by value turns the arrow, a clip by norm only shortens it.'
    """
    for paragraph in (make.__doc__ or "").split("\n\n"):
        words = " ".join(paragraph.split())
        if words.startswith(GLANCE):
            return words.removeprefix(GLANCE)
    return ""


def read(text: str) -> tuple[str, dict[str, str]]:
    """The name of the lab in a link and its settings, still as text.

    Raises:
        ValueError: not such a link, or one of another version.

    >>> read("https://example.org/lab/tree/02_clipping.ipynb#gl=1&lab=clipping&limit=0.3")
    ('clipping', {'limit': '0.3'})
    """
    pairs = dict(parse_qsl(text.partition("#")[2], keep_blank_values=True))
    if "gl" not in pairs or "lab" not in pairs:
        raise ValueError(f"a link to a lab ends in #gl={LINKS}&lab=NAME&..., got {text!r}")
    if pairs.pop("gl") != LINKS:
        raise ValueError(
            f"this link was made by another version of gradlab; this one reads #gl={LINKS}&..."
        )
    return pairs.pop("lab"), pairs


def opened(make: Callable[[], Lab], settings: Mapping[str, str]) -> Lab:
    """Return the lab at these settings; ValueError names the ones it does not have."""
    new = make()
    controls = new._valued()
    unknown = [name for name in settings if name not in controls]
    if unknown:
        raise ValueError(
            f"the link names {', '.join(map(repr, unknown))}, which {new._name()} does not have; "
            f"its settings are {', '.join(controls)}"
        )
    new.set(**{name: controls[name].read(value) for name, value in settings.items()})
    return new
