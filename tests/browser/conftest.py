"""One server for all tests here, with JupyterLab, Notebook 7 and Voila, and one page of JupyterLab.

What labs do is tried on a page that holds all of them. Other notebooks are shown in one page, one
after another; where a page is the thing that is tested, a test opens a fresh one.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

import gradlab as gl
from gradlab._base import addresses
from tests.browser import server, written
from tests.browser.lab import Lab
from tests.browser.pages import WIDE, Notebook, Served

NOTEBOOKS = server.CHECKOUT / "notebooks"
FORK = "me/gradlab"
LAUNCH = addresses.on_binder("", repository=FORK).partition("lab/tree/")[0]
LINKED = gl.labs.clip_arrows(method="norm", limit=3.0)


@pytest.fixture(scope="session")
def _tools() -> None:
    """Fail where the tools are missing."""
    if reason := server.missing(
        "playwright", "axe_playwright_python", "jupyterlab", "ipykernel", "notebook", "voila"
    ):
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


def own_copy(path: Path, folder: Path) -> str:
    """Copy a notebook into a folder of its own, for those of one path share a kernel; give its name
    for the server.
    """
    own = Path(tempfile.mkdtemp(dir=folder))
    shutil.copy(path, own)
    return f"{own.name}/{path.name}"


@pytest.fixture(scope="session")
def dashboard(_tools: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a running dashboard, which asks for a token; a linked lab is shown first."""
    folder = tmp_path_factory.mktemp("dashboard")
    with server.dashboard(folder, folder / "jupyter", LINKED.link()) as address:
        yield address


@pytest.fixture(scope="session")
def hub(_tools: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """Address and folder of a `gradlab lab` that was asked for a lab, and is on a hub, launched by
    Binder.

    It asks for a token.
    """
    folder = tmp_path_factory.mktemp("hub")
    start, base = ("gradlab", "lab", "mine", LINKED.link(), "--"), "/user/me-gradlab-7/"
    with ExitStack() as stack:
        # While the server starts: other tests are on no hub.
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("BINDER_LAUNCH_HOST", "https://mybinder.org/")
            patch.setenv("BINDER_REQUEST", f"v2/gh/{FORK}/binder")
            patch.setenv("BINDER_REPO_URL", f"https://github.com/{FORK}")
            hub = server.jupyterlab(folder, folder / "jupyter", start, base, server.TOKEN)
            address = stack.enter_context(hub)
        yield address, folder / "mine"


@pytest.fixture(scope="session")
def reader(chromium: Any) -> Iterator[Any]:
    """One reader for all pages: the second page has from his browser's cache what takes long,
    JupyterLab compiled.
    """
    context = chromium.new_context(viewport=WIDE)
    yield context
    context.close()


@pytest.fixture(scope="session")
def fresh(address: str, folder: Path, reader: Any) -> Callable[..., Any]:
    """Open a copy of a notebook in a page of its own."""

    def opened(path: Path, host: type[Served] = Notebook) -> Served:
        return host(reader.new_page(), address).open(own_copy(path, folder))

    return opened


@pytest.fixture(scope="module")
def opened(fresh: Callable[..., Any]) -> Iterator[Callable[..., Any]]:
    """Open a copy of a notebook in a page of its own, which is closed after the tests of the file."""
    pages: list[Served] = []

    def opened(path: Path, host: type[Served] = Notebook) -> Served:
        pages.append(fresh(path, host))
        return pages[-1]

    yield opened
    for page in pages:
        page.shut_down()
        page.page.close()


@pytest.fixture(scope="session")
def jupyterlab(
    fresh: Callable[..., Any], folder: Path
) -> Iterator[tuple[Notebook, dict[str, str]]]:
    """One page of JupyterLab, and a kernel in which nothing has run, for what is only looked at."""
    page = fresh(written.written(folder / "nothing.ipynb"))
    yield page, page.lent()
    page.page.close()  # the server ends the last kernels


@pytest.fixture(scope="session")
def not_run(
    jupyterlab: tuple[Notebook, dict[str, str]], folder: Path
) -> Callable[[Path], Notebook]:
    """Show a copy of a notebook in JupyterLab as it is saved."""
    page, kernel = jupyterlab
    return lambda path: page.turn_to(own_copy(path, folder), kernel)


@pytest.fixture(scope="session")
def turned(jupyterlab: tuple[Notebook, dict[str, str]], folder: Path) -> Callable[[Path], Notebook]:
    """Show a copy of a notebook in JupyterLab with a kernel of its own, in which nothing has run."""
    page, _ = jupyterlab
    return lambda path: page.turn_to(own_copy(path, folder))


@pytest.fixture(scope="session")
def ran(turned: Callable[[Path], Notebook]) -> Callable[[Path], Notebook]:
    """Show a copy of a notebook in JupyterLab, and run it from top to bottom in a kernel of its
    own.
    """

    def run(path: Path) -> Notebook:
        notebook = turned(path)
        notebook.run_all()
        return notebook

    return run


@pytest.fixture(scope="session")
def everything(fresh: Callable[..., Any], folder: Path) -> Iterator[Notebook]:
    """Every lab and prediction, and all else that notebooks show, in one notebook, run; it has a
    page of its own.
    """
    page = fresh(written.everything(folder / "everything.ipynb", NOTEBOOKS))
    page.run_all(at_once=False)
    yield page
    page.page.close()


@pytest.fixture
def shown(everything: Notebook) -> Iterator[Callable[..., Lab]]:
    """Give one of all labs by its label, back at its defaults or at other params, with a target;
    nothing may fail.
    """
    everything.page.bring_to_front()
    yield lambda label, target=None, **params: everything.lab(label).reset(target, **params)
    assert everything.troubles == []


@pytest.fixture
def screenshots() -> str | None:
    """Where pictures of the page are kept, if the one who runs the tests wants to look at them."""
    return os.environ.get("GRADLAB_SCREENSHOTS")
