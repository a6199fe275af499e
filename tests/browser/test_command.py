"""`gradlab lab` in earnest: a folder of copies, and a JupyterLab whose first page is the one that was asked for."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

import gradlab as gl
from gradlab._base import notebooks
from gradlab._base.addresses import at_launch
from tests.browser import server
from tests.browser.conftest import NOTEBOOKS
from tests.browser.lab import until
from tests.browser.pages import Linked
from tests.browser.written import written

pytestmark = pytest.mark.browser


STATE = gl.labs.clip_arrows(limit=3.0).link()
LAUNCH = "https://mybinder.org/v2/gh/me/gradlab/1f2e"
TOKEN = "let-me-in"

# What BinderHub's page does with `urlpath` once the server is up.
REDIRECT = """([launch, server, token]) => {
  const page = new URL(new URL(launch).searchParams.get("urlpath").replace(/^[/]*/, ""), server);
  page.searchParams.append("token", token);
  return page.href }"""


def test_it_opens_the_notebook_of_a_link(chromium: Any, tmp_path: Path) -> None:
    with server.jupyterlab(tmp_path, tmp_path / "jupyter", ("gradlab", "lab", "mine", STATE, "--")) as address:
        page = chromium.new_page()
        page.goto(address, wait_until="domcontentloaded")
        page.get_by_role("heading", name=dict(notebooks.titles())["02_clipping.ipynb"]).first.wait_for()
        assert page.url.endswith("/lab/tree/02_clipping.ipynb")
        assert STATE in page.evaluate("performance.getEntriesByType('navigation')[0].name")
        page.close()
    names = {path.name for path in (tmp_path / "mine").glob("*.ipynb")}
    assert names == {path.name for path in NOTEBOOKS.glob("*.ipynb")}


def test_on_binder_a_lab_opens_where_it_was_copied(chromium: Any, tmp_path: Path, monkeypatch: Any) -> None:
    """All but the launch itself: its redirect to a server below /user/NAME/ with a token, there and back."""
    monkeypatch.setenv("BINDER_LAUNCH_HOST", "https://mybinder.org/")
    monkeypatch.setenv("BINDER_PERSISTENT_REQUEST", LAUNCH.partition("org/")[2])
    own = written(tmp_path / "my lab.ipynb", "import gradlab as gl", "gl.labs.clip_arrows()")
    launch = at_launch(LAUNCH, f"lab/tree/{quote(own.name)}{STATE}")
    scratch = tmp_path / "jupyter"
    with server.jupyterlab(tmp_path, scratch, base="/user/me-gradlab-7/", token=TOKEN) as address:
        notebook = Linked(chromium.new_page(), address)
        notebook.open(notebook.page.evaluate(REDIRECT, [launch, f"{address}/", TOKEN]))
        notebook.run_all()
        lab = notebook.lab(gl.labs.clip_arrows.label)
        until(lambda: lab.params()["limit"] == 3.0, saying="the kernel holds what the link says")
        assert notebook.copied_link() == launch
        assert not notebook.troubles
        notebook.shut_down()
        notebook.page.close()
