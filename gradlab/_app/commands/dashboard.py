"""`gradlab dashboard`: serve every lab as a page of its own."""

from __future__ import annotations

import argparse
import importlib
import tempfile
from pathlib import Path
from typing import Any

from ..._base.extras import missing
from ..._base.notebooks import UsageError
from . import _links
from ._settings import catalog


def add(commands: Any) -> None:
    """Add the command to the parser's `commands`."""
    serve = "serve every lab as a page of its own, by Voila"
    dashboard = commands.add_parser("dashboard", help=serve, epilog="What follows -- goes to Voila.")
    dashboard.add_argument("name", nargs="?", metavar="NAME", help="the lab to show first, or a copied link")
    write = "only write the pages there, for a JupyterLab that has Voila, one folder above and beside notebooks/"
    dashboard.add_argument("--write", type=Path, metavar="DIR", help=write)
    dashboard.set_defaults(act=_dashboard)


def _dashboard(options: argparse.Namespace) -> None:
    from ..dashboard import pages

    page = _page(options.name) if options.name else f"{pages.INDEX}.ipynb"
    if options.write:
        pages.write(options.write, lambda notebook: f"{pages.BESIDE}{notebook}")
        print(f"wrote {len(catalog()) + 1} pages to {options.write}")
        return
    try:
        importlib.import_module("ipykernel")
        serve = importlib.import_module("gradlab._app.dashboard.serve").serve
    except ImportError as error:
        library = (error.name or "voila").partition(".")[0]
        raise UsageError(missing("`gradlab dashboard`", library, "dashboard")) from error
    with tempfile.TemporaryDirectory() as folder:
        pages.write(Path(folder))
        serve(Path(folder), page, options.extra)


def _page(asked: str) -> str:
    """The page of a lab, or of the one in a link at the link's state."""
    if _links.is_link(asked):
        to = _links.follow(asked)
        return f"{to.lab}.ipynb{to.state}"
    if asked not in catalog():
        raise UsageError(f"unknown lab {asked!r}: the labs are {', '.join(catalog())}")
    return f"{asked}.ipynb"
