"""`gradlab lab` in earnest: a folder of copies, and a JupyterLab whose first page is the first notebook."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from . import server
from .conftest import NOTEBOOKS

pytestmark = pytest.mark.browser


def test_it_opens_the_first_notebook(chromium: Any, tmp_path: Path) -> None:
    start = ("gradlab", "lab", "mine", "--")
    with server.jupyterlab(tmp_path, tmp_path / "jupyter", start) as address:
        page = chromium.new_page()
        page.goto(address, wait_until="domcontentloaded")
        page.get_by_role("heading", name="gradlab: what happens to a gradient").first.wait_for()
        assert page.url.endswith("/lab/tree/00_start_here.ipynb")
        page.close()
    names = {path.name for path in (tmp_path / "mine").glob("*.ipynb")}
    assert names == {path.name for path in NOTEBOOKS.glob("*.ipynb")}
