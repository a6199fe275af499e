"""Errors and warnings. Each error is also one of Python's own types, so plain `except ValueError` works."""

from typing import TYPE_CHECKING

from ._base.errors import *  # noqa: F403
from ._base.errors import __all__ as __all__
from ._base.suggest import only_public as _only_public

if not TYPE_CHECKING:
    __getattr__, __dir__ = _only_public(__name__)
