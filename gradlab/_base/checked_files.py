"""JSON files that carry their checksum, and the one error for damaged files of any format.

`write_json` and `read_json` are for files of plain values. Other formats (`archive.py`,
`growing.py`) use `report_damage`, which turns any error of a parser into a DataLossError, and the
checks of fields.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from ..errors import DataLossError
from .atomic_files import atomic_replace

MAX_TEXT = 1 << 26  # bytes of JSON that a file may hold
_SUM = "sha256"


def write_json(
    path: str | os.PathLike[str], kind: str, version: int, content: Mapping[str, Any]
) -> None:
    """Replace a file by JSON of a kind, a version, plain values and their checksum.

    Raises:
        OSError: it cannot be written.
    """
    text = dump_with_checksum({"kind": kind, "version": version, **content})
    with atomic_replace(path) as part:
        part.write_text(text, "utf-8")


def read_json(path: str | os.PathLike[str], kind: str, versions: Collection[int]) -> dict[str, Any]:
    """Return the content of a file of `write_json`.

    Raises:
        OSError: it cannot be opened.
        DataLossError: it is something else, damaged, too large, or newer than this.
    """
    require_regular(path)
    with open(path, "rb") as file, report_damage(path, kind):
        text = file.read(MAX_TEXT + 1)
        if len(text) > MAX_TEXT:
            raise ValueError(f"it is larger than {MAX_TEXT:,} bytes")
        content = load_with_checksum(text.decode("utf-8"))
        check_kind(content, kind, versions)
        return content


def require_regular(path: str | os.PathLike[str]) -> None:
    """Refuse a device or a pipe, also behind a link: reading it, or even opening it, may never end.

    A folder passes: opening it raises the usual error.

    Raises:
        DataLossError: it is neither a file nor a folder.
        OSError: there is nothing at this path, or no permission.
    """
    mode = os.stat(path).st_mode
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
        raise DataLossError(
            f"{path} is not a file with an end, but a device or a pipe; give the path of a file"
        )


def check_kind(content: Mapping[str, Any], kind: str, versions: Collection[int]) -> None:
    """Raise ValueError unless the content is of this kind and one of these versions."""
    if field(content, "kind", str) != kind:
        raise ValueError(f"it holds a {content['kind']}")
    version = content.get("version")
    if version not in versions:
        raise ValueError(
            f"it has version {version}, this gradlab reads {', '.join(map(str, sorted(versions)))}"
        )


def dump_with_checksum(content: Mapping[str, Any]) -> str:
    """Return plain values and their checksum as JSON.

    >>> load_with_checksum(dump_with_checksum({"step": 3, "rate": 0.1}))
    {'rate': 0.1, 'step': 3}
    """
    return json.dumps({**content, _SUM: _checksum(content)}, indent=1, sort_keys=True)


def load_with_checksum(text: str) -> dict[str, Any]:
    """Return the values that `dump_with_checksum` wrote; ValueError if they were changed."""
    content = json.loads(text)
    if not isinstance(content, dict):
        raise ValueError(f"it holds a {type(content).__name__}")
    if content.pop(_SUM, None) != _checksum(content):
        raise ValueError("its checksum is wrong")
    return content


def _checksum(content: Mapping[str, Any]) -> str:
    """Return the checksum of the values, which doesn't depend on white space or order."""
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def field(content: Mapping[str, Any], name: str, *types: type) -> Any:
    """Return a field; ValueError unless it exists and is exactly of one of these types."""
    if name not in content:
        raise ValueError(f"it has no {name}")
    if type(content[name]) not in types:
        raise ValueError(
            f"its {name} is {content[name]!r}, not {' or '.join(kind.__name__ for kind in types)}"
        )
    return content[name]


def integer_field(content: Mapping[str, Any], name: str, least: int = 0) -> int:
    """Return a field; ValueError unless it is an integer of at least `least`."""
    number: int = field(content, name, int)
    if number < least:
        raise ValueError(f"its {name} is {number}, not {least} or more")
    return number


@contextmanager
def report_damage(path: str | os.PathLike[str], kind: str) -> Iterator[None]:
    """Turn errors of the block, which reads a file, into a DataLossError that names the file.

    Errors that say nothing about the file pass: no memory, no library, a lock of another process.
    """
    try:
        yield
    except (DataLossError, MemoryError, ImportError, TimeoutError):
        raise
    except Exception as error:  # a file that was cut off or changed fails in many ways
        why = str(error) or type(error).__name__
        raise DataLossError(
            f"{os.fspath(path)} is no {kind} of gradlab's, or it is damaged: {why}. Nothing of it "
            "was taken; load another copy"
        ) from error
