"""Which files of the originals are run, where they are found, and what is known not to apply to
them.

Nothing of theirs is kept here. What a registry's package holds is read where it is installed;
everything else from a folder of sources, laid out as `ORIGIN-TAG/path/in/its/repository`.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import importlib.util
from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TypeVar

Entry = TypeVar("Entry")


@dataclass(frozen=True)
class Origin:
    """Whose tests: `package` where an installed distribution holds them, None where only a folder
    of sources does.
    """

    name: str
    tag: str  # the release that the manifest describes
    package: str | None = None
    # Files without cases that suites import, so that they must be there as well.
    helpers: tuple[str, ...] = ()

    @property
    def folder(self) -> str:
        return f"{self.name}-{self.tag}"


@dataclass(frozen=True)
class Absent:
    """A case about something that gradlab does not have: the public name it would have, and one
    line of reason.
    """

    name: str
    reason: str


@dataclass(frozen=True)
class Differs:
    """A case that fails because gradlab differs on purpose: why, and `file::test` of ours that
    holds the difference.
    """

    reason: str
    held_by: str


@dataclass(frozen=True)
class Suite:
    """One file, the stand-in that runs it, and by pattern of `Class.case` what is different about a
    case.
    """

    origin: Origin
    path: str
    stand_in: str
    absent: Mapping[str, Absent] = field(default_factory=dict)
    differs: Mapping[str, Differs] = field(default_factory=dict)
    # With the original itself, on some machines.
    fails_there: Mapping[str, str] = field(default_factory=dict)
    mode: str = ""  # where a suite is run in several, which one this is

    @property
    def title(self) -> str:
        """The path, and the mode if there are several."""
        return f"{self.path}, {self.mode}" if self.mode else self.path


@dataclass(frozen=True)
class Source:
    """The text of a suite as it was found: which release, and its hash."""

    text: str
    file: Path
    tag: str
    root: Path | None = None  # of the folder that the paths of all suites of this original begin in

    @property
    def digest(self) -> str:
        return hashlib.sha256(self.text.encode()).hexdigest()[:12]


def found(suite: Suite, sources: Path | None) -> Source | None:
    """The suite's file from the folder of sources, else from the installed package, else None."""
    if sources is not None and (file := sources / suite.origin.folder / suite.path).is_file():
        return Source(
            file.read_text("utf-8"), file, suite.origin.tag, sources / suite.origin.folder
        )
    package = suite.origin.package
    spec = importlib.util.find_spec(package) if package else None
    if package is None or spec is None or not spec.submodule_search_locations:
        return None
    file = Path(next(iter(spec.submodule_search_locations))).parent / suite.path
    return (
        Source(file.read_text("utf-8"), file, importlib.metadata.version(package))
        if file.is_file()
        else None
    )


def missing_helpers(suite: Suite, source: Source) -> list[str]:
    """Return the helper files that a suite imports, itself or through another helper, and that are
    not there.
    """
    if source.root is None:
        return []
    missing: list[str] = []
    unread = [source.text]
    looked_up: set[str] = set()
    while unread:
        text = unread.pop()
        for helper in suite.origin.helpers:
            if helper in looked_up or not _imports(text, helper):
                continue
            looked_up.add(helper)
            file = source.root / helper
            if file.is_file():
                unread.append(file.read_text("utf-8"))
            else:
                missing.append(helper)
    return missing


def _imports(text: str, path: str) -> bool:
    """Tell whether a module imports the file of this path in its repository."""
    package, _, name = path.removesuffix(".py").rpartition("/")
    return f"from {package.replace('/', '.')} import {name}" in text


def entry(entries: Mapping[str, Entry], case: str, used: set[str]) -> Entry | None:
    """What the manifest says about a case, by the first pattern that fits, which is noted."""
    pattern = next((p for p in entries if fnmatchcase(case, p)), None)
    if pattern is None:
        return None
    used.add(pattern)
    return entries[pattern]
