"""One JupyterLab for all tests here; a fresh page, and so a fresh kernel, for each notebook opened."""

from __future__ import annotations

import importlib.util
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from . import server
from .pages import Notebook

NOTEBOOKS = server.CHECKOUT / "notebooks"


def _missing() -> str | None:
    for module in ("playwright", "jupyterlab", "ipykernel"):
        if importlib.util.find_spec(module) is None:
            return f"{module} is not installed"
    return None if server.chromium_path() else "there is no chromium on the PATH"


@pytest.fixture(scope="session")
def _tools() -> None:
    """Skip where the tools are missing."""
    if reason := _missing():
        pytest.skip(reason)


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that JupyterLab serves."""
    return tmp_path_factory.mktemp("notebooks")


@pytest.fixture(scope="session")
def address(_tools: None, folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a running JupyterLab."""
    with server.jupyterlab(folder, tmp_path_factory.mktemp("jupyter")) as address:
        yield address


# Not for the session: Playwright allows one connection in a process at a time, and other folders make their own.
@pytest.fixture(scope="module")
def browser(_tools: None) -> Iterator[Any]:
    """A running Chromium."""
    with server.chromium() as browser:
        yield browser


@pytest.fixture(scope="module")
def opened(address: str, folder: Path, browser: Any) -> Iterator[Callable[..., Notebook]]:
    """Open a copy of a notebook in a fresh page, or the earlier copy again."""
    pages: list[Notebook] = []

    def open_copy(path: Path, *, copy: bool = True) -> Notebook:
        if copy:
            shutil.copy(path, folder / path.name)
        page = browser.new_context(viewport={"width": 1100, "height": 900}).new_page()
        pages.append(Notebook(page, address))
        return pages[-1].open(path.name)

    yield open_copy
    for notebook in pages:
        notebook.shut_down()
        notebook.page.context.close()


@pytest.fixture
def screenshots() -> str | None:
    """Where pictures of the page are kept, if the one who runs the tests wants to look at them."""
    return os.environ.get("GRADLAB_SCREENSHOTS")
