"""The one place that imports optax."""

from __future__ import annotations

from typing import Any

from .._base.extras import need


def library() -> Any:
    """Return optax, or raise an ImportError that says how to install what is missing."""
    need("jax", "gl.optax")  # which optax itself needs
    return need("optax", "gl.optax", "optax")
