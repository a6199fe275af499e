"""Where the golden files are, the outcome "unsupported", and the lines that sum up what became of
their scenarios.

`tests/conftest.py` registers this module with pytest: of several processes the first one collects
nothing, and would not read a conftest.py of this folder.
"""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from tests.conformance.scenarios import OWN_GOLDEN

UNSUPPORTED = "unsupported: "
OUTCOMES = ("passed", "failed", "unsupported")


def golden_directory(config: pytest.Config) -> Path:
    given = config.getoption("--golden", default=None)
    directory = (config.invocation_params.dir / given) if given else OWN_GOLDEN
    if not any(directory.glob("*.json")):
        raise pytest.UsageError(f"--golden: no *.json files in {directory}")
    return directory


def outcome(report: pytest.TestReport) -> str:
    """passed, failed or unsupported; pytest itself would call the last one skipped."""
    reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else ""
    return "unsupported" if report.skipped and UNSUPPORTED in reason else report.outcome


def lines(stats: dict[str, list[Any]]) -> list[str]:
    """`golden FILE: P passed, F failed, U unsupported` per file, then the ids that did not pass, by
    group.
    """
    found = []
    for file, by_outcome in sorted(tally(stats).items()):
        counts = ", ".join(f"{sum(map(len, by_outcome[o].values()))} {o}" for o in OUTCOMES)
        found.append(f"golden {file}: {counts}")
        for kind in ("failed", "unsupported"):
            found += [
                f"  {kind} {group} ({len(ids)}): {' '.join(ids)}"
                for group, ids in by_outcome[kind].items()
            ]
    return found


def tally(stats: dict[str, list[Any]]) -> dict[str, dict[str, dict[str, list[str]]]]:
    """file -> outcome -> group -> ids, from the reports that carry a scenario."""
    counts: dict[str, Any] = defaultdict(lambda: {o: defaultdict(list) for o in OUTCOMES})
    reports = [r for rs in stats.values() for r in rs if isinstance(r, pytest.TestReport)]
    for report in reports:
        for file, group, name in [v for k, v in report.user_properties if k == "golden"]:
            result = outcome(report)
            if report.when == "call" or result != "passed":
                counts[file][result if result in OUTCOMES else "unsupported"][group].append(name)
    return counts


def pytest_report_teststatus(report: pytest.TestReport | pytest.CollectReport) -> Any:
    if isinstance(report, pytest.TestReport) and outcome(report) == "unsupported":
        return "unsupported", "U", "UNSUPPORTED"
    return None


def pytest_terminal_summary(terminalreporter: Any) -> None:
    for line in lines(terminalreporter.stats):
        terminalreporter.write_line(line)
