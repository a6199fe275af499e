"""The `--golden DIR` option, and TensorFlow for the tests that run it beside gradlab."""

from typing import Any

import pytest

from tests.golden.tensorflow_values import tensorflow


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--golden",
        metavar="DIR",
        default=None,
        help="run the golden files in DIR, not tests/golden",
    )


@pytest.fixture(scope="session")
def tf() -> Any:
    """The tensorflow module."""
    return tensorflow()
