"""`gradlab dashboard`: every lab as a page of its own, with a few words, and one page that leads to
all of them.
"""

from __future__ import annotations

import argparse
import importlib
import json
import tempfile
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from .._base import addresses, notebooks
from .._base.atomic_files import atomic_replace
from .._base.extras import missing
from .._base.notebooks import UsageError
from .._base.suggest import did_you_mean
from . import cards
from .commands import catalog, follow, is_link

INDEX = "index"
TOP = "../../../"  # from a page that JupyterLab's own server renders, in a folder of its top


def write_pages(folder: Path, address_of: Callable[[str], str] = addresses.on_binder) -> None:
    """Write all pages into a folder, each at once, and the one that leads to the others when those
    are there.

    Args:
        folder: made if it is not there; pages that are there are written again.
        address_of: the address of a notebook of the course by its file name; empty where it is on
            no page.
    """
    folder.mkdir(parents=True, exist_ok=True)
    titles = dict(notebooks.titles())
    pages = {lab: _cells(lab, titles, address_of) for lab in catalog()}
    for name, cells in (pages | {INDEX: [_words(cards.page(catalog(), address_of))]}).items():
        with atomic_replace(folder / f"{name}.ipynb") as part:
            part.write_text(_notebook(name, cells), "utf-8")


def _cells(
    lab: str, titles: Mapping[str, str], address_of: Callable[[str], str]
) -> list[dict[str, Any]]:
    from ..labs import about

    make = catalog()[lab]
    first, *_ = [*notebooks.find_with_lab(lab), ""]
    notebook = ""
    if first:
        address = address_of(first)
        title = f"[{titles[first]}]({address})" if address else f"{titles[first]}, `{first}`"
        notebook = f"Its notebook is {title}. "
    return [
        _words(f"# {make().label}", about(make)),
        _code(f"import gradlab as gl\n\ngl.labs.{lab}()"),
        _words(f"{notebook}[All labs]({INDEX}.ipynb)"),
    ]


def _words(*paragraphs: str) -> dict[str, Any]:
    return {"cell_type": "markdown", "metadata": {}, "source": "\n\n".join(paragraphs)}


def _code(source: str) -> dict[str, Any]:
    return {
        "cell_type": "code",
        "metadata": {},
        "source": source,
        "outputs": [],
        "execution_count": None,
    }


def _notebook(name: str, cells: Iterable[dict[str, Any]]) -> str:
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    numbered = [cell | {"id": f"{name}-{k}"} for k, cell in enumerate(cells)]
    return json.dumps(
        {"cells": numbered, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}
    )


def add(commands: Any) -> None:
    """Add the command to the parser's `commands`."""
    serve = "serve every lab as a page of its own, by Voila, to those who have the token it prints"
    dashboard = commands.add_parser(
        "dashboard", help=serve, epilog="What follows -- goes to Voila."
    )
    dashboard.add_argument(
        "name", nargs="?", metavar="NAME", help="the lab to show first, or a copied link"
    )
    write = (
        "only write the pages there, for a JupyterLab with Voila that shows the folder above, the "
        "notebooks below it"
    )
    dashboard.add_argument("--write", type=Path, metavar="DIR", help=write)
    dashboard.set_defaults(act=_dashboard)


def _dashboard(options: argparse.Namespace) -> None:
    page = _page(options.name) if options.name else f"{INDEX}.ipynb"
    if options.write:
        course = _below(options.write.resolve().parent)
        write_pages(options.write, lambda notebook: f"{TOP}lab/tree/{course}/{notebook}")
        print(f"wrote {len(catalog()) + 1} pages to {options.write}")
        return
    try:
        importlib.import_module("ipykernel")
        serve = importlib.import_module("gradlab._app.voila_server").serve
    except ImportError as error:
        library = (error.name or "voila").partition(".")[0]
        raise UsageError(missing("`gradlab dashboard`", library, "dashboard")) from error
    with tempfile.TemporaryDirectory() as folder:
        write_pages(Path(folder))
        serve(Path(folder), page, options.extra)


def _below(top: Path) -> str:
    """Return the folder of the notebooks, from the one that JupyterLab shows."""
    folder = notebooks.find_folder().resolve()
    if not folder.is_relative_to(top):
        raise UsageError(
            "the folder above DIR must be above the notebooks, too, "
            f"which are in {folder}; got {top}"
        )
    return folder.relative_to(top).as_posix()


def _page(asked: str) -> str:
    """The page of a lab, or of the one in a link at the link's state."""
    if is_link(asked):
        to = follow(asked)
        return f"{to.lab}.ipynb{to.state}"
    if asked not in catalog():
        raise UsageError(f"unknown lab {asked!r}: {did_you_mean(asked, catalog())}")
    return f"{asked}.ipynb"
