"""The pages as notebooks: one for each lab with a few words, and one that leads to all of them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from ..._base import addresses, notebooks
from ...labs import catalog

INDEX = "index"
BESIDE = "../../../lab/tree/notebooks/"  # from a page that JupyterLab's own server renders, one folder below its top


def write(folder: Path, address_of: Callable[[str], str] = addresses.on_binder) -> None:
    """Write all pages into a folder.

    Args:
        folder: made if it is not there; pages that are there are written anew.
        address_of: where a notebook of the course is, by its file name.
    """
    folder.mkdir(parents=True, exist_ok=True)
    titles = dict(notebooks.titles())
    for name, cells in {INDEX: _index(), **{lab: _page(lab, titles, address_of) for lab in catalog()}}.items():
        (folder / f"{name}.ipynb").write_text(_notebook(name, cells), "utf-8")


def _index() -> list[dict[str, Any]]:
    labs = (f"- [{make.label}]({name}.ipynb). {make.about()}" for name, make in catalog().items())
    return [_words("# The labs of gradlab", "See what happens to a gradient before it is applied.", "\n".join(labs))]


def _page(lab: str, titles: Mapping[str, str], address_of: Callable[[str], str]) -> list[dict[str, Any]]:
    make = catalog()[lab]
    first, *_ = [*notebooks.holding(lab), ""]
    notebook = f"Its notebook is [{titles[first]}]({address_of(first)}). " if first else ""
    return [
        _words(f"# {make.label}", make.about()),
        _code(f"import gradlab as gl\n\ngl.labs.{lab}()"),
        _words(f"{notebook}[All labs]({INDEX}.ipynb)"),
    ]


def _words(*paragraphs: str) -> dict[str, Any]:
    return {"cell_type": "markdown", "metadata": {}, "source": "\n\n".join(paragraphs)}


def _code(source: str) -> dict[str, Any]:
    return {"cell_type": "code", "metadata": {}, "source": source, "outputs": [], "execution_count": None}


def _notebook(name: str, cells: Iterable[dict[str, Any]]) -> str:
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    numbered = [cell | {"id": f"{name}-{k}"} for k, cell in enumerate(cells)]
    return json.dumps({"cells": numbered, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5})
