"""One server for all tests here, with JupyterLab, Notebook 7 and Voila; a fresh page and kernel for each notebook."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from . import server, written
from .lab import Lab
from .pages import WIDE, Notebook, Served

NOTEBOOKS = server.CHECKOUT / "notebooks"


@pytest.fixture(scope="session")
def _tools() -> None:
    """Skip where the tools are missing."""
    if reason := server.missing("playwright", "axe_playwright_python", "jupyterlab", "ipykernel", "notebook", "voila"):
        pytest.skip(reason)


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that is served."""
    return tmp_path_factory.mktemp("notebooks")


@pytest.fixture(scope="session")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that holds the server's settings, and nothing of the user's."""
    return tmp_path_factory.mktemp("jupyter")


@pytest.fixture(scope="session")
def address(_tools: None, folder: Path, scratch: Path) -> Iterator[str]:
    """The address of a running server."""
    with server.jupyterlab(folder, scratch) as address:
        yield address


Open = Callable[..., Any]


@contextmanager
def _opener(address: str, folder: Path, chromium: Any) -> Iterator[Open]:
    pages: list[Served] = []

    def opened(path: Path, host: type[Served] = Notebook) -> Served:
        own = Path(tempfile.mkdtemp(dir=folder))  # pages of one file would share a kernel
        shutil.copy(path, own)
        pages.append(host(chromium.new_context(viewport=WIDE).new_page(), address))
        return pages[-1].open(f"{own.name}/{path.name}")

    yield opened
    for page in pages:
        page.shut_down()
        page.page.context.close()


@pytest.fixture(scope="module")
def opened(address: str, folder: Path, chromium: Any) -> Iterator[Open]:
    """Open a copy of a notebook in a fresh page of a host."""
    with _opener(address, folder, chromium) as opened:
        yield opened


@pytest.fixture(scope="package")
def ran(address: str, folder: Path, chromium: Any) -> Iterator[Callable[[Path], Notebook]]:
    """A notebook run from top to bottom in JupyterLab, in one page for all tests that look at it."""
    with _opener(address, folder, chromium) as opened:

        @cache
        def run(path: Path) -> Notebook:
            notebook = opened(path)
            notebook.run_all()
            return notebook

        yield run


@pytest.fixture(scope="module")
def notebook(request: pytest.FixtureRequest, ran: Callable[[Path], Notebook]) -> Notebook:
    """The notebook that the test file names as its PATH, run from top to bottom."""
    return ran(request.module.PATH)


@pytest.fixture
def shown(request: pytest.FixtureRequest, notebook: Notebook) -> Callable[..., Lab]:
    """Give a lab of that notebook by its label, back at its defaults or at other params.

    The test file's AXES says for each label which control is its axis, and how its slider is called.
    """
    axes = request.module.AXES
    return lambda label, **params: notebook.lab(label).reset(*axes[label], **params)


@pytest.fixture(scope="package")
def every_lab(ran: Callable[[Path], Notebook], folder: Path) -> Notebook:
    """Every lab in one notebook, run."""
    return ran(written.every_lab(folder / "every_lab.ipynb"))


@pytest.fixture
def screenshots() -> str | None:
    """Where pictures of the page are kept, if the one who runs the tests wants to look at them."""
    return os.environ.get("GRADLAB_SCREENSHOTS")
