"""What was left out is said, and fails where it was asked for."""

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import jax
import pytest

from . import conftest

SKIPPING = """
import pytest

@pytest.mark.browser
def test_needs_a_browser():
    pytest.skip("there is none")

def test_plain():
    pass
"""


def _report(keyword: str, reason: str) -> SimpleNamespace:
    return SimpleNamespace(keywords={keyword: 1}, longrepr=("file", 1, f"Skipped: {reason}"))


def test_the_summary_counts_by_tool() -> None:
    reports = [_report("tensorflow", "a"), _report("tensorflow", "b"), _report("browser", "c"), _report("x", "no disk")]
    assert conftest.left_out(reports) == [
        "left out: 2 TensorFlow tests: extra oracle; 1 browser tests: no Chromium found",
        "left out: 1 tests: no disk",
    ]


def test_nothing_left_out_is_no_line() -> None:
    assert conftest.left_out([]) == []
    assert conftest.left_out([_report("x", f"{conftest.ELSEWHERE}no adapter")]) == []


@pytest.mark.parametrize(
    ("require", "code", "line"),
    [
        ("", 0, "left out: 1 browser tests"),
        ("tensorflow", 0, "1 passed, 1 skipped"),
        ("browser", 1, "asks for browser"),
    ],
)
def test_a_required_tool_that_is_missing_fails(tmp_path: Path, require: str, code: int, line: str) -> None:
    (tmp_path / "test_it.py").write_text(SKIPPING)
    (tmp_path / "pytest.ini").write_text(
        "[pytest]\nmarkers =\n  binder: x\n  browser: x\n  tensorflow: x\n  torch: x\n"
    )
    root = Path(__file__).parent.parent
    command = [sys.executable, "-m", "pytest", "-p", "tests.conftest", "-p", "no:cacheprovider", str(tmp_path)]
    environment = {**os.environ, "GRADLAB_REQUIRE": require, "PYTHONPATH": str(root)}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, line in done.stdout) == (code, True), done.stdout + done.stderr


def test_files_that_take_long_come_first_and_stay_whole() -> None:
    def item(file: str, *markers: str) -> SimpleNamespace:
        return SimpleNamespace(path=Path(file), iter_markers=lambda: [SimpleNamespace(name=name) for name in markers])

    short, many, page = [item("a.py")], [item("b.py")] * 30, [item("c.py", "browser"), item("c.py")]
    notebook, long = [item("d.ipynb")] * 6, [item("e.py"), item("e.py", "browser", "long")]
    items = conftest.longest_first([*short, *many, *page, *notebook, *long])
    assert items == [*long, *notebook, *page, *many, *short]


def test_there_are_eight_devices() -> None:
    assert len(jax.devices("cpu")) == 8
