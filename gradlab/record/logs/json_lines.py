"""Logs with a JSON object on each line: LLaMA-Factory's, W&B's history, gradlab's stream, your own.

Lines may have different keys, as those of training and evaluation, so the columns are looked up once
for each set of keys.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from ...errors import DataLossError, InvalidArgumentError
from .lines import numbered_lines
from .table import ColumnNames, LogTable, Rows, find_columns, refuse_without_norm

_LLAMA_FACTORY = (
    "The norm is what the trainer logs, before its clip.",
    "The loss is the mean over the steps since the line before.",
)
_OWN = "The norm is of the gradient that the recorder was given."
_UNKNOWN = "Whether the norm is before or after a clip, the log doesn't say."


def read(path: str, columns: Mapping[str, str] | None) -> LogTable:
    """Read the file."""
    rows = Rows()
    by_keys: dict[tuple[str, ...], ColumnNames] = {}
    norm_key: str | None = None
    loads = json.loads
    cut_off = False
    for number, line, is_whole in numbered_lines(path):
        if not line.strip():
            continue
        try:
            row = loads(line)
        except (ValueError, RecursionError) as error:
            if not is_whole:
                cut_off = True
                break
            raise DataLossError(
                f"line {number} of {path} is not a JSON object: {error}. Mend or remove the line"
            ) from error
        if type(row) is not dict:
            raise DataLossError(
                f"line {number} of {path} is not a JSON object but {line.strip()[:40]!r}. Mend or "
                "remove the line"
            )
        keys = tuple(row)
        found = by_keys.get(keys)
        if found is None:
            found = by_keys[keys] = find_columns(keys, columns, path)
            if found.norm is not None:
                norm_key = norm_key or found.norm
                if found.norm != norm_key:
                    raise InvalidArgumentError(
                        f"line {number} of {path} has {found.norm} where earlier ones have "
                        f"{norm_key}; pass the norm to read: "
                        'columns={"norm": ' + f'"{norm_key}"' + "}"
                    )
        if found.norm is None and found.loss is None:
            continue
        rows.add(
            f"line {number} of {path}",
            row.get(found.step),
            row.get(found.norm),
            row.get(found.loss),
            counted_steps=found.step is None,
        )
    names = {name for keys in by_keys for name in keys}
    if not len(rows):
        refuse_without_norm(path, sorted(names), columns)
    tool, notes = _tool_of(names)
    if all(found.step is None for found in by_keys.values() if found.norm is not None):
        notes = (*notes, "The log has no steps; its lines are counted from 0.")
    if cut_off:
        notes = (*notes, "The last line was cut off, as while it is written, and left out.")
    return rows.finish(tool, notes)


def _tool_of(names: set[str]) -> tuple[str, tuple[str, ...]]:
    """Tell by their keys who wrote the lines."""
    if {"current_steps", "total_steps"} <= names:
        return "LLaMA-Factory", _LLAMA_FACTORY
    if {"global_norm", "leading_norm", "skipped"} <= names:
        return "a gradlab stream", (_OWN,)
    if {"_step", "_runtime"} & names:
        return "Weights & Biases", (_UNKNOWN,)
    return "JSON lines", (_UNKNOWN,)
