"""What `import gradlab` costs a program that already has NumPy, in fresh processes."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
from collections.abc import Iterator

from tests.benchmarks.table import Row, percentile

RUNS = 15
STATEMENTS = (
    "import gradlab",
    "from gradlab import clip_by_global_norm",
    "from gradlab import train",
    "import optax",
)

PROGRAM = """
import json, sys, time, numpy
before = set(sys.modules)
start = time.perf_counter()
{statement}
took = 1000 * (time.perf_counter() - start)
others = {{name.partition(".")[0] for name in set(sys.modules) - before}} - sys.stdlib_module_names
print(json.dumps([took, sorted(others)]))
"""


def rows() -> Iterator[Row]:
    """One row for each statement, with the packages it pulled in."""
    ours = None
    for statement in STATEMENTS:
        runs = []
        for _ in range(RUNS):
            asked = subprocess.run(
                [sys.executable, "-c", PROGRAM.format(statement=statement)],
                capture_output=True,
                text=True,
                check=False,
            )
            if asked.returncode:
                yield Row(
                    "import after NumPy",
                    statement,
                    note=f"not measured: {asked.stderr.strip().splitlines()[-1]}",
                )
                break
            runs.append(json.loads(asked.stdout))
        else:
            times = [took for took, _ in runs]
            median = statistics.median(times)
            ours = ours or median
            note = "pulled " + ", ".join(_shown(runs[-1][1]))
            yield Row(
                "import after NumPy",
                statement,
                median,
                percentile(times, 95),
                median / ours,
                note=note,
            )


def _shown(names: list[str]) -> list[str]:
    """Public packages only; a dozen is enough to see the kind."""
    public = [name for name in names if not name.startswith("_")]
    return public[:12] + (["…"] if len(public) > 12 else [])
