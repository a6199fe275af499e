"""`gradlab lab`: open the notebooks in JupyterLab."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from .. import _jupyter


def add(commands: Any) -> None:
    """Add the command to the parser's `commands`."""
    lab = commands.add_parser("lab", help="open the notebooks in JupyterLab", epilog="What follows -- goes to Jupyter.")
    where = f"copy the notebooks there first (default: {_jupyter.DEFAULT_FOLDER}; a checkout is used in place)"
    lab.add_argument("folder", nargs="?", type=Path, metavar="DIR", help=where)
    lab.set_defaults(act=_lab)


def _lab(options: argparse.Namespace) -> None:
    folder, said = _jupyter.folder_to_open(options.folder)
    for line in said:
        print(line, flush=True)
    _jupyter.open_lab(folder, options.extra)
