"""Tests that run TensorFlow are skipped where it is missing; GRADLAB_REQUIRE (`tests/conftest.py`) turns that round."""

from __future__ import annotations

import importlib.util

import pytest


def need_tensorflow() -> None:
    """Skip unless TensorFlow can be imported."""
    if importlib.util.find_spec("tensorflow") is None:
        pytest.skip("TensorFlow is not installed: it is in the extra oracle")
