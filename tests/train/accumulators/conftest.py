"""What several tests of accumulators need."""

from collections.abc import Iterator

import pytest

import gradlab as gl


@pytest.fixture
def in_a_graph() -> Iterator[None]:
    """Where strict sparse accumulators can be made."""
    with gl.Graph().as_default():
        yield
