"""Accessibility as axe-core sees it: the rules of WCAG 2.1, levels A and AA."""

from __future__ import annotations

from typing import Any

from tests.browser.pages import Notebook
from tests.browser.written import labels

TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]
OUTPUTS = ".jp-OutputArea-output"


def axe() -> Any:
    """Return axe-core; imported here, so that tests can be collected where it is not installed."""
    from axe_playwright_python.sync_playwright import Axe

    return Axe()


def violations(page: Any, selector: str = OUTPUTS) -> list[str]:
    """Give what axe-core finds inside `selector`, one text for each element: rule, impact, place, HTML and why.

    What is scrolled away counts as hidden; show a notebook as a `whole` before.
    """
    found = axe().run(page, context=selector, options={"runOnly": TAGS, "resultTypes": ["violations"]})
    return [
        f"{rule['id']} ({rule['impact']}) at {node['target']}: {node['html'][:200]}\n    {node['failureSummary']}"
        for rule in found.response["violations"]
        for node in rule["nodes"]
    ]


def assert_accessible(notebook: Notebook) -> None:
    """Nothing is found in the outputs of a notebook that was run, with its labs as the tests before left them.

    Light and wide: dark, and narrow as a phone, its labs and all else that it shows are examined in one page together.
    """
    with notebook.whole():
        shown = {one.get_attribute("aria-label") for one in notebook.page.locator(".gl-live").all()}
        found = violations(notebook.page)
    assert shown <= labels(), "test_every_lab.py examines these and no others dark and narrow"
    assert not found, "\n".join(found)
