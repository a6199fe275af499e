"""Tests that run TensorFlow: skipped with the reason where it is missing, failed where it is required."""

from __future__ import annotations

import importlib.util
import os

import pytest


def need_tensorflow() -> None:
    """Skip unless TensorFlow can be imported; fail instead if the variable GRADLAB_REQUIRE names it."""
    if importlib.util.find_spec("tensorflow"):
        return
    reason = "TensorFlow is not installed: python -m pip install 'gradlab[oracle]'"
    if "tensorflow" in os.environ.get("GRADLAB_REQUIRE", ""):
        pytest.fail(f"GRADLAB_REQUIRE asks for it, but {reason}")
    pytest.skip(reason)
