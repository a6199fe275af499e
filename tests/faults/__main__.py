"""`python -m tests.faults --minutes 30`: every fault as often as the time allows, and a table of what was lost."""

from __future__ import annotations

import argparse
import importlib.util
import sys
import tempfile
import time
from pathlib import Path

from tests.faults.catalog import FAULTS, ON_RAY
from tests.faults.fault import Fault, tried

_WIDTH = 84  # of the first column


def run(fault: Fault, seconds: float, seed: int) -> tuple[int, list[str], str]:
    """How often it was tried, what each loss was, and the last figure."""
    tries, losses, figure, end = 0, [], "", time.monotonic() + seconds
    while tries < max(fault.short, 1) or time.monotonic() < end:
        # An encoder may outlive who is killed.
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            lost, figure = tried(fault.long or fault.once, Path(folder), seed + tries)
        if lost:
            losses.append(f"seed {seed + tries}: {lost}")
        tries += 1
    return tries, losses, figure


def main() -> int:
    """1 if anything was lost that may not be."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    parser.add_argument("--minutes", type=float, default=30, help="for all faults together")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="faults whose name contains this")
    given = parser.parse_args()
    there = [*FAULTS, *(ON_RAY if importlib.util.find_spec("ray") else [])]
    chosen = [fault for fault in there if given.only in fault.name]
    failed = False
    print(f"{'fault':<{_WIDTH}} {'tries':>7} {'lost':>5}", flush=True)
    for fault in chosen:
        tries, losses, figure = run(fault, 60 * given.minutes / len(chosen), given.seed)
        print(
            f"{fault.name:<{_WIDTH}} {tries:>7,} {len(losses):>5,}  {figure}".rstrip(), flush=True
        )
        for loss in losses[:3]:
            print(f"    {loss}", flush=True)
        failed |= len(losses) > fault.allowed * tries
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
