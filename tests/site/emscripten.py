"""What distributions need where the system is Emscripten, as in a browser tab."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from importlib.metadata import distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]


def project_requirements() -> set[str]:
    """The names of what gradlab needs there."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    return _names([*project["dependencies"], *project["optional-dependencies"]["tpu"]])


def requirements(name: str) -> set[str]:
    """The names of what an installed distribution needs there."""
    return _names(distribution(name).requires or ())


def _names(lines: Iterable[str]) -> set[str]:
    there = {"sys_platform": "emscripten", "extra": ""}
    found = map(Requirement, lines)
    return {
        canonicalize_name(one.name) for one in found if not one.marker or one.marker.evaluate(there)
    }
