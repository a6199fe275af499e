"""The file run-....wandb in the folder of a local run of Weights & Biases.

It is a log of LevelDB's kind: blocks of 32 KiB with parts of records, each record a protobuf message
of wandb's own, which parses it. The history has a JSON text for each number.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ..._base.extras import need
from ..._base.numbers import listed
from ...errors import DataLossError, InvalidArgumentError
from .hugging_face import from_entries
from .table import LogTable

SIGN = b":W&B"
_BLOCK = 32768
_HEADER = 7  # bytes of a file's header, and of that of a part: checksum, length, kind
_FULL, _FIRST, _MIDDLE, _LAST = 1, 2, 3, 4
_NOTE = "Whether the norm is before or after a clip, the log doesn't say."


def in_folder(folder: Path) -> Path | None:
    """Return the file of a run's folder; None without any.

    Raises:
        InvalidArgumentError: there are several runs.
    """
    files = sorted({path.resolve() for path in folder.glob("*.wandb")})
    files = files or sorted({path.resolve() for path in folder.glob("*/*.wandb")})
    if len(files) > 1:
        raise InvalidArgumentError(
            f"{folder} holds {len(files)} runs; pass the folder of one: "
            f"{listed([str(file.parent) for file in files])}"
        )
    return files[0] if files else None


def read(path: str, columns: Mapping[str, str] | None) -> LogTable:
    """Read the file; wandb must be installed.

    Raises:
        ModuleNotFoundError: it isn't. The history can be exported as CSV from the run's page.
    """
    what = "reading a local run of Weights & Biases (or export its history as CSV)"
    messages = need("wandb.proto.wandb_internal_pb2", what, "wandb")
    entries = []
    for number, data in enumerate(_records(path)):
        record = messages.Record()
        try:
            record.ParseFromString(data)
            if record.WhichOneof("record_type") == "history":
                entries.append(_history(record.history))
        except Exception as error:  # DecodeError is of protobuf, which wandb brings
            raise DataLossError(f"record {number} of {path} is damaged: {error}") from error
    return from_entries(path, entries, columns, "Weights & Biases", (_NOTE,))


def _history(history: Any) -> dict[str, Any]:
    """The numbers of one call of `log`; keys inside others are joined by "/"."""
    names = [item.key or "/".join(item.nested_key) for item in history.item]
    row = {
        name: json.loads(item.value_json) for name, item in zip(names, history.item, strict=True)
    }
    # Pictures and tables are objects, which nobody asks for.
    return {name: value for name, value in row.items() if not isinstance(value, dict | list)}


def _records(path: str) -> Iterator[bytes]:
    """Yield the records of the file; a last one that is cut off is left out.

    Raises:
        DataLossError: a checksum is wrong.
    """
    parts: list[bytes] = []
    with open(path, "rb") as file:
        file.seek(_HEADER)
        while True:
            position = file.tell()
            if _BLOCK - position % _BLOCK < _HEADER:
                file.seek(position + _BLOCK - position % _BLOCK)
                continue
            header = file.read(_HEADER)
            if len(header) < _HEADER:
                return
            checksum = int.from_bytes(header[:4], "little")
            length = int.from_bytes(header[4:6], "little")
            kind = header[6]
            data = file.read(length)
            if len(data) < length or not any(header):
                return
            if zlib.crc32(data, zlib.crc32(bytes([kind]))) != checksum:
                raise DataLossError(
                    f"{path} is damaged at byte {position:,}; export the run's history as CSV from "
                    "its page, and read that"
                )
            if kind in (_FULL, _FIRST):
                parts = []
            parts.append(data)
            if kind in (_FULL, _LAST):
                yield b"".join(parts)
