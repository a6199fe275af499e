"""An editable install is visible: to Python from any folder, to type checkers, and so to editors."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.packaging.conftest import done_well

pytestmark = pytest.mark.packaging

CODE = """\
import gradlab as gl

reveal_type(gl.train.AdagradOptimizer(0.1))
reveal_type(gl.Variable([1.0]))
reveal_type(gl.Recorder.load("run.npz"))
"""
# As mypy and pyright name them.
TYPES = ("AdagradOptimizer", "Variable", "Recorder")


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """A user's file, alone in a folder."""
    (path := tmp_path / "mine.py").write_text(CODE)
    return path


def test_it_is_a_path_and_no_hook(editable: Path, clone: Path) -> None:
    (site,) = editable.parents[1].glob("lib/python*/site-packages")
    (added,) = (path for path in site.glob("*.pth") if path.name != "others.pth")
    assert [line for line in added.read_text().splitlines() if line] == [str(clone)]


def test_from_the_folder_above_the_clone_it_is_the_package(editable: Path, clone: Path) -> None:
    code = "import gradlab as gl; print(gl.Variable([1.0]).numpy(), gl.__file__)"
    assert done_well(editable, "-c", code, folder=clone.parent).split() == [
        "[1.]",
        f"{clone}/gradlab/__init__.py",
    ]


def test_mypy_sees_the_types(editable: Path, program: Path) -> None:
    # To read these takes mypy longer than gradlab itself, and nothing of what is revealed comes
    # from them.
    unread = (
        "jax",
        "matplotlib",
        "optax",
        "ipywidgets",
        "IPython",
        "traitlets",
        "PIL",
        "torch",
        "tensorflow",
    )
    settings = ["[mypy]", *(f"[mypy-{library}.*]\nfollow_imports = skip" for library in unread)]
    program.with_name("mypy.ini").write_text("\n".join(settings))
    said = done_well(
        sys.executable,
        "-m",
        "mypy",
        "--python-executable",
        editable,
        program,
        folder=program.parent,
    )
    notes = [line for line in said.splitlines() if "Revealed type" in line]
    assert len(notes) == len(TYPES)
    assert all(name in note for name, note in zip(TYPES, notes, strict=True))
    assert "Any" not in said


def test_pyright_sees_the_types(editable: Path, program: Path) -> None:
    said = done_well(
        sys.executable, "-m", "pyright", "--pythonpath", editable, program, folder=program.parent
    )
    notes = [line for line in said.splitlines() if "Type of" in line]
    assert len(notes) == len(TYPES)
    assert all(name in note for name, note in zip(TYPES, notes, strict=True))
    assert "could not be resolved" not in said
