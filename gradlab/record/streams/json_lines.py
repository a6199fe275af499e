"""Steps as lines of JSON: one object for each, which every program reads."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from os import PathLike
from typing import Any

import numpy as np

from ..._base.atomic_files import atomic_replace
from ...errors import DataLossError, InvalidArgumentError
from .. import step_totals
from .sink import FLAG, Steps

_WORDS = {"NaN": np.nan, "Infinity": np.inf, "-Infinity": -np.inf}  # which JSON has no numbers for


class JsonLines:
    """A file of lines such as {"step": 3, "global_norm": 0.25, "largest": "Infinity", "skipped": true}."""

    most = 1000

    def __init__(self, path: str | PathLike[str]) -> None:
        self.name = self._path = os.path.abspath(os.fsdecode(os.fspath(path)))
        self._file: Any = None

    def begin(self, steps: Steps) -> int:
        """Keep the lines that are there of these steps, and no other."""
        there = dict(_lines(self._path)) if os.path.exists(self._path) else {}
        mine = {step: _line(step, values) for step, values in steps}
        unknown = {step for step, values in steps if values["global_norm"] == step_totals.LOST}
        kept = {
            step: line for step, line in there.items() if step in unknown or mine.get(step) == line
        }
        if there and (not kept or [*kept] != [step for step in there if step in mine]):
            raise InvalidArgumentError(
                f"{self.name} holds {len(there):,} steps of another run; stream to another file, "
                "or delete it"
            )
        if there and not (len(there) == len(kept) and _ends_well(self._path)):
            with atomic_replace(self._path) as part:
                part.write_text("".join(kept.values()), "utf-8")
        self._file = open(self._path, "ab", buffering=0)  # noqa: SIM115  # closed by `close`
        return max(kept, default=-1) + 1

    def write(self, steps: Steps) -> None:
        data = "".join(_line(step, values) for step, values in steps).encode()
        end = os.fstat(self._file.fileno()).st_size
        try:
            rest = memoryview(data)
            while rest:
                rest = rest[self._file.write(rest) :]
        except OSError:
            self._file.truncate(end)
            raise

    def flush(self) -> None:
        """Every line is in the file at once."""

    def close(self) -> None:
        if self._file is not None:
            self._file.close()


def read_json_lines(path: str | PathLike[str]) -> dict[str, np.ndarray]:
    """Read what `Recorder.stream` wrote to a .jsonl file, whole or still being written: an array for each column.

        "step" int64, "skipped" bool, all others float32, NaN where a step has no such number

    Raises:
        OSError: it cannot be opened.
        DataLossError: a line that is none of a step after the one before, but for the last one,
            which may be cut off.

    Not in TensorFlow.

    >>> import tempfile, os
    >>> from gradlab import Recorder
    >>> rec = Recorder()
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with rec.stream(path := os.path.join(folder, "run.jsonl")):
    ...         rec.record([np.array([3.0, 4.0])], loss=0.5)
    ...         rec.record([np.array([np.inf, 0.0])], loss=np.nan, scale=8.0, skipped=True)
    ...     found = read_json_lines(path)
    >>> found["global_norm"].tolist(), found["loss"].tolist(), found["skipped"].tolist()
    ([5.0, inf], [0.5, nan], [False, True])
    """
    rows = [json.loads(line) for _, line in _lines(os.fsdecode(os.fspath(path)))]
    names = dict.fromkeys(name for row in rows for name in row)
    found = {
        name: np.array([_number(row.get(name, np.nan)) for row in rows], np.float32)
        for name in names
    }
    types = {"step": np.int64, FLAG: np.bool_}
    return found | {
        name: np.array([row[name] for row in rows], dtype) for name, dtype in types.items()
    }


def _line(step: int, values: dict[str, float]) -> str:
    row = {"step": step} | {
        name: bool(x) if name == FLAG else _plain(x) for name, x in values.items()
    }
    return json.dumps(row, allow_nan=False) + "\n"


def _plain(x: float) -> float | str:
    return (
        x
        if np.isfinite(x)
        else next(word for word, y in _WORDS.items() if y == x or (y != y and x != x))
    )


def _number(x: Any) -> float:
    return _WORDS[x] if isinstance(x, str) else float(x)


def _lines(path: str) -> Iterator[tuple[int, str]]:
    """The step of each whole line, and the line."""
    last = -1
    with open(path, "rb") as file:
        for k, line in enumerate(file):
            if not line.endswith(b"\n"):
                return  # its process was killed while it wrote it
            try:
                row = json.loads(line)
                if not (
                    type(row["step"]) is int and row["step"] > last and type(row[FLAG]) is bool
                ):
                    raise ValueError(f"it has step {row['step']} after step {last}")
                for name in row.keys() - {FLAG}:
                    _number(row[name])
            except (ValueError, KeyError, TypeError) as error:
                raise DataLossError(
                    f"line {k + 1} of {path} is no line of a stream: {type(error).__name__}, "
                    f"{error}. Nothing of it was taken; load another copy"
                ) from error
            last = row["step"]
            yield last, line.decode()


def _ends_well(path: str) -> bool:
    """Tell whether a file, if there is one, ends with a whole line."""
    if not os.path.exists(path):
        return True
    with open(path, "rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - 1))
        return file.read() in (b"", b"\n")
