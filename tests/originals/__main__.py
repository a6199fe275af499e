"""`python -m tests.originals [--sources DIR] [names]`: the originals' own test suites against gradlab, as a table."""

from __future__ import annotations

import argparse
import sys
from datetime import UTC, datetime
from pathlib import Path

from tests.originals.manifest import SUITES
from tests.originals.page import PAGE, page
from tests.originals.run import Row, run
from tests.originals.suites import found, missing_helpers

HEAD = (
    f"{'file':<100} {'cases':>5} {'passed':>6} {'failed':>6} {'n/a':>4} {'design':>6}  "
    "source        gradlab"
)


def line(row: Row) -> str:
    """One row of the table."""
    title = f"{row.suite.origin.name} {row.tag}: {row.suite.title}"
    counts = (
        f"{row.cases:>5} {row.passed:>6} {len(row.failed):>6} {len(row.absent):>4} "
        f"{len(row.differs):>6}"
    )
    return f"{title:<100} {counts}  {row.digest}  {row.version}"


def report(row: Row, details: bool) -> None:
    """Print a row and what is wrong with it; with `details` whole tracebacks."""
    print(line(row), flush=True)
    for case, why in row.failed.items():
        print(f"  FAILED {case}: {why if details else why.strip().splitlines()[-1][:200]}")
    for what in row.wrong:
        print(f"  MANIFEST {what}")
    if not row.adds_up:
        print("  MANIFEST the cases are not the sum of what became of them")


def main() -> int:
    """1 if a case failed, or the manifest says what is not so."""
    parser = argparse.ArgumentParser(prog="python -m tests.originals", description=__doc__)
    parser.add_argument(
        "names", nargs="*", help="only files whose origin, tag and path contain one of these"
    )
    parser.add_argument(
        "--sources", type=Path, help="a folder of ORIGIN-TAG/path/in/its/repository"
    )
    parser.add_argument(
        "--details", action="store_true", help="print the tracebacks of what failed"
    )
    parser.add_argument(
        "--write", action="store_true", help="write the page of the documentation; needs all files"
    )
    given = parser.parse_args()
    rows: list[Row] = []
    print(HEAD)
    for suite in SUITES:
        title = f"{suite.origin.folder}/{suite.title}"
        if given.names and not any(name in title for name in given.names):
            continue
        source = found(suite, given.sources)
        if source is None:
            print(f"{title}: not here; --sources DIR says where")
            continue
        if missing := missing_helpers(suite, source):
            print(
                f"{title}: not run, it imports {', '.join(missing)}; put that into "
                f"{suite.origin.folder} too"
            )
            continue
        rows.append(run(suite, source))
        report(rows[-1], given.details)
    total = [
        sum(x) for x in zip(*((r.cases, r.passed, len(r.failed)) for r in rows), strict=True)
    ] or [0, 0, 0]
    print(f"{len(rows)} files: {total[0]} cases, {total[1]} passed, {total[2]} failed")
    if given.write:
        if len(rows) < len(SUITES):
            parser.error(f"{len(rows)} of {len(SUITES)} files are here; the page is of all")
        PAGE.write_text(page(rows, datetime.now(UTC).date()), "utf-8")
    return 0 if rows and all(row.is_good for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
