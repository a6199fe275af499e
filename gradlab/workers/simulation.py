"""A run to walk through, move by move, in both directions."""

from __future__ import annotations

import numpy as np

from .._base.errors import InvalidArgumentError
from .checks import whole
from .experiment import Experiment
from .ledger import MOVES
from .replays import step
from .server import Server
from .simulated import decide
from .trace import Trace

_EVERY = 16  # moves between two states that are kept, which share their arrays


class Simulation:
    """The server as it is after any number of the moves of a run.

    Args:
        run: an experiment, to be run in virtual time, or any engine's trace.

    Fields: `trace`; `server`, as it is at `position`, the number of moves made. `len` is how many there are.

    Not in TensorFlow.

    >>> from gradlab.workers import Bowl
    >>> run = Simulation(Experiment(Bowl(), workers=2, gradients=10))
    >>> run.forward(7).ledger.step, run.move
    (1, ('read', 1, 102))
    >>> run.back(2).ledger.step, run.position, len(run)
    (0, 5, 42)
    """

    def __init__(self, run: Experiment | Trace) -> None:
        self.trace = run if isinstance(run, Trace) else decide(run)
        self.server, self.position = Server(self.trace.experiment), 0
        self._kept = [self.server.copy()]  # after 0, _EVERY, 2 * _EVERY, ... moves, as far as the walk went

    def __len__(self) -> int:
        return len(self.trace.moves)

    @property
    def move(self) -> tuple[str, int, int] | None:
        """The move made last: its name, the worker and the time."""
        if self.position == 0:
            return None
        move, worker = self.trace.moves[self.position - 1].tolist()
        return MOVES[move], worker, self.time

    @property
    def time(self) -> int:
        """When the last move was made, in the trace's unit."""
        return int(self.trace.times[self.position - 1]) if self.position else 0

    def forward(self, moves: int = 1) -> Server:
        """Go on by so many moves, at most to the end."""
        whole("moves", moves, 0)
        return self.goto(min(len(self), self.position + moves))

    def back(self, moves: int = 1) -> Server:
        """Take so many moves back, at most to the start."""
        whole("moves", moves, 0)
        return self.goto(max(0, self.position - moves))

    def goto(self, position: int) -> Server:
        """The server after the first `position` moves.

        Raises: ValueError: not from 0 to `len`.
        """
        whole("position", position, 0)
        if position > len(self):
            raise InvalidArgumentError(f"position must be from 0 to {len(self)}, got {position}")
        nearest = min(position // _EVERY, len(self._kept) - 1)
        if not nearest * _EVERY <= self.position <= position:
            self.server, self.position = self._kept[nearest].copy(), nearest * _EVERY
        for now in range(self.position, position):
            move, worker = self.trace.moves[now].tolist()
            step(self.server, move, worker, int(self.trace.times[now]))
            if now + 1 == len(self._kept) * _EVERY:
                self._kept.append(self.server.copy())
            self.position = now + 1
        return self.server

    def goto_time(self, time: int) -> Server:
        """The server after all moves up to a time, in the trace's unit."""
        return self.goto(int(np.searchsorted(self.trace.times, time, side="right")))

    def __repr__(self) -> str:
        return f"<gradlab.workers.Simulation at move {self.position} of {len(self)}, time {self.time}, {self.trace!r}>"
