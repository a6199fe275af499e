"""A recording in fewer rows, for whoever cannot look at all of them."""

from __future__ import annotations

import copy
from typing import TypeVar

from . import batch
from .recording import Recording
from .rows import BY_ROW

AnyRecording = TypeVar("AnyRecording", bound=Recording)


def condensed(rec: AnyRecording, rows: int) -> AnyRecording:
    """The recording itself if it has no more rows than that, else one with every two neighbours joined, and so on."""
    if len(rec) <= rows:
        return rec
    fewer = copy.copy(rec)
    fewer._data = {name: x.copy() for name, x in rec._data.items()}
    while len(fewer) > rows:
        there = len(fewer)
        fewer._data |= {name: fewer._data[name][:there] for name in BY_ROW}
        batch.halve(fewer._data)
        fewer.stride *= 2
    return fewer
