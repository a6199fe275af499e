"""The `--golden DIR` option, the outcome "unsupported", and the summary lines."""

from __future__ import annotations

from typing import Any

import pytest

from .summary import lines, outcome


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--golden", metavar="DIR", default=None, help="run the golden files in DIR, not tests/golden")


def pytest_report_teststatus(report: pytest.TestReport | pytest.CollectReport) -> Any:
    if isinstance(report, pytest.TestReport) and outcome(report) == "unsupported":
        return "unsupported", "U", "UNSUPPORTED"
    return None


def pytest_terminal_summary(terminalreporter: Any) -> None:
    for line in lines(terminalreporter.stats):
        terminalreporter.write_line(line)
