"""One server for all tests here, with JupyterLab, Notebook 7 and Voila, and one page of JupyterLab.

Each notebook is shown in that page with a kernel of its own, after the one before is closed; where a page is the thing
that is tested, a test opens a fresh one.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.browser import server, written
from tests.browser.lab import Lab
from tests.browser.pages import WIDE, Notebook, Served

NOTEBOOKS = server.CHECKOUT / "notebooks"


@pytest.fixture(scope="session")
def _tools() -> None:
    """Fail where the tools are missing."""
    if reason := server.missing("playwright", "axe_playwright_python", "jupyterlab", "ipykernel", "notebook", "voila"):
        pytest.fail(reason)


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


def own_copy(path: Path, folder: Path) -> str:
    """Copy a notebook into a folder of its own, for those of one path share a kernel; give its name for the server."""
    own = Path(tempfile.mkdtemp(dir=folder))
    shutil.copy(path, own)
    return f"{own.name}/{path.name}"


@pytest.fixture(scope="module")
def opened(address: str, folder: Path, chromium: Any) -> Iterator[Open]:
    """Open a copy of a notebook in a fresh page of a host."""
    pages: list[Served] = []

    def opened(path: Path, host: type[Served] = Notebook) -> Served:
        pages.append(host(chromium.new_context(viewport=WIDE).new_page(), address))
        return pages[-1].open(own_copy(path, folder))

    yield opened
    for page in pages:
        page.shut_down()
        page.page.context.close()


@pytest.fixture(scope="session")
def jupyterlab(address: str, folder: Path, chromium: Any) -> Iterator[tuple[Notebook, dict[str, str]]]:
    """One page of JupyterLab, and a kernel in which nothing has run, for what is only looked at."""
    page = Notebook(chromium.new_context(viewport=WIDE).new_page(), address)
    page.open(own_copy(written.written(folder / "nothing.ipynb"), folder))
    yield page, page.lent()
    page.page.context.close()  # the server ends the last kernels


@pytest.fixture(scope="session")
def not_run(jupyterlab: tuple[Notebook, dict[str, str]], folder: Path) -> Callable[[Path], Notebook]:
    """Show a copy of a notebook in JupyterLab as it is saved."""
    page, kernel = jupyterlab
    return lambda path: page.turn_to(own_copy(path, folder), kernel)


@pytest.fixture(scope="module")
def ran(jupyterlab: tuple[Notebook, dict[str, str]], folder: Path) -> Callable[[Path], Notebook]:
    """Show a copy of a notebook in JupyterLab, and run it from top to bottom in a kernel of its own."""
    page, _ = jupyterlab

    def run(path: Path) -> Notebook:
        notebook = page.turn_to(own_copy(path, folder))
        notebook.run_all()
        return notebook

    return run


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


@pytest.fixture(scope="module")
def everything(ran: Callable[[Path], Notebook], folder: Path) -> Notebook:
    """Every lab and prediction, and all else that the notebooks show, in one notebook, run."""
    return ran(written.everything(folder / "everything.ipynb", NOTEBOOKS))


@pytest.fixture
def screenshots() -> str | None:
    """Where pictures of the page are kept, if the one who runs the tests wants to look at them."""
    return os.environ.get("GRADLAB_SCREENSHOTS")
