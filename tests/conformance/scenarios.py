"""Read golden files: every scenario of every file becomes one `Scenario`, whatever the file's
layout.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

OWN_GOLDEN = Path(__file__).parent.parent / "golden"


class Unsupported(Exception):
    """The scenario asks for something that no adapter can run; it is counted and named, and it does
    not pass.
    """


@dataclass(frozen=True)
class Scenario:
    """One recorded run of an original.

    `group` is what the file calls the family (`group` or `category`, or the key it lies under),
    `data` the JSON object.
    """

    file: str
    group: str
    id: str
    data: dict[str, Any] = field(repr=False, hash=False)

    @property
    def mode(self) -> str:
        return self.data.get("mode", "")

    @property
    def calls(self) -> list[dict[str, Any]]:
        return self.data.get("calls", [])


def load_directory(directory: Path) -> list[Scenario]:
    """All scenarios of all `*.json` files, sorted by file name."""
    files = sorted(directory.glob("*.json"))
    if not files:
        raise FileNotFoundError(f"no *.json golden files in {directory}")
    return [scenario for file in files for scenario in load_file(file)]


def load_file(path: Path) -> list[Scenario]:
    """The scenarios of one file; a file without any is one scenario that nobody supports."""
    content = json.loads(path.read_text(encoding="utf-8"))
    found = [Scenario(path.name, group, name, data) for group, name, data in _entries(content)]
    return found or [Scenario(path.name, "unknown", f"{path.name} holds no scenarios", {})]


def _entries(content: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    if "scenarios" in content:
        for s in content["scenarios"]:
            yield s.get("group") or s.get("category") or "", s["id"], s
        return
    for family, part in content.items():
        if isinstance(part, dict) and "scenarios" in part:
            yield from _family(family, part)


def _family(family: str, part: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """`family.scenarios`, and its other lists (observations told in words), so that none of them
    goes unmentioned.
    """
    by_id = {s["id"]: s for s in part["scenarios"]}
    for s in part["scenarios"]:
        yield family, s["id"], s
    for kind, entries in part.items():
        if kind == "scenarios" or not isinstance(entries, list):
            continue
        for k, entry in enumerate(entries):
            if "scenario" in entry:  # said about another scenario, which may not be in the file
                entry = {**entry, "named": by_id.get(entry["scenario"])}
            name = entry.get("id", f"{kind}.{k}")
            inner = entry.get("observations")
            many = enumerate(_told(entry)) if inner else [(None, entry)]
            for i, observation in many:
                yield f"{family}.{kind}", name if i is None else f"{name}.{i}", observation


def _told(entry: dict[str, Any]) -> list[dict[str, Any]]:
    """The observations of a group, each with its title and those before it, which it goes on from."""
    told = entry["observations"]
    return [{**o, "title": entry.get("title", ""), "earlier": told[:i]} for i, o in enumerate(told)]
