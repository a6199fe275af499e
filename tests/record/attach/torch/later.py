"""Libraries that are imported when something of them is first used: each worker collects the tests,
one runs them.
"""

from __future__ import annotations

import importlib
from typing import Any


class Later:
    """Stands for a module."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        if attribute.startswith(("__", "_mock")):  # what pytest asks of everything in a module
            raise AttributeError(attribute)
        return getattr(importlib.import_module(self._name), attribute)


torch: Any = Later("torch")
lightning: Any = Later("lightning.pytorch")
transformers: Any = Later("transformers")
