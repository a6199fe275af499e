"""Errors and warnings. Each error is also one of Python's own types, so plain `except ValueError` works."""

from ._base.errors import *  # noqa: F403
from ._base.errors import __all__ as __all__
