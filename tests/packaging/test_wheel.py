"""A wheel and a source distribution hold what they should, and the tools that indexes use find no
fault with them.
"""

from __future__ import annotations

import importlib.metadata
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from notebooks import repository
from tests.packaging.conftest import ROOT, Built, done_well, python

pytestmark = pytest.mark.packaging


def files(folder: Path, pattern: str) -> set[str]:
    found = (
        p for p in folder.rglob(pattern) if not {".ipynb_checkpoints", "__pycache__"} & {*p.parts}
    )
    return {str(path.relative_to(folder)) for path in found if path.is_file()}


@pytest.mark.parametrize(
    "pattern", ["*.py", "*.js", "*.css", "*.html", "*.j2", "conf.json", "*.npz", "py.typed", "*"]
)
def test_the_wheel_holds_every_file_of_the_package(built: Built, pattern: str) -> None:
    package = files(built.installed / "gradlab", pattern) - files(built.installed, "notebooks/*")
    shipped = {name for name in package if not name.startswith("notebooks")}
    assert shipped == files(ROOT / "gradlab", pattern) != set()


def test_the_wheel_holds_the_notebooks_and_nothing_else_beside_the_package(built: Built) -> None:
    ours = {p.name for p in ROOT.glob("notebooks/*.*") if p.suffix in (".ipynb", ".md")}
    assert files(built.installed / "gradlab" / "notebooks", "*") == ours
    assert {p.name.partition("-")[0] for p in built.installed.iterdir()} == {
        "gradlab",
        "gradlab_notebooks",
    }


def test_the_wheel_copies_its_notebooks(built: Built, tmp_path: Path) -> None:
    program = "import sys; from gradlab._app import jupyter; print(jupyter.folder_to_open(None)[0])"
    environment = os.environ | {"PYTHONPATH": str(built.installed)}
    done = subprocess.run(
        [sys.executable, "-P", "-c", program],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "gradlab-notebooks\n"
    assert files(tmp_path / "gradlab-notebooks", "*.ipynb") == {
        p.name for p in ROOT.glob("notebooks/*.ipynb")
    }


def test_the_license_and_the_notice_are_in_both(built: Built) -> None:
    (information,) = built.installed.glob("*.dist-info")
    for name in ("LICENSE", "NOTICE"):
        text = (ROOT / name).read_bytes()
        assert (
            (information / "licenses" / name).read_bytes()
            == (built.source / name).read_bytes()
            == text
        )
    (distribution,) = importlib.metadata.distributions(
        name="gradlab-notebooks", path=[str(built.installed)]
    )
    assert distribution.metadata["License-Expression"] == "Apache-2.0"
    assert {"LICENSE", "NOTICE"} == set(distribution.metadata.get_all("License-File") or ())


def test_every_recording_has_its_origin_in_the_notice_or_is_our_own() -> None:
    notice = (ROOT / "NOTICE").read_text("utf-8")
    assert "in the folder gradlab/models/recordings." in notice
    # Recorded here, from the data named.
    own = {"char_rnn", "policies", "reader_run", "spare_workers", "staleness", "tuned_policies"}
    for path in ROOT.glob("gradlab/models/recordings/*.npz"):
        assert (path.name in notice) != (path.stem.partition("-")[0] in own), path.name


def test_building_warns_of_nothing(built: Built) -> None:
    assert "arn" not in built.said


def test_indexes_take_them(built: Built, clone: Path, tmp_path: Path) -> None:
    assert (
        python("twine", "check", "--strict", built.wheel, built.sdist, folder=ROOT).count("PASSED")
        == 2
    )
    assert "OK" in done_well(
        Path(sys.executable).with_name("check-wheel-contents"), built.wheel, folder=ROOT
    )
    published = Path(shutil.copytree(clone, tmp_path / "gradlab"))
    repository.rename(
        "me/gradlab", published
    )  # what is published has a repository, and says where it is
    python("hatchling", "build", "-t", "sdist", "-d", tmp_path / "sdist", folder=published)
    (sdist,) = (tmp_path / "sdist").glob("*.tar.gz")
    rated = done_well(
        Path(sys.executable).with_name("pyroma"), "--min", "10", sdist, folder=tmp_path
    )
    assert "Final rating: 10/10" in rated


def test_the_source_distribution_is_the_checkout(built: Built) -> None:
    """Byte by byte, so tests that need no more than these files do there what they do here."""
    top = {p.name for p in ROOT.iterdir() if p.is_file() and not p.name.startswith(".")}
    assert {p.name for p in built.source.iterdir() if p.is_file()} >= top
    for folder in ("gradlab", "notebooks", "tests", "binder", ".ci", ".github"):
        names = files(ROOT / folder, "*")
        assert files(built.source / folder, "*") == names != set(), folder
        top |= {f"{folder}/{name}" for name in names}
    assert [
        name for name in top if (built.source / name).read_bytes() != (ROOT / name).read_bytes()
    ] == []


def test_tests_pass_in_the_unpacked_source_distribution(built: Built) -> None:
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith("PYTEST")
    }
    # Those that read the most of what is not the package; that all files are there, as here, is the
    # test before.
    readme = (
        "every_file_folder_and_command_named_exists",
        "ci_begins_with_the_test_command",
        "every_guide_is_linked",
    )
    files = (
        "tests/_base/test_addresses.py",
        "tests/test_readme.py",
        "-k",
        f"addresses or {' or '.join(readme)}",
    )
    command = [sys.executable, "-m", "pytest", "-q", "-n", "0", "-p", "no:cacheprovider", *files]
    done = subprocess.run(
        command, cwd=built.source, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr
    assert " passed" in done.stdout
    assert "failed" not in done.stdout
