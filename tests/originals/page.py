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

The test suites of TensorFlow, Keras, tf_keras, optax, and jax-tpu-embedding, run against gradlab. Nothing of theirs is
kept here: `python -m tests.originals` reads what an installed package holds, `--sources DIR` a folder of
`ORIGIN-TAG/path/in/its/repository`. A case's own text runs; a thin stand-in gives it gradlab's optimizers, training
ops, clips, schedules, averages, accumulators and embeddings under the original's names, and NumPy for everything else.
Inside a graph its tensors are nodes over `gl.Graph`; a function that the original compiles runs as it is.

A case that is *not applicable* is about something gradlab does not have: the name it would have stands beside it, and
the run fails where gradlab has that name. A case that differs *by design* runs and fails; a test of gradlab's own holds
what happens instead. Everything else passes.
"""


def page(rows: Sequence[Row], today: date) -> str:
    """The whole page."""
    total = [sum(x) for x in zip(*map(_numbers, rows), strict=True)]
    lines = [
        _HEAD,
        (
            f"Run on {today.isoformat()} with gradlab {rows[0].version}. `source` begins the "
            "SHA-256 of the file."
        ),
        "",
        "| original | file | source | cases | passed | failed | not applicable | by design |",
        "|---|---|---|---|---|---|---|---|",
        *map(table_line, rows),
        f"| all | {len(rows)} files | | {' | '.join(map(str, total))} |",
        "",
        "## Not applicable",
        "",
        "| original | cases | what gradlab does not have, and why |",
        "|---|---|---|",
        *(f"| {origin} | {n} | {why} |" for (origin, why), n in _reasons(rows, "absent").items()),
        "",
        "## Different by design",
        "",
        "| original | cases | why | held by |",
        "|---|---|---|---|",
        *_designs(rows),
    ]
    failed = [
        f"- `{row.suite.title}` ({row.suite.origin.name} {row.tag}): {case}"
        for row in rows
        for case in row.failed
    ]
    return "\n".join([*lines, *(["", "## Failed", "", *failed] if failed else [])]) + "\n"


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
