"""Files that a lab can be written to."""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import numpy as np

from .. import __version__
from .._base.atomic_files import atomic_replace, check_folder_of
from ..live.caption import Around, Caption
from ..live.progress import shown
from ..live.scheduling import drawing
from ..live.svg import numbered

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..live import Description, LiveFigure

THEMES = ("light", "dark")
DPI = 150  # of a .png

_UNSIGNED: dict[str, dict[str, Any]] = {
    "svg": {"Date": None, "Creator": None},
    "pdf": {"CreationDate": None},
}


class SavableLab(Protocol):
    """Interface of a lab that is written to a file."""

    label: ClassVar[str]
    axis: ClassVar[str | None]

    @property
    def params(self) -> dict[str, Any]: ...
    @property
    def controls(self) -> Sequence[Any]: ...
    @property
    def description(self) -> Description: ...
    @property
    def live(self) -> LiveFigure: ...
    def compute(self, values: dict[str, Any], /) -> Any: ...
    def columns(self, trace: Any, /) -> Mapping[str, np.ndarray]: ...
    def figure(self) -> Figure: ...
    def code(self) -> str: ...
    def _code(self, filmed: str | None = None) -> str: ...


def save(lab: SavableLab, path: Path, theme: str = "light") -> str:
    """Write the lab to `path`, by its ending; until all is written the file that was there stays.

    Give in words what a page holds, and how large the file is.
    """
    ending = path.suffix.lower()
    if ending not in _ALL:
        raise ValueError(f"cannot save {path.name!r}: allowed are {_listed(_ALL)}")
    if theme not in THEMES:
        raise ValueError(f"theme must be one of {', '.join(THEMES)}, got {theme!r}")
    if theme == "dark" and ending not in _PAINTED:
        raise ValueError(f"the dark theme is for {_listed(_PAINTED)}, not for {ending}")
    if ending in _FILMS and lab.axis is None:
        raise ValueError(f"{lab.label} has no axis to film along: allowed are {_listed(_WRITERS)}")
    check_folder_of(path)  # a film would say so only after all its pictures
    held = None
    with shown(path.name):
        if ending in _FILMS:
            _film(lab, path, theme == "dark")
        else:
            with atomic_replace(path) as part:
                held = _WRITERS[ending](lab, part, ending, theme == "dark")
    size = f"{path.stat().st_size / 1000:,.0f} kB"
    return f"{held}, {size}" if held else size


def _picture(lab: SavableLab, path: Path, _ending: str, dark: bool) -> None:
    path.write_bytes(lab.live.png(DPI, dark, _source(lab)))


def _vectors(lab: SavableLab, path: Path, ending: str, _dark: bool) -> None:
    import matplotlib

    kind, words, figure = ending[1:], lab.description, lab.figure()
    caption = Caption.of(
        {control.name: control for control in lab.controls}, lab.params, words, _source(lab)
    )
    about = {**_UNSIGNED[kind], "Title": words.summary}
    # Text stays text.
    with drawing, matplotlib.rc_context({"svg.hashsalt": "gradlab", "svg.fonttype": "none"}):
        around = Around.of([caption], figure.get_figwidth())
        around.save_drawing(figure, path, format=kind, metadata=about)


def _svg(lab: SavableLab, path: Path, ending: str, dark: bool) -> None:
    _vectors(lab, path, ending, dark)
    path.write_text(numbered(path.read_text("utf-8")), "utf-8")


def _numbers(lab: SavableLab, path: Path, _ending: str, _dark: bool) -> None:
    columns = lab.columns(lab.compute(lab.params))
    with path.open("w", newline="", encoding="utf-8", errors="replace") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*(np.asarray(c).tolist() for c in columns.values()), strict=True))


def _page(lab: SavableLab, path: Path, _ending: str, _dark: bool) -> str:
    """Give in words what the page holds, which depends on what fits."""
    from ..live.page import page_html

    code = lab.code()
    page, held = page_html(
        lab.live, f"import gradlab as gl; {code}" if code.startswith("gl.") else code
    )
    path.write_text(page, "utf-8", "replace")  # names may hold halves of characters
    return held.told


def _film(lab: SavableLab, path: Path, dark: bool) -> None:
    """It replaces the file by itself: what kind it is to be, an encoder reads off the ending."""
    from ..live.film import save_film

    save_film(lab.live, path, dark, source=_source(lab, lab.axis))


def _source(lab: SavableLab, filmed: str | None = None) -> str:
    """The lab, the version, and the line of Python that shows the picture; in a film one of its
    values moves.
    """
    return f"{lab.label}  ·  gradlab {__version__}  ·  {lab._code(filmed)}"


def _listed(endings: Any) -> str:
    *others, last = (ending for ending in _ALL if ending in endings)
    return f"{', '.join(others)} and {last}"


_WRITERS: dict[str, Callable[[SavableLab, Path, str, bool], str | None]] = {
    ".png": _picture, ".svg": _svg, ".pdf": _vectors, ".csv": _numbers, ".html": _page,
}  # fmt: skip
_FILMS = (".gif", ".mp4")
_ALL = (*_WRITERS, *_FILMS)
_PAINTED = (".png", *_FILMS)
