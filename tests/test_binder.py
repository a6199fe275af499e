"""The Binder image can be built from what stands in binder/: real names, an allowed Python, few dependencies."""

from __future__ import annotations

import importlib.metadata
import os
import subprocess
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

ROOT = Path(__file__).parents[1]
BINDER = ROOT / "binder"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
MOST = 12  # every further one is something that can break on the day of a lesson


def lines() -> list[str]:
    text = (BINDER / "requirements.txt").read_text("utf-8")
    return [line for line in (raw.partition("#")[0].strip() for raw in text.splitlines()) if line]


def direct() -> list[Requirement]:
    """What the image installs by name: the file's own lines, and those of gradlab and its extras for `.[extra]`."""
    found = []
    for line in lines():
        if not line.startswith("."):
            found.append(Requirement(line))
            continue
        extras = Requirement(f"gradlab{line[1:]}").extras
        listed = [*PROJECT["dependencies"], *(r for extra in extras for r in PROJECT["optional-dependencies"][extra])]
        found += map(Requirement, listed)
    return found


def test_this_repository_is_among_them() -> None:
    assert ".[lab]" in lines()


@pytest.mark.parametrize("requirement", direct(), ids=lambda r: r.name)
def test_each_name_is_a_package_that_satisfies_it(requirement: Requirement) -> None:
    assert importlib.metadata.version(requirement.name) in requirement.specifier


def test_there_are_few() -> None:
    assert 0 < len(direct()) <= MOST


def test_the_python_is_one_that_the_package_allows() -> None:
    name, version = (BINDER / "runtime.txt").read_text("utf-8").strip().split("-")
    assert name == "python"
    assert version in SpecifierSet(PROJECT["requires-python"])


def test_the_last_build_step_can_run() -> None:
    script = BINDER / "postBuild"
    assert os.access(script, os.X_OK)
    assert script.read_bytes().startswith(b"#!/")
    assert subprocess.run(["bash", "-n", str(script)], check=False).returncode == 0
