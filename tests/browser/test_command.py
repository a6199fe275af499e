"""`gradlab lab` in earnest: a folder of copies, and a JupyterLab whose first page is the one that
was asked for.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import quote, urljoin

import pytest

from gradlab._base.addresses import at_launch
from tests.browser import server
from tests.browser.conftest import LAUNCH, LINKED, NOTEBOOKS
from tests.browser.lab import until
from tests.browser.pages import Linked
from tests.browser.written import written

pytestmark = pytest.mark.browser

# What BinderHub's page does with `urlpath` once the server is up, and nbgitpuller's once it has
# pulled. The token lets the reader in at the first of the two; here it goes with the second.
REDIRECT = """([launch, server, token]) => {
  const pull = new URL(new URL(launch).searchParams.get("urlpath").replace(/^[/]*/, ""), server);
  pull.searchParams.append("token", token);
  const page = new URL(server + pull.searchParams.get("urlpath"));
  page.searchParams.append("token", pull.searchParams.get("token"));
  return page.href }"""


def test_on_binder_a_lab_opens_where_it_was_copied(hub: tuple[str, Path], chromium: Any) -> None:
    """All but the launch and the pull: their redirects to a server below /user/NAME/ with a token,
    there and back.
    """
    address, folder = hub
    own = written(folder / "my lab.ipynb", "import gradlab as gl", "gl.labs.clip_arrows()")
    launch = at_launch(LAUNCH, f"lab/tree/{quote(own.name)}{LINKED.link()}")
    notebook = Linked(chromium.new_page(), address)
    notebook.open(notebook.page.evaluate(REDIRECT, [launch, f"{address}/", server.TOKEN]))
    notebook.run_all()
    lab = notebook.lab(LINKED.label)
    until(lambda: lab.params() == LINKED.params, saying="the kernel holds what the link says")
    assert notebook.copied_link() == launch
    assert not notebook.troubles
    notebook.shut_down()
    notebook.page.close()


def test_it_opens_the_notebook_of_a_link(hub: tuple[str, Path], chromium: Any) -> None:
    """The first page leads there; that its lab is at the state of an address, the test above shows."""
    address, folder = hub
    context = chromium.new_context()
    # A cookie lets him in from now on.
    assert context.request.get(f"{address}/lab?token={server.TOKEN}").ok
    first = context.request.get(f"{address}/", max_redirects=0)
    assert first.status == 302
    # An empty query, behind the hash.
    place = urljoin(first.url, first.headers["location"]).removesuffix("?")
    assert place == f"{address}/lab/tree/02_clipping.ipynb{LINKED.link()}"
    context.close()
    names = {path.name for path in NOTEBOOKS.glob("*.ipynb")}
    assert {path.name for path in folder.glob("*.ipynb")} - {"my lab.ipynb"} == names
