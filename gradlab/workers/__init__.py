"""Asynchronous training: one experiment, several engines, and traces that repeat bit for bit.

Workers are generators of moves, the server is a state machine without locks or clocks, and an
engine only decides which worker acts next.

>>> import gradlab as gl
>>> e = gl.workers.Experiment(gl.workers.Bowl(), workers=3, staleness=1, gradients=30)
>>> gl.workers.run(e)
<gradlab.workers.Trace of 30 gradients, 19 accepted, 19 updates, 3 workers, simulated, last move 'update'>
"""

import importlib as _importlib
import inspect as _inspect
import typing as _typing
from collections.abc import Callable as _Callable
from typing import TYPE_CHECKING

from .._base.suggest import only_public as _only_public
from .diagram import Diagram as Diagram
from .diagram import sweep as sweep
from .experiment import Experiment as Experiment
from .interleavings import Outcome as Outcome
from .interleavings import Outcomes as Outcomes
from .interleavings import explore as explore
from .ledger import CHECK as CHECK
from .ledger import JOIN as JOIN
from .ledger import LEAVE as LEAVE
from .ledger import MOVES as MOVES
from .ledger import POLICIES as POLICIES
from .ledger import READ as READ
from .ledger import RECORD as RECORD
from .ledger import UPDATE as UPDATE
from .ledger import Ledger as Ledger
from .ledger import Round as Round
from .problems import Bowl as Bowl
from .problems import Digits as Digits
from .problems import FromLoss as FromLoss
from .problems import Problem as Problem
from .problems import Reader as Reader
from .replays import loss_curve as loss_curve
from .replays import replay as replay
from .server import Server as Server
from .simulated import Simulation as Simulation
from .simulated import uniform_delays as uniform_delays
from .speeds import Crash as Crash
from .speeds import Speeds as Speeds
from .tables import Tables as Tables
from .trace import Trace as Trace

__all__ = [
    "CHECK",
    "ENGINES",
    "JOIN",
    "LEAVE",
    "MOVES",
    "POLICIES",
    "READ",
    "RECORD",
    "UPDATE",
    "Bowl",
    "Crash",
    "Diagram",
    "Digits",
    "Engine",
    "Experiment",
    "FromLoss",
    "Ledger",
    "Outcome",
    "Outcomes",
    "Problem",
    "Reader",
    "Round",
    "Server",
    "Simulation",
    "Speeds",
    "Tables",
    "Trace",
    "explore",
    "loss_curve",
    "replay",
    "run",
    "sweep",
    "uniform_delays",
]

Engine = _Callable[..., Trace]
# Each is a module with a function `run(experiment, **options) -> Trace`, imported late because some
# import libraries.
ENGINES = {"simulated": "simulated", "threads": "threads", "ray": "on_ray"}

if not TYPE_CHECKING:
    __getattr__, __dir__ = _only_public(__name__)


def run(
    experiment: Experiment, engine: str | Engine = "simulated", **options: _typing.Any
) -> Trace:
    """Run an experiment on one of `ENGINES`, or on a function `(experiment, **options) -> Trace`.

    Options go to the engine: `run(experiment, "threads", tick=1e-4)`. Not in TensorFlow.

    Raises:
        ValueError: no such engine.
        TypeError: an option that the engine does not have.

    >>> run(Experiment(Bowl(), workers=1, gradients=5)).updates
    5
    """
    if callable(engine):
        return engine(experiment, **options)
    if engine not in ENGINES:
        raise ValueError(
            f"engine must be one of {', '.join(ENGINES)} or a function, got {engine!r}"
        )
    module = _importlib.import_module(f".{ENGINES[engine]}", __name__)
    _, *known = _inspect.signature(module.run).parameters
    for name in options:
        if name not in known:
            known_options = ", ".join(known) or "none"
            raise TypeError(f"engine {engine!r} has no option {name!r}; it has {known_options}")
    trace: Trace = module.run(experiment, **options)
    return trace
