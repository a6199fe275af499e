"""What is left out of the default run is said at once, and what is asked for and cannot run is an
error.
"""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests import parts

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))


def test_the_default_run_is_that_of_pyproject() -> None:
    assert (
        f"-m not ({' or '.join(parts.PARTS)})"
        in PROJECT["tool"]["pytest"]["ini_options"]["addopts"]
    )


def test_every_part_is_a_marker_and_what_it_needs_exists() -> None:
    markers = {
        re.split(r"\W", line)[0] for line in PROJECT["tool"]["pytest"]["ini_options"]["markers"]
    }
    assert markers == {*parts.PARTS, "every_case", "smoke", "long"}
    for part in parts.PARTS.values():
        assert (
            set(filter(None, part.extras.split(",")))
            <= PROJECT["project"]["optional-dependencies"].keys()
        )
        assert set(part.groups.split()) <= PROJECT["dependency-groups"].keys()


def test_all_tests_have_the_groups_of_all_parts() -> None:
    included = {one["include-group"] for one in PROJECT["dependency-groups"]["all-tests"]}
    assert included == {group for part in parts.PARTS.values() for group in part.groups.split()}


def test_the_extra_of_the_default_run_is_light() -> None:
    extras = PROJECT["project"]["optional-dependencies"]
    needed = " ".join(extras["test"] + extras["lab"] + extras["film"] + extras["optax"])
    for heavy in (
        "ray",
        "sphinx",
        "repo2docker",
        "voila",
        "tensorflow",
        "torch",
        "playwright",
        "mypy",
        "ruff",
    ):
        assert heavy not in needed


@pytest.mark.parametrize(
    ("expression", "asked"),
    [
        ("", {*parts.PARTS}),
        (f"not ({' or '.join(parts.PARTS)})", set()),
        ("smoke", set()),
        ("browser or torch", {"browser", "torch"}),
        ("not (torch or browser)", {*parts.PARTS} - {"torch", "browser"}),
        ("tensorflow and not torch", {"tensorflow"}),
        ("torch and (", set()),
    ],
)
def test_which_parts_an_expression_asks_for(expression: str, asked: set[str]) -> None:
    assert {marker for marker in parts.PARTS if parts.selected(expression, marker)} == asked


def test_a_part_that_cannot_run_is_named_with_what_installs_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lack = parts.Part("dashboard,site", "oracle", ("no_such_module",))
    monkeypatch.setattr(parts, "PARTS", {"lack": lack, "fine": parts.Part()})

    assert parts.missing("fine") == []
    assert parts.missing("fine or lack") == [
        (
            "-m lack: no_such_module is not installed; run pip install -e "
            '".[test,dashboard,site]" --group oracle'
        ),
    ]


def test_the_default_run_takes_the_first_and_the_last_case_of_each_test(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(
        "import pytest\n"
        "@pytest.mark.parametrize('x', range(2))\n"
        "@pytest.mark.parametrize('y', range(5))\n"
        "def test_some(x, y): pass\n"
        "@pytest.mark.every_case\n"
        "@pytest.mark.parametrize('x', range(5))\n"
        "def test_all(x): pass\n"
    )
    options = ["-q", "--collect-only", "-p", "tests.conftest", "-p", "no:cacheprovider", "-n", "0"]
    command = [
        sys.executable,
        "-m",
        "pytest",
        *options,
        "-c",
        str(ROOT / "pyproject.toml"),
        str(tmp_path),
    ]

    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)

    assert re.findall(r"::test_(\S+)", done.stdout) == [
        "some[0-0]",
        "some[4-1]",
        *(f"all[{k}]" for k in range(5)),
    ]


def test_the_smoke_test_names_files_that_exist() -> None:
    assert [path for path in parts.SMOKE if not (ROOT / path).exists()] == []
