"""The one place that imports optax."""

from __future__ import annotations

from typing import Any


def library() -> Any:
    """optax, or an ImportError that says how to get it."""
    try:
        import optax
    except ImportError as error:
        raise ImportError('gl.optax needs optax, which is not installed: pip install "gradlab[optax]"') from error
    return optax
