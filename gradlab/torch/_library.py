"""The one place that imports PyTorch."""

from __future__ import annotations

from typing import Any


def library() -> Any:
    """torch, or an ImportError that says how to get it."""
    try:
        import torch
    except ImportError as error:
        raise ImportError('gl.torch needs PyTorch, which is not installed: pip install "gradlab[torch]"') from error
    return torch
