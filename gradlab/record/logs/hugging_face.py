"""`trainer_state.json` of Hugging Face's Trainer: the log is its list `log_history`.

Every checkpoint holds the log from the first step on, so of a folder the one of the latest step is
read. `grad_norm` is what `accelerate` returns from the clip, so it is the norm before it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ...errors import DataLossError
from .lines import open_text
from .table import LogTable, Rows, find_columns, refuse_without_norm

FILE = "trainer_state.json"
_MOST_BYTES = 1 << 30
_NOTES = (
    "The norm is that of the logged step alone, before the clip by max_grad_norm (1 unless the "
    "trainer was told otherwise). The file doesn't name the version of transformers; those from "
    "4.38 on log the norm.",
    "The loss is the mean over the steps since the line before; unless logging_nan_inf_filter is "
    "False, losses of NaN or Inf are replaced in it.",
)


def in_folder(folder: Path) -> Path | None:
    """Return the state of the latest checkpoint in a folder, or in the folder itself; None without any."""
    states = [*folder.glob(FILE), *folder.glob(f"checkpoint-*/{FILE}")]
    return max(states, key=_checkpoint_step, default=None)


def _checkpoint_step(path: Path) -> float:
    """The number in the name of a checkpoint; the state beside the checkpoints is of the end."""
    number = path.parent.name.removeprefix("checkpoint-")
    return int(number) if number.isdecimal() else float("inf")


def read(path: str, columns: Mapping[str, str] | None) -> LogTable:
    """Read the file."""
    entries = read_document(path, "log_history")
    return from_entries(path, entries, columns, "Hugging Face Trainer", _NOTES)


def from_entries(
    path: str,
    entries: list[Any],
    columns: Mapping[str, str] | None,
    tool: str,
    notes: tuple[str, ...],
) -> LogTable:
    """Return the table of a list of objects, one for each time that something was logged."""
    names: dict[str, None] = {}
    for k, entry in enumerate(entries):
        if not isinstance(entry, dict):
            raise DataLossError(f"entry {k + 1} of the log in {path} is not an object")
        names |= dict.fromkeys(entry)
    found = find_columns([*names], columns, path)
    if found.norm is None:
        refuse_without_norm(path, names, columns)
    rows = Rows()
    for k, entry in enumerate(entries):
        rows.add(
            f"entry {k + 1} of the log in {path}",
            entry.get(found.step),
            entry.get(found.norm),
            entry.get(found.loss),
            counted_steps=found.step is None,
        )
    if not len(rows):
        raise DataLossError(f"{path} has {found.norm!r}, and no number in it yet")
    return rows.finish(tool, notes)


def read_document(path: str, key: str) -> list[Any]:
    """Return the list under a key of a JSON document, or the document where it is a list.

    Raises:
        DataLossError: it is no such document, or too large.
    """
    if Path(path).stat().st_size > _MOST_BYTES:
        raise DataLossError(f"{path} has more than {_MOST_BYTES:,} bytes; write it as JSON lines")
    try:
        with open_text(path) as file:
            document = json.load(file)
    except json.JSONDecodeError as error:
        raise DataLossError(
            f"line {error.lineno} of {path} is not JSON: {error.msg}. If it is still being written, "
            "read it again later; else load another copy"
        ) from error
    except (ValueError, RecursionError) as error:
        raise DataLossError(f"{path} is not JSON that can be read: {error}") from error
    entries = document.get(key) if isinstance(document, dict) else document
    if not isinstance(entries, list):
        raise DataLossError(
            f'{path} is JSON without a list "{key}", so it is not a {FILE}; other logs are lines of '
            "JSON, one object on each"
        )
    return entries
