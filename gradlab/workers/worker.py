"""A worker is a generator: it says what it asks of the server next and how long it works before it does."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from .experiment import Experiment
from .ledger import CHECK, JOIN, LEAVE, READ, RECORD, UPDATE


class Piece(NamedTuple):
    """Moves that the server makes in one piece, and the ticks that the worker works before them."""

    ticks: int
    moves: tuple[int, ...]


def worker(experiment: Experiment, k: int, ticks: Sequence[int] | np.ndarray, first: int = 0) -> Iterator[Piece]:
    """The life of worker k from gradient `first` on; `ticks[n]` is how long gradient n takes.

    A piece that begins with a read is made once `may_read` allows it.
    """
    crashes = {crash.number: crash for crash in experiment.speeds.crashes if crash.worker == k}
    for number in range(first, len(ticks)):
        work = int(ticks[number])
        late = 0 if experiment.step_first else min(experiment.speeds.gap, work)
        yield Piece(0, (READ, RECORD) if experiment.step_first else (READ,))
        if crash := crashes.get(number):
            yield Piece(max(1, work // 2), (LEAVE,))
            if crash.after is None:
                return
            yield Piece(crash.after, (JOIN,))
            continue
        if not experiment.step_first:
            yield Piece(late, (RECORD,))
        if experiment.atomic:
            yield Piece(work - late, (CHECK, UPDATE))
        else:
            yield Piece(work - late, (CHECK,))
            yield Piece(experiment.speeds.gap, (UPDATE,))
