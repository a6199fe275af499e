"""Accessibility as axe-core sees it: the rules of WCAG 2.1, levels A and AA."""

from __future__ import annotations

from typing import Any

TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]
OUTPUTS = ".jp-OutputArea-output"


def axe() -> Any:
    """Return axe-core; imported here, so that tests can be collected where it is not installed."""
    from axe_playwright_python.sync_playwright import Axe

    return Axe()


def violations(page: Any, selector: str = OUTPUTS) -> list[str]:
    """Give what axe-core finds inside `selector`, one text for each element: rule, impact, place,
    HTML and why.

    What is scrolled away counts as hidden; show a notebook as a `whole` before.
    """
    found = axe().run(
        page, context=selector, options={"runOnly": TAGS, "resultTypes": ["violations"]}
    )
    return [
        (
            f"{rule['id']} ({rule['impact']}) at {node['target']}: {node['html'][:200]}\n    "
            f"{node['failureSummary']}"
        )
        for rule in found.response["violations"]
        for node in rule["nodes"]
    ]
