"""What is left out of the default run is said at once, and what is asked for and cannot run is an error."""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests import parts

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))


def run(folder: Path, *arguments: str) -> str:
    """All that pytest prints when it runs one test in a folder with the settings of this suite."""
    (folder / "test_it.py").write_text("def test_it(): pass")
    options = ["-p", "tests.conftest", "-p", "no:cacheprovider", "-n", "0", "-c", str(ROOT / "pyproject.toml")]
    command = [sys.executable, "-m", "pytest", *options, *arguments, str(folder)]
    environment = os.environ | {"PYTHONPATH": str(ROOT), "PATH": str(folder)}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    return done.stdout + done.stderr


def test_the_default_run_is_that_of_pyproject() -> None:
    assert f"-m {parts.DEFAULT}" in PROJECT["tool"]["pytest"]["ini_options"]["addopts"]


def test_every_part_is_a_marker_and_what_it_needs_exists() -> None:
    markers = {re.split(r"\W", line)[0] for line in PROJECT["tool"]["pytest"]["ini_options"]["markers"]}
    assert markers == {*parts.PARTS, "every_case", "smoke", "long", "sampled"}
    for part in parts.PARTS.values():
        assert set(filter(None, part.extras.split(","))) <= PROJECT["project"]["optional-dependencies"].keys()
        assert set(part.groups.split()) <= PROJECT["dependency-groups"].keys()


def test_all_tests_have_the_groups_of_all_parts() -> None:
    included = {one["include-group"] for one in PROJECT["dependency-groups"]["all-tests"]}
    assert included == {group for part in parts.PARTS.values() for group in part.groups.split()}


def test_the_extra_of_the_default_run_is_light() -> None:
    extras = PROJECT["project"]["optional-dependencies"]
    needed = " ".join(extras["test"] + extras["lab"] + extras["film"] + extras["optax"])
    for heavy in ("ray", "sphinx", "repo2docker", "voila", "tensorflow", "torch", "playwright", "mypy", "ruff"):
        assert heavy not in needed


@pytest.mark.parametrize(
    ("expression", "asked"),
    [
        ("", {*parts.PARTS}),
        (parts.DEFAULT, set()),
        ("smoke", set()),
        ("browser or torch", {"browser", "torch"}),
        ("not (torch or browser)", {*parts.PARTS} - {"torch", "browser"}),
        ("tensorflow and not torch", {"tensorflow"}),
        ("torch and (", set()),
    ],
)
def test_which_parts_an_expression_asks_for(expression: str, asked: set[str]) -> None:
    assert {marker for marker in parts.PARTS if parts.selected(expression, marker)} == asked


def test_a_part_that_cannot_run_is_named_with_what_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    lack = parts.Part("a tool", 1, 1, groups="oracle", modules=("no_such_module",))
    program = parts.Part("a program", 1, 1, extras="dashboard,site", groups="browser", programs=("no-such-program",))
    monkeypatch.setattr(parts, "PARTS", {"lack": lack, "program": program, "fine": parts.PARTS["exhaustive"]})
    assert parts.missing("fine") == []
    assert parts.missing("fine or lack or program") == [
        '-m lack: no_such_module is not installed; run pip install -e ".[test]" --group oracle',
        '-m program: no-such-program must be on the PATH; run pip install -e ".[test,dashboard,site]" --group browser',
    ]


@pytest.mark.exhaustive
def test_pytest_says_at_once_what_it_leaves_out_or_lacks(tmp_path: Path) -> None:
    said = run(tmp_path)
    assert all(line in said for line in parts.header())
    assert said.index(parts.header()[-1]) < said.index("rootdir: ")
    assert "1 passed" in said
    assert "-m browser: " in run(tmp_path, "-m", "browser")  # no Chromium is on this PATH


def test_a_count_far_from_what_was_announced_is_an_error() -> None:
    assert parts.miscounted(int(1.05 * parts.DEFAULT_TESTS)) is None
    assert "there were 9: correct DEFAULT_TESTS" in (parts.miscounted(9) or "")


def test_the_smoke_test_names_files_that_exist() -> None:
    assert [path for path in parts.SMOKE if not (ROOT / path).exists()] == []
