"""Wheels for a Python that has no compiler and no index: of this checkout, and of what is installed beside it.

A distribution is packed again from its installed files, so that a build asks no host for anything and a tab gets the
versions that were tested here.
"""

from __future__ import annotations

import subprocess
import sys
from base64 import urlsafe_b64encode
from hashlib import sha256
from importlib.metadata import Distribution, distribution
from pathlib import Path, PurePath
from zipfile import ZIP_DEFLATED, ZipFile

from packaging.utils import canonicalize_name

WHEEL = "Wheel-Version: 1.0\nGenerator: gradlab\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
COMPILED = (".so", ".pyd", ".dylib")
ABOUT = ("RECORD", "WHEEL", "INSTALLER", "REQUESTED", "direct_url.json")  # of this installation


def of_checkout(root: Path, folder: Path) -> Path:
    """Build the wheel of a project, once, with what builds its releases; return the file.

    Raises:
        RuntimeError: the build failed; the message is what it said.
    """
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder.resolve())]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"no wheel could be built of {root}: {done.stderr or done.stdout}")
    return max(folder.glob("*.whl"), key=lambda path: path.stat().st_mtime)


def of_installed(name: str, folder: Path) -> Path:
    """Pack an installed distribution again, for any Python; return the file. What lies outside its packages stays out.

    Modules that mypyc compiled are packed as the Python they were compiled from, which lies beside them.

    Raises:
        ModuleNotFoundError: it is not installed.
        ValueError: it has code that is compiled only.
    """
    found = distribution(name)
    files = {path: Path(str(found.locate_file(path))).read_bytes() for path in list_files(found)}
    about = next(path.parent for path in files if path.name == "METADATA")
    files[about / "WHEEL"] = WHEEL.encode()
    record = "".join(f"{path},sha256={digest(data)},{len(data)}\n" for path, data in files.items())
    files[about / "RECORD"] = f"{record}{about}/RECORD,,\n".encode()
    stem = canonicalize_name(name).replace("-", "_")
    wheel = folder / f"{stem}-{found.version}-py3-none-any.whl"
    with ZipFile(wheel, "w", ZIP_DEFLATED) as archive:
        for path, data in files.items():
            archive.writestr(str(path), data)
    return wheel


def list_files(found: Distribution) -> list[PurePath]:
    """Return what of a distribution a wheel holds, by the places it has there."""
    inside = [PurePath(path) for path in found.files or () if ".." not in path.parts]
    files = []
    for path in inside:
        is_about = path.parent.suffix == ".dist-info" and path.name in ABOUT
        if path.suffix in COMPILED:
            module = path.with_name(path.name.partition(".")[0])
            if module.with_suffix(".py") not in inside and not module.name.endswith("__mypyc"):
                raise ValueError(f"{found.name} has code that is compiled only, {path}: no browser could run it")
        elif path.suffix != ".pyc" and not is_about:
            files.append(path)
    return files


def digest(data: bytes) -> str:
    """Return a hash as RECORD has it."""
    return urlsafe_b64encode(sha256(data).digest()).rstrip(b"=").decode()
