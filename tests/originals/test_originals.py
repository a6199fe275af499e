"""The runner counts every case once and believes no manifest; the suites that packages hold pass."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.originals.__main__ import main
from tests.originals.manifest import SUITES
from tests.originals.page import PAGE, table_line
from tests.originals.run import run
from tests.originals.suites import Absent, Differs, Origin, Source, Suite, found, missing_helpers

INSTALLED = [suite for suite in SUITES if suite.origin.package]
HERE = "tests/originals/test_originals.py::test_every_case_is_counted_once"
SUITE = """
import unittest
from optax.transforms import _clipping

class Clips(unittest.TestCase):
    def test_ours(self):
        self.assertEqual(_clipping.clip.__module__, "tests.originals.stand_ins.optax")
    def test_wrong(self):
        self.assertEqual(1, 2)
    def test_on_purpose(self):
        self.assertEqual(1, 2)
    def test_not_there(self):
        _clipping.nothing
    def test_skips_itself(self):
        self.skipTest("not here")
"""
GONE = {"Clips.test_not_there": Absent("gl.clip.nothing", "gradlab has none")}
DESIGN = {"Clips.test_on_purpose": Differs("two is not one here", HERE)}


def result(**manifest: Any) -> Any:
    suite = Suite(Origin("optax", "0"), "clips_test.py", "optax", **manifest)
    return run(suite, Source(SUITE, Path("clips_test.py"), "0"))


def test_every_case_is_counted_once() -> None:
    row = result(absent=GONE, differs=DESIGN)
    assert (row.cases, row.passed, row.adds_up, row.wrong) == (5, 1, True, [])
    assert list(row.failed) == ["Clips.test_wrong"] and list(row.differs) == [
        "Clips.test_on_purpose"
    ]
    assert row.absent == {
        "Clips.test_not_there": "gl.clip.nothing: gradlab has none",
        "Clips.test_skips_itself": "skips itself: not here",
    }
    assert not row.is_good


@pytest.mark.parametrize(
    ("manifest", "words"),
    [
        (
            {"absent": {"Clips.test_ours": Absent("gl.clip_by_norm", "")}},
            "but gradlab has gl.clip_by_norm",
        ),
        (
            {"absent": {"Clips.test_ours": Absent("gl.clip_by_norm(axes)", "")}},
            "but gradlab has gl.clip_by_norm(axes)",
        ),
        (
            {"absent": {"Clips.test_other": Absent("gl.nothing", "")}},
            "Clips.test_other: no case has this name",
        ),
        (
            {"differs": {"Clips.test_ours": Differs("", HERE)}},
            "said to differ by design, but it passes",
        ),
        ({"differs": {"Clips.test_wrong": Differs("", HERE + "s")}}, "there is no test"),
    ],
)
def test_a_manifest_that_is_wrong_is_found_out(manifest: Any, words: str) -> None:
    row = result(**manifest)
    assert not row.is_good and words in "; ".join(row.wrong)


def test_a_helper_file_that_is_missing_is_named(tmp_path: Path) -> None:
    """A suite that imports one helper, which imports another."""
    origin = Origin(
        "optax",
        "0",
        helpers=("optax/tests/first.py", "optax/tests/second.py", "optax/tests/other.py"),
    )
    suite = Suite(origin, "clips_test.py", "optax")
    source = Source("from optax.tests import first", tmp_path / "clips_test.py", "0", tmp_path)
    assert missing_helpers(suite, source) == ["optax/tests/first.py"]
    (tmp_path / "optax" / "tests").mkdir(parents=True)
    (tmp_path / "optax" / "tests" / "first.py").write_text(
        "from optax.tests import second", "utf-8"
    )
    assert missing_helpers(suite, source) == ["optax/tests/second.py"]
    (tmp_path / "optax" / "tests" / "second.py").write_text("", "utf-8")
    assert missing_helpers(suite, source) == []


def test_a_run_goes_on_without_a_helper_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    origin = Origin("optax", "0", helpers=("optax/tests/first.py",))
    for name, text in {"needs.py": "from optax.tests import first", "whole.py": SUITE}.items():
        (tmp_path / origin.folder).mkdir(exist_ok=True)
        (tmp_path / origin.folder / name).write_text(text, "utf-8")
    suites = [
        Suite(origin, "needs.py", "optax"),
        Suite(origin, "whole.py", "optax", absent=GONE, differs=DESIGN),
    ]
    monkeypatch.setattr("tests.originals.__main__.SUITES", suites)
    monkeypatch.setattr("sys.argv", ["originals", "--sources", str(tmp_path)])
    assert main() == 1
    printed = capsys.readouterr().out
    assert "needs.py: not run, it imports optax/tests/first.py" in printed
    assert printed.endswith("1 files: 5 cases, 1 passed, 1 failed\n")


def test_a_file_that_cannot_be_loaded_is_said_and_counted() -> None:
    suite = Suite(Origin("optax", "0"), "clips_test.py", "optax")
    row = run(suite, Source("import nothing_of_this_name", Path("clips_test.py"), "0"))
    assert not row.is_good and "can't be loaded" in row.wrong[0]


def test_the_page_has_every_suite() -> None:
    text = PAGE.read_text("utf-8")
    for suite in SUITES:
        assert (
            f"| {suite.origin.name} {suite.origin.tag} | "
            f"`{suite.path}`{suite.mode and ', ' + suite.mode} |"
        ) in text
    assert text.count("\n## Failed") <= 1


@pytest.mark.originals
@pytest.mark.parametrize("suite", INSTALLED, ids=lambda suite: Path(suite.path).stem)
def test_the_suites_that_packages_hold_pass(suite: Suite) -> None:
    source = found(suite, None)
    assert source is not None, f"{suite.origin.package} does not hold {suite.path}"
    row = run(suite, source)
    other = f"the manifest is of {suite.origin.name} {suite.origin.tag}, installed is {source.tag}"
    assert row.is_good, (row.failed, row.wrong, "" if source.tag == suite.origin.tag else other)
    if source.tag == suite.origin.tag:
        assert table_line(row) in PAGE.read_text("utf-8"), (
            "python -m tests.originals --sources DIR --write"
        )
