"""The one place that imports PyTorch."""

from __future__ import annotations

from typing import Any

from .._base.extras import need


def library() -> Any:
    """Return torch, or raise an ImportError that says how to install it."""
    return need("torch", "gl.torch", "torch")
