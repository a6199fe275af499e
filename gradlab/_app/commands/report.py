"""`gradlab report RUN.npz`: a recorded run as one HTML page, and its key sentences in the terminal."""

from __future__ import annotations

import argparse
import webbrowser
from pathlib import Path
from typing import Any

from ..._base.notebooks import UsageError


def add(commands: Any) -> None:
    """Add the command to the parser's `commands`."""
    report = commands.add_parser("report", help="write a page on a run that gl.Recorder recorded")
    report.add_argument("run", type=Path, metavar="RUN.npz", help="what Recorder.save wrote")
    report.add_argument("-o", "--output", type=Path, metavar="FILE.html", help="the page (default: RUN.html beside it)")
    report.add_argument("--limit", type=float, metavar="L", help="ask about this limit, not about the suggested one")
    report.add_argument("--still", action="store_true", help="pictures in place of figures that move: a small file")
    report.add_argument("--open", action="store_true", help="open the page in the browser")
    report.set_defaults(act=_report)


def _report(options: argparse.Namespace) -> None:
    from ...report import Report

    try:
        report = Report(options.run, limit=options.limit, labs=not options.still)
    except OSError as error:
        raise UsageError(f"cannot read {options.run}: {error.strerror or error}") from error
    except ValueError as error:
        raise UsageError(str(error)) from error
    page = options.output or options.run.with_suffix(".html")
    try:
        report.save(page)
    except (OSError, ValueError) as error:
        raise UsageError(f"cannot write {page}: {getattr(error, 'strerror', None) or error}") from error
    print("\n".join(report.sentences))
    print(f"wrote {page}")
    if options.open:
        webbrowser.open(page.resolve().as_uri())
