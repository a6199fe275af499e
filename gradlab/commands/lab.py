"""`gradlab lab`: open the notebooks in JupyterLab, or the one that a link leads to."""

from __future__ import annotations

import argparse
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import unquote, urlsplit

from .. import _jupyter, _notebooks
from .._jupyter import UsageError


def add(commands: Any) -> None:
    """Add the command to the parser's `commands`."""
    lab = commands.add_parser("lab", help="open the notebooks in JupyterLab", epilog="What follows -- goes to Jupyter.")
    folder = f"copy the notebooks there first (default: {_jupyter.DEFAULT_FOLDER}; a checkout is used in place)"
    link = "a copied link, or what follows the # in it: open its notebook, with the lab as it was"
    lab.add_argument("folder", nargs="?", metavar="DIR", help=folder)
    lab.add_argument("link", nargs="?", metavar="LINK", help=link)
    lab.set_defaults(act=_lab)


def _lab(options: argparse.Namespace) -> None:
    folder, link = _told_apart(options.folder, options.link)
    notebook, state = _place(link) if link else (_notebooks.START, "")
    opened, said = _jupyter.folder_to_open(folder)
    for line in said:
        print(line, flush=True)
    _jupyter.open_lab(opened, options.extra, notebook, state)


def _told_apart(folder: str | None, link: str | None) -> tuple[Path | None, str | None]:
    """The folder and the link, where either may be left out."""
    if folder and link is None and "gl=" in unquote(folder):
        return None, folder
    return Path(folder) if folder else None, link


def _place(link: str) -> tuple[str, str]:
    """The notebook that a link leads to and the state of its lab: the notebook it names, if that has the lab."""
    from ..labs import from_link

    address, _, state = _launched(link).rpartition("#")
    try:
        lab = from_link(f"#{state}")
    except ValueError as error:
        raise UsageError(f"cannot open the link: {error}") from error
    name = type(lab).__name__
    if not (found := _notebooks.holding(name)):
        raise UsageError(f"no notebook shows the lab {name}; `gradlab run {name} --link LINK --save FILE` does")
    named = PurePosixPath(unquote(urlsplit(address).path)).name
    return named if named in found else found[0], f"#{state}"


def _launched(link: str) -> str:
    """What a launch link opens on Binder, a page and a state; any other link as it is."""
    return unquote(link.partition("?urlpath=")[2]) or link
