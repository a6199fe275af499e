"""Files that a lab can be written to."""

from __future__ import annotations

import copy
import csv
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..live.scheduling import drawing
from ..live.svg import numbered

if TYPE_CHECKING:
    from ._lab import Lab

THEMES = ("light", "dark")
DPI = 150  # of a .png

_UNSIGNED = {".svg": {"Date": None, "Creator": None}, ".pdf": {"CreationDate": None}}


def save(lab: Lab, path: Path, params: dict[str, Any], theme: str = "light") -> None:
    """Write the lab to `path`, by its ending."""
    ending = path.suffix.lower()
    if ending not in _WRITERS:
        raise ValueError(f"cannot save {path.name!r}: allowed are {_listed(_WRITERS)}")
    if theme not in THEMES:
        raise ValueError(f"theme must be one of {', '.join(THEMES)}, got {theme!r}")
    if theme == "dark" and ending not in _PAINTED:
        raise ValueError(f"the dark theme is for {_listed(_PAINTED)}, not for {ending}")
    if ending in _FILMS and lab.axis is None:
        raise ValueError(f"{lab.label} has no axis to film along: allowed are {_listed(_WRITERS.keys() - _FILMS)}")
    _WRITERS[ending](_moved(lab, params), path, theme == "dark")


def _moved(lab: Lab, params: dict[str, Any]) -> Lab:
    """The lab at other params, without a widget; the given one stays where it is."""
    other = copy.copy(lab)
    other._initial, other._live = {**lab.params, **params}, None
    return other


def _picture(lab: Lab, path: Path, dark: bool) -> None:
    path.write_bytes(lab.live.png(DPI, dark))


def _vectors(lab: Lab, path: Path, _dark: bool) -> None:
    import matplotlib

    with drawing, matplotlib.rc_context({"svg.hashsalt": "gradlab", "svg.fonttype": "none"}):  # text stays text
        lab.figure().savefig(path, metadata=_UNSIGNED[path.suffix.lower()])


def _svg(lab: Lab, path: Path, dark: bool) -> None:
    _vectors(lab, path, dark)
    path.write_text(numbered(path.read_text("utf-8")), "utf-8")


def _numbers(lab: Lab, path: Path, _dark: bool) -> None:
    columns = lab.columns(lab.compute(lab.params))
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*(np.asarray(c).tolist() for c in columns.values()), strict=True))


def _page(lab: Lab, path: Path, _dark: bool) -> None:
    from ..live.page import page_html

    path.touch()  # what cannot be written is said before the work, not after it
    code = lab.code()
    path.write_text(page_html(lab.live, f"import gradlab as gl; {code}" if code.startswith("gl.") else code), "utf-8")


def _film(lab: Lab, path: Path, dark: bool) -> None:
    from ..live.film import save_film

    save_film(lab.live, path, dark)


def _listed(endings: Any) -> str:
    *others, last = (ending for ending in _WRITERS if ending in endings)
    return f"{', '.join(others)} and {last}"


_WRITERS = {
    ".png": _picture, ".svg": _svg, ".pdf": _vectors, ".csv": _numbers,
    ".html": _page, ".gif": _film, ".mp4": _film,
}  # fmt: skip
_FILMS = {".gif", ".mp4"}
_PAINTED = {".png", *_FILMS}
