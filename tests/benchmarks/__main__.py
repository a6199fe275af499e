"""Print one table of measurements: `python -m tests.benchmarks [PART ...] [--who WORD]`; all parts by default."""

from __future__ import annotations

import argparse
import dataclasses
import os
from collections.abc import Iterator

from tests.benchmarks import (
    accumulators,
    adagrad,
    checkpoints,
    clip,
    embeddings,
    first,
    imports,
    labs,
    latency,
    logs,
    machine,
    optimizers,
    recommender,
    recording,
    sweep,
    table,
    workers,
)
from tests.benchmarks.contestants import CONTESTANTS

PARTS = {
    "clip": clip.rows,
    "adagrad": adagrad.rows,
    "optimizers": optimizers.rows,
    "accumulators": accumulators.rows,
    "embeddings": embeddings.rows,
    "recommender": recommender.rows,
    "checkpoints": checkpoints.rows,
    "import": imports.rows,
    "latency": latency.rows,
    "labs": labs.rows,
    "first": first.rows,
    "sweep": sweep.rows,
    "workers": workers.rows,
    "recording": recording.rows,
    "logs": logs.rows,
}
IN_THE_BROWSER = {"latency", "first"}


def main() -> None:
    """Measure what was asked for, all of it by default; print each row when it is there."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description=__doc__)
    parser.add_argument(
        "parts", nargs="*", metavar="PART", help=f"{', '.join(PARTS)} (default: all)"
    )
    parser.add_argument(
        "--who", default="", metavar="WORD", help="in the browser: only those whose name holds WORD"
    )
    options = parser.parse_args()
    unknown = set(options.parts) - PARTS.keys()
    if unknown:
        parser.error(f"unknown part {', '.join(sorted(unknown))}: choose from {', '.join(PARTS)}")
    # Or each kernel that is started compiles all that it imports again.
    os.environ["PYTHONDONTWRITEBYTECODE"] = ""
    print(f"{machine.description()}\n\n{table.head()}", flush=True)
    for part in options.parts or PARTS:
        for row in _compared(part, options.who):
            print(table.line(row.cells()), flush=True)


def _compared(part: str, who: str) -> Iterator[table.Row]:
    """The rows of one part; those from the browser are compared with the first of them, gradlab's
    own lab.
    """
    if part not in IN_THE_BROWSER:
        yield from PARTS[part]()
        return
    own = None
    for row in PARTS[part]([c for c in CONTESTANTS if who in c.name]):
        own = own or row.median
        yield dataclasses.replace(row, ratio=row.median / own if row.median and own else None)


if __name__ == "__main__":
    main()
