"""What is built and installed, once for all tests here, from a copy so that nothing is left in the
checkout.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[2]
# Without PYTHONPATH, which would show this checkout to what must find an installation.
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
LEFT_OUT = shutil.ignore_patterns(
    "__pycache__", ".git", ".venv", ".*_cache", ".hypothesis", ".ipynb_checkpoints", "dist"
)


def done_well(*command: str | Path, folder: Path) -> str:
    """Run a command; return all it says, which is the message if it fails."""
    done = subprocess.run(
        [*map(str, command)],
        cwd=folder,
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
    return done.stdout + done.stderr


def python(module: str, *arguments: str | Path, folder: Path) -> str:
    """Run a module of the Python that runs the tests."""
    return done_well(sys.executable, "-m", module, *arguments, folder=folder)


class Built(NamedTuple):
    """A wheel and a source distribution, the folders they were unpacked to, and what building them
    said.
    """

    wheel: Path
    sdist: Path
    installed: Path
    source: Path
    said: str


@pytest.fixture(scope="session")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the checkout in a folder called as a clone is."""
    return Path(
        shutil.copytree(ROOT, tmp_path_factory.mktemp("parent") / "gradlab", ignore=LEFT_OUT)
    )


@pytest.fixture(scope="session")
def built(clone: Path, tmp_path_factory: pytest.TempPathFactory) -> Built:
    """Both distributions; the wheel is made from the checkout, as `pip install .` does."""
    folder = tmp_path_factory.mktemp("built")
    said = python("hatchling", "build", "-d", folder, folder=clone)
    (wheel,), (sdist,) = folder.glob("*.whl"), folder.glob("*.tar.gz")
    zipfile.ZipFile(wheel).extractall(folder / "wheel")
    with tarfile.open(sdist) as archive:
        # Debian 12's Python 3.11.2 has no filters yet; the archive is our own.
        filters = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
        archive.extractall(folder / "sdist", **filters)
    (source,) = (folder / "sdist").iterdir()
    return Built(wheel, sdist, folder / "wheel", source, said)


@pytest.fixture(scope="session")
def editable(clone: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Python in which the copy is installed by `pip install -e`; all other packages are those of
    the tests.
    """
    venv = tmp_path_factory.mktemp("editable") / "venv"
    python("venv", "--without-pip", venv, folder=clone)
    python_there = venv / "bin" / "python"
    (site,) = venv.glob("lib/python*/site-packages")
    # A folder that a .pth adds has none of its own .pth files followed, so the checkout itself is
    # not found by this.
    (site / "others.pth").write_text(sysconfig.get_path("purelib"))
    options = ("--quiet", "--no-deps", "--no-build-isolation", "--disable-pip-version-check")
    python("pip", "--python", python_there, "install", *options, "-e", clone, folder=clone)
    return python_there
