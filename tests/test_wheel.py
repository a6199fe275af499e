"""A wheel brings every file of the package, and the notebooks."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The content of a wheel, built from a copy so that nothing is left in the checkout."""
    folder = tmp_path_factory.mktemp("wheel")
    source = folder / "source"
    for name in ("gradlab", "notebooks"):
        shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__", ".*"))
    for name in ("pyproject.toml", "README.md"):
        shutil.copy(ROOT / name, source)
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(folder), str(source)]
    done = subprocess.run([*command, *_isolation()], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (built,) = folder.glob("*.whl")
    zipfile.ZipFile(built).extractall(folder / "content")
    return folder / "content"


def _isolation() -> list[str]:
    """Without a network the build works only if the build tool is here already."""
    try:
        import setuptools
    except ImportError:
        return []
    return ["--no-build-isolation"] if int(setuptools.__version__.partition(".")[0]) >= 77 else []


def files(folder: Path, pattern: str) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob(pattern) if ".ipynb_checkpoints" not in path.parts}


@pytest.mark.parametrize("pattern", ["*.py", "*.js", "*.css", "*.html", "*.j2", "conf.json", "*.npz", "py.typed"])
def test_the_wheel_holds_every_file_of_the_package(wheel: Path, pattern: str) -> None:
    assert files(wheel / "gradlab", pattern) == files(ROOT / "gradlab", pattern) != set()


@pytest.mark.long
def test_the_wheel_holds_the_notebooks_and_copies_them(wheel: Path, tmp_path: Path) -> None:
    notebooks = files(ROOT / "notebooks", "*.ipynb")
    assert files(wheel / "gradlab" / "notebooks", "*.ipynb") == notebooks
    program = "import sys; from gradlab import _jupyter; print(_jupyter.folder_to_open(None)[0])"
    environment = os.environ | {"PYTHONPATH": str(wheel)}
    done = subprocess.run(
        [sys.executable, "-P", "-c", program], cwd=tmp_path, env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout == "gradlab-notebooks\n"
    assert files(tmp_path / "gradlab-notebooks", "*.ipynb") == notebooks
