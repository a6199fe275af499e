"""The Binder image can be built from what stands in binder/, and the first notebook runs in it.

Docker is not needed: repo2docker says what it would do, and its steps are done in a fresh virtual environment, but with
the Python that runs the tests instead of the one in runtime.txt.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from gradlab._base import addresses, notebooks

ROOT = Path(__file__).parents[1]
BINDER = ROOT / "binder"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
MOST = 12  # every further one is something that can break on the day of a lesson


def lines() -> list[str]:
    text = (BINDER / "requirements.txt").read_text("utf-8")
    return [line for line in (raw.partition("#")[0].strip() for raw in text.splitlines()) if line]


def needed() -> dict[str, Requirement]:
    """What gradlab and the extras of the image need, by name."""
    (own,) = (line for line in lines() if line.startswith("."))
    extras = PROJECT["optional-dependencies"]
    listed = [*PROJECT["dependencies"], *(r for extra in Requirement(f"it{own[1:]}").extras for r in extras[extra])]
    requirements = [Requirement(line) for line in listed]
    return {r.name: r for r in requirements if r.marker is None or r.marker.evaluate()}


@pytest.mark.parametrize("pin", [line for line in lines() if not line.startswith(".")])
def test_a_pin_is_a_series_of_releases_of_what_is_needed(pin: str) -> None:
    requirement = Requirement(pin)
    (only,) = requirement.specifier
    assert (only.operator, only.version[-2:]) == ("==", ".*")
    assert only.version.removesuffix(".*") in needed()[requirement.name].specifier


def test_there_are_few() -> None:
    assert 0 < len(needed()) <= MOST


def test_the_python_is_one_that_the_package_allows() -> None:
    name, version = (BINDER / "runtime.txt").read_text("utf-8").strip().split("-")
    assert name == "python"
    assert version in SpecifierSet(PROJECT["requires-python"])


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the checkout, as the image has it."""
    left_out = shutil.ignore_patterns(".*", "*.egg-info", "__pycache__", "build")
    return Path(shutil.copytree(ROOT, tmp_path_factory.mktemp("binder") / "home", ignore=left_out))


@pytest.mark.binder
def test_repo2docker_takes_the_files(copy: Path) -> None:
    done = done_well([sys.executable, "-m", "repo2docker", "--no-build", "--debug", str(copy)], copy, dict(os.environ))
    said = done.stdout + done.stderr
    # The whole checkout is there when its requirements are installed, and the last step runs after that.
    steps = [
        said.index(step) for step in ("COPY --chown=0:0 src/ ", '-r "binder/requirements.txt"', "RUN ./binder/post")
    ]
    assert steps == sorted(steps)
    assert "py-3.12" in said.replace("-2d", "-").replace("-2e", ".")


@pytest.mark.binder
def test_the_image_runs_the_first_notebook(copy: Path) -> None:
    venv = copy.parent / "venv"
    environment = {
        "HOME": str(copy.parent), "LANG": "C.UTF-8", "PATH": f"{venv / 'bin'}{os.pathsep}{os.environ['PATH']}",
        **{name: value for name, value in os.environ.items() if name.startswith(("PIP_", "SSL_", "http"))},
    }  # fmt: skip

    def run(*command: str) -> str:
        return str(done_well(list(command), copy, environment).stdout)

    run(sys.executable, "-m", "venv", str(venv))
    run("pip", "install", "--quiet", "-r", "binder/requirements.txt")
    run("bash", "binder/postBuild")
    run("pip", "check")
    assert "clipping: " in run("gradlab", "list")
    (page,) = parse_qs(urlsplit(addresses.on_binder(notebooks.START)).query)["urlpath"]
    notebook = page.removeprefix("lab/tree/")
    run("jupyter", "nbconvert", "--to", "notebook", "--execute", notebook, "--output-dir", str(copy.parent))
    assert (copy.parent / notebooks.START).stat().st_size > 10_000  # pictures
    assert (copy / "dashboard" / "index.ipynb").is_file()
    assert "voila" in run("bash", "-c", "jupyter server extension list 2>&1")


def done_well(command: list[str], folder: Path, environment: dict[str, str]) -> Any:
    """Run a command; what it said is the message if it fails."""
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{' '.join(command)}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
    return done
