"""Installed distributions as wheels again: complete, for any Python, and no more than the packages."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import Distribution, PathDistribution
from pathlib import Path
from zipfile import ZipFile

import numpy
import pytest

from notebooks.site import wheels


@pytest.mark.parametrize("name", ["autograd", "psygnal"])
def test_a_wheel_is_imported_as_it_was_installed(name: str, tmp_path: Path) -> None:
    wheel = wheels.of_installed(name, tmp_path)
    with ZipFile(wheel) as archive:
        names = archive.namelist()
        assert archive.testzip() is None
        (record,) = (archive.read(n).decode() for n in names if n.endswith("RECORD"))
        assert {line.partition(",")[0] for line in record.splitlines()} == set(names)
    assert wheel.name.endswith("-py3-none-any.whl")
    assert not [n for n in names if n.endswith((".so", ".pyc", "INSTALLER")) or ".." in n]
    # Autograd needs NumPy; else nothing installed is on it.
    own = [str(wheel), str(Path(numpy.__file__).parents[1])]
    code = f"import sys; sys.path[:0] = {own!r}; import {name}; print({name}.__file__)"
    run = subprocess.run(
        [sys.executable, "-S", "-c", code], capture_output=True, text=True, check=True
    )
    assert str(wheel) in run.stdout


def test_code_that_is_compiled_only_is_refused(tmp_path: Path) -> None:
    about = tmp_path / "it-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Name: it\nVersion: 1.0\n", "utf-8")
    (about / "RECORD").write_text(
        "it/fast.cpython-311-x86_64-linux-gnu.so,,\nit-1.0.dist-info/METADATA,,\n", "utf-8"
    )
    found: Distribution = PathDistribution(about)
    with pytest.raises(ValueError, match=r"compiled only, it/fast\.cpython"):
        wheels.list_files(found)
