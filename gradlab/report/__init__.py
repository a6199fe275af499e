"""A recorded run as one HTML page that stands alone: `gl.Report`, and `gradlab report` on the command line."""

from typing import TYPE_CHECKING

from .._base.suggest import only_public as _only_public
from .report import Report

__all__ = ["Report"]

if not TYPE_CHECKING:
    __getattr__, __dir__ = _only_public(__name__)
