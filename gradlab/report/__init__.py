"""A recorded run as one HTML page that stands alone: `gl.Report`, and `gradlab report` on the command line."""

from .report import Report as Report
