"""The first notebook in JupyterLab: it runs from top to bottom and is accessible."""

from __future__ import annotations

import pytest

from tests.browser.axe import assert_accessible
from tests.browser.conftest import NOTEBOOKS
from tests.browser.pages import Notebook

pytestmark = pytest.mark.browser

PATH = NOTEBOOKS / "00_start_here.ipynb"


def test_it_is_accessible(notebook: Notebook) -> None:
    assert_accessible(notebook)


def test_nothing_failed_and_nothing_left_the_machine(notebook: Notebook) -> None:
    assert notebook.troubles == []
    assert len(notebook.requests) > 10  # requests are seen at all
