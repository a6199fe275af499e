"""The page of the documentation that says what became of every suite;
`python -m tests.originals --write` writes it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import date
from pathlib import Path

from tests.originals.run import Row

PAGE = Path(__file__).parents[2] / "notebooks" / "site" / "guide" / "originals.md"

_HEAD = """# The originals' own tests

gradlab runs the test suites of TensorFlow, Keras, tf_keras, optax, and jax-tpu-embedding. The repository doesn't
contain them: `python -m tests.originals` reads them from the installed packages, or from `--sources DIR`, laid out as
`tensorflow-1.15/tensorflow/python/...`. The code of a test is unchanged. Its imports get gradlab's optimizers, training
ops, clips, schedules, averages, accumulators, and embeddings under the original's names, and NumPy for everything else.
In a graph its tensors are tensors of a `gl.Graph`. A function that the original compiles is called as it is.
"""

_KINDS = """
- *Not applicable*: it needs a name that gradlab lacks, its suite skips it, or it fails in the original on some
  machines. The reason is below. The run fails if gradlab gets such a name.
- *Expected failures*: gradlab differs by design. A test of gradlab checks what happens instead.
"""


def page(rows: Sequence[Row], today: date) -> str:
    """The whole page."""
    total = [sum(x) for x in zip(*map(_numbers, rows), strict=True)]
    cases, passed, _, absent, designed = total
    files = len({(row.suite.origin, row.suite.path) for row in rows})
    lines = [
        _HEAD,
        (
            f"{passed:,} of {cases:,} cases pass, {absent:,} ({absent / cases:.0%}) aren't applicable, "
            f"and {designed:,} fail by design. Suites of accumulators run twice, by default and with "
            '`strict="tf"`, and each run counts.'
        ),
        _KINDS,
        (
            f"Run on {today.isoformat()} with gradlab {rows[0].version}. `source` begins the "
            "SHA-256 of the file."
        ),
        "",
        "| original | file | source | cases | passed | unexpected failures | not applicable | expected failures |",
        "|---|---|---|---|---|---|---|---|",
        *map(table_line, rows),
        f"| all | {len(rows)} runs of {files} files | | {' | '.join(map(str, total))} |",
        "",
        "## Not applicable",
        "",
        "| original | cases | the name that gradlab lacks, and what it is |",
        "|---|---|---|",
        *(f"| {origin} | {n} | {why} |" for (origin, why), n in _reasons(rows, "absent").items()),
        "",
        "## Expected failures",
        "",
        "| original | cases | why | test of gradlab |",
        "|---|---|---|---|",
        *_designs(rows),
    ]
    failed = [
        f"- `{row.suite.title}` ({row.suite.origin.name} {row.tag}): {case}"
        for row in rows
        for case in row.failed
    ]
    return (
        "\n".join([*lines, *(["", "## Unexpected failures", "", *failed] if failed else [])]) + "\n"
    )


def table_line(row: Row) -> str:
    """One suite as a row of the page."""
    numbers = " | ".join(map(str, _numbers(row)))
    mode = f", {row.suite.mode}" if row.suite.mode else ""
    return (
        f"| {row.suite.origin.name} {row.tag} | `{row.suite.path}`{mode} | `{row.digest}` | "
        f"{numbers} |"
    )


def _numbers(row: Row) -> tuple[int, ...]:
    return row.cases, row.passed, len(row.failed), len(row.absent), len(row.differs)


def _reasons(rows: Sequence[Row], what: str) -> Counter[tuple[str, str]]:
    """How many cases of an original have a reason in common."""
    pairs = [
        (f"{r.suite.origin.name} {r.tag}", why) for r in rows for why in getattr(r, what).values()
    ]
    return Counter((origin, why.replace("|", "\\|")) for origin, why in pairs)


def _designs(rows: Sequence[Row]) -> list[str]:
    held = {x.reason: x.held_by for row in rows for x in row.suite.differs.values()}
    return [
        f"| {origin} | {n} | {why} | `{held[why]}` |"
        for (origin, why), n in _reasons(rows, "differs").items()
    ]
