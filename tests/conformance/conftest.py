"""The `--golden DIR` option."""

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--golden", metavar="DIR", default=None, help="run the golden files in DIR, not tests/golden")
