"""CSV: Lightning's `metrics.csv`, exports of W&B, and tables of your own."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, islice

from ...errors import DataLossError
from .lines import blocks
from .table import (
    MOST_STEP,
    ColumnNames,
    LogTable,
    Rows,
    find_columns,
    is_norm,
    refuse_without_norm,
)

_CHUNK = 4096  # rows that are read together
_DELIMITERS = ",\t;"
_UNKNOWN = "Whether the norm is before or after a clip, the log doesn't say."
_LIGHTNING = (
    "The norm is what the module logged: that of on_before_optimizer_step is before Lightning's own "
    "clip."
)


def header_of(line: str) -> list[str]:
    """Return the names of columns in the first line of a table."""
    return [name.strip() for name in next(csv.reader([line], delimiter=_delimiter(line)), [])]


def is_table(lines: Sequence[str], columns: Mapping[str, str] | None) -> bool:
    """Tell a table from other text by its first lines: a header with a norm, or two lines with as many fields."""
    names = header_of(lines[0])
    if (columns or {}).get("norm") in names or any(is_norm(name) for name in names):
        return True
    if len(names) < 2:
        return False
    delimiter = _delimiter(lines[0])
    return len(lines) < 2 or lines[1].count(delimiter) == lines[0].count(delimiter)


def _delimiter(line: str) -> str:
    return max(_DELIMITERS, key=line.count)


class _Lines:
    """The lines of a file for `csv.reader`; a last one that is cut off is left out."""

    def __init__(self, path: str) -> None:
        self.cut_off = ""
        self._path = path

    def __iter__(self) -> Iterator[str]:
        return chain.from_iterable(self._blocks())

    def _blocks(self) -> Iterator[list[str]]:
        for lines, rest in blocks(self._path):
            self.cut_off = rest or ""
            yield lines


def read(path: str, columns: Mapping[str, str] | None) -> LogTable:
    """Read the file."""
    lines = _Lines(path)
    stream = iter(lines)
    first = next(stream, "") or lines.cut_off
    names = header_of(first)
    found = find_columns(names, columns, path)
    if found.norm is None:
        refuse_without_norm(path, filter(None, names), columns)
    reader = csv.reader(stream, delimiter=_delimiter(first), strict=True)
    rows = Rows()
    try:
        while chunk := list(islice(reader, _CHUNK)):
            last_line = reader.line_num + 1  # the header is not of the reader's lines
            if not _add_quickly(rows, chunk, names, found):
                _add_slowly(rows, chunk, names, found, path, last_line)
    except csv.Error as error:
        raise DataLossError(
            f"line {reader.line_num + 1} of {path} is not CSV: {error}. Mend or remove the line"
        ) from error
    last_note = ""
    if lines.cut_off and first is not lines.cut_off:
        row = next(csv.reader([lines.cut_off], delimiter=_delimiter(first)), [])
        last_note = _add_last(rows, row, names, found, f"line {reader.line_num + 2} of {path}")
    if not len(rows):
        raise DataLossError(
            f"{path} has the column {found.norm!r}, and no row with a number in it yet"
        )
    tool, notes = _tool_of(names)
    if found.step is None:
        notes = (*notes, "The log has no steps; its lines are counted from 0.")
    return rows.finish(tool, [*notes, *filter(None, [last_note])])


def _add_quickly(
    rows: Rows, chunk: Sequence[Sequence[str]], names: Sequence[str], found: ColumnNames
) -> bool:
    """Add rows, column by column; False, and nothing is added, where one needs a closer look."""
    if found.step is None or found.norm is None or set(map(len, chunk)) != {len(names)}:
        return False
    step_place = names.index(found.step)
    try:
        norm_step, norm = _numbers(chunk, step_place, names.index(found.norm))
        loss_step: list[int] = []
        loss: list[float] = []
        if found.loss is not None:
            loss_step, loss = _numbers(chunk, step_place, names.index(found.loss))
    except ValueError:
        return False
    steps = (*norm_step, *loss_step)
    if steps and not 0 <= min(steps) <= max(steps) < MOST_STEP:
        return False
    if any(x < 0 for x in norm):
        return False
    rows.extend(norm_step, norm, loss_step, loss)
    return True


def _numbers(
    chunk: Sequence[Sequence[str]], step_place: int, place: int
) -> tuple[list[int], list[float]]:
    """Return the steps and numbers of the rows that have one in a column."""
    having = [row for row in chunk if row[place]]
    return [int(row[step_place]) for row in having], [float(row[place]) for row in having]


def _add_slowly(
    rows: Rows,
    chunk: Sequence[Sequence[str]],
    names: Sequence[str],
    found: ColumnNames,
    path: str,
    last_line: int,
) -> None:
    """Add rows one by one, so that one that is wrong is named."""
    for k, row in enumerate(chunk):
        if not row:
            continue
        # Exact unless fields have line breaks in them.
        place = f"line {last_line - len(chunk) + 1 + k} of {path}"
        _add_row(rows, row, names, found, place)


def _add_row(
    rows: Rows, row: Sequence[str], names: Sequence[str], found: ColumnNames, place: str
) -> None:
    if len(row) != len(names):
        raise DataLossError(
            f"{place} has {len(row)} fields, and the header has {len(names)}. Mend or remove it"
        )
    fields = dict(zip(names, row, strict=True))
    rows.add(
        place,
        fields.get(found.step or ""),
        fields.get(found.norm or ""),
        fields.get(found.loss or ""),
        counted_steps=found.step is None,
    )


def _add_last(
    rows: Rows, row: Sequence[str], names: Sequence[str], found: ColumnNames, place: str
) -> str:
    """Add the last line, which has no line break, if it has all fields; return what is to be said."""
    if len(row) != len(names):
        return "The last line was cut off, as while it is written, and left out."
    _add_row(rows, row, names, found, place)
    return (
        "The last line has no line break: if the log is still being written, its last number may be "
        "cut off."
    )


def _tool_of(names: Sequence[str]) -> tuple[str, tuple[str, ...]]:
    """Tell by its columns who wrote the table."""
    if any(name.endswith("__MAX") for name in names) or "_step" in names:
        return "Weights & Biases", (_UNKNOWN,)
    if {"epoch", "step"} <= set(names):
        return "Lightning, or a table like its own", (_LIGHTNING,)
    return "CSV", (_UNKNOWN,)
