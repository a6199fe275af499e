"""A recorded run as one HTML page that stands alone: `gl.Report`, and `gradlab report` on the command line."""

from .report import Report

__all__ = ["Report"]


def __dir__() -> list[str]:
    return __all__
