"""Plain values as JSON that carries its own checksum, and the one error for files that cannot be
believed.
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
from .atomic_files import replaced

MAX_TEXT = 1 << 26  # bytes of JSON that a file may hold
_SUM = "sha256"


def write_json(
    path: str | os.PathLike[str], kind: str, version: int, content: Mapping[str, Any]
) -> None:
    """Replace a file by a kind, a version, plain values and their checksum.

    Raises:
        OSError: it cannot be written.
    """
    text = sealed({"kind": kind, "version": version, **content})
    with replaced(path) as part:
        part.write_text(text, "utf-8")


def read_json(path: str | os.PathLike[str], kind: str, versions: Collection[int]) -> dict[str, Any]:
    """Read the result of `write_json`.

    Raises:
        OSError: it cannot be opened.
        DataLossError: it is something else, damaged, too large, or newer than this.
    """
    require_regular(path)
    with open(path, "rb") as file, checked(path, kind):
        text = file.read(MAX_TEXT + 1)
        if len(text) > MAX_TEXT:
            raise ValueError(f"it is larger than {MAX_TEXT:,} bytes")
        content = unsealed(text.decode("utf-8"))
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
    """ValueError unless it is of this kind, in a version that is read."""
    if field(content, "kind", str) != kind:
        raise ValueError(f"it holds a {content['kind']}")
    version = content.get("version")
    if version not in versions:
        raise ValueError(
            f"it has version {version}, this gradlab reads {', '.join(map(str, sorted(versions)))}"
        )


def sealed(content: Mapping[str, Any]) -> str:
    """JSON of plain values and their checksum.

    >>> unsealed(sealed({"step": 3, "rate": 0.1}))
    {'rate': 0.1, 'step': 3}
    """
    return json.dumps({**content, _SUM: _checksum(content)}, indent=1, sort_keys=True)


def unsealed(text: str) -> dict[str, Any]:
    """The values of such a text; ValueError if they are not those that were written."""
    content = json.loads(text)
    if not isinstance(content, dict):
        raise ValueError(f"it holds a {type(content).__name__}")
    if content.pop(_SUM, None) != _checksum(content):
        raise ValueError("its checksum is wrong")
    return content


def _checksum(content: Mapping[str, Any]) -> str:
    """Of the values, however they are spaced."""
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def field(content: Mapping[str, Any], name: str, *types: type) -> Any:
    """A value that must be there and of one of these types, exactly; ValueError otherwise."""
    if name not in content:
        raise ValueError(f"it has no {name}")
    if type(content[name]) not in types:
        raise ValueError(
            f"its {name} is {content[name]!r}, not {' or '.join(kind.__name__ for kind in types)}"
        )
    return content[name]


def whole(content: Mapping[str, Any], name: str, least: int = 0) -> int:
    """An integer of at least this; ValueError otherwise."""
    found: int = field(content, name, int)
    if found < least:
        raise ValueError(f"its {name} is {found}, not {least} or more")
    return found


@contextmanager
def checked(path: str | os.PathLike[str], kind: str) -> Iterator[None]:
    """While the content of a file is read: whatever goes wrong is said as one error that names the
    file.

    Raises:
        DataLossError: something did, and it isn't a lack of memory or of a library, or another
            process's lock.
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
