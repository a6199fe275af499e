"""`gradlab lab`: open the notebooks in JupyterLab, or the one that a link leads to."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from ..._base import notebooks
from ..._base.notebooks import UsageError
from .. import jupyter
from . import _links


def add(commands: Any) -> None:
    """Add the command to the parser's `commands`."""
    lab = commands.add_parser("lab", help="open the notebooks in JupyterLab", epilog="What follows -- goes to Jupyter.")
    folder = f"copy the notebooks there first (default: {jupyter.DEFAULT_FOLDER}); a clone's own are opened in place"
    link = "a copied link, or what follows the # in it: open its notebook, with the lab as it was"
    lab.add_argument("folder", nargs="?", metavar="DIR", help=folder)
    lab.add_argument("link", nargs="?", metavar="LINK", help=link)
    lab.set_defaults(act=_lab)


def _lab(options: argparse.Namespace) -> None:
    folder, link = _told_apart(options.folder, options.link)
    notebook, state = _place(link) if link else (notebooks.START, "")
    application = jupyter.application()  # before anything is copied
    opened, said = jupyter.folder_to_open(folder)
    for line in [*said, *jupyter.as_root(options.extra)]:
        print(line, flush=True)
    jupyter.open_lab(application, opened, options.extra, notebook, state)


def _told_apart(folder: str | None, link: str | None) -> tuple[Path | None, str | None]:
    """The folder and the link, where either may be left out."""
    if folder and link is None and _links.is_link(folder):
        return None, folder
    return Path(folder) if folder else None, link


def _place(link: str) -> tuple[str, str]:
    """The notebook that a link leads to and the state of its lab: the notebook it names, if that has the lab."""
    to = _links.follow(link)
    if not (found := notebooks.holding(to.lab)):
        raise UsageError(f"no notebook shows the lab {to.lab}; `gradlab run {to.lab} --link LINK --save FILE` does")
    return to.file if to.file in found else found[0], to.state
