"""Any engine's trace again, without its engine: the same moves in the same order give the same bits."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .._base.arrays import Array
from .checks import whole
from .experiment import Experiment
from .ledger import CHECK
from .server import Server, Weights
from .trace import Trace

Watch = Callable[[int, int, Weights], None]  # step, time, weights after an update


def replay(experiment: Experiment, trace: Trace, watch: Watch | None = None) -> dict[str, Array]:
    """The weights after the moves of a trace; gradients are computed again from the seed.

    Args:
        experiment: that of the trace, or another one with as many workers: "the same schedule, another optimizer".
        watch: called after every update with (step, time, weights).

    What is accepted is decided again, by the experiment given. No worker waits: who came when is the trace's.

    Returns: the final weights, bit for bit those of the engine if the experiment is the trace's own.

    Raises: ValueError: a move of a worker that is not there. Not in TensorFlow.

    >>> from gradlab.workers import Bowl, run
    >>> e = Experiment(Bowl(), gradients=20)
    >>> trace = run(e)
    >>> bool((replay(e, trace)["w"] == trace.weights["w"]).all())
    True
    """
    server = Server(experiment)
    for (move, worker), time in zip(trace.moves.tolist(), trace.times.tolist(), strict=True):
        step(server, move, worker, time, watch)
    return dict(server.weights)


def step(server: Server, move: int, worker: int, time: int, watch: Watch | None = None) -> None:
    """One move, with the worker's gradient computed when the server needs it."""
    before = server.step
    gradient = None
    if move == CHECK:
        number = server.ledger.clock[worker]
        gradient = server.experiment.gradient(server.held(worker), worker, number)
    server.handle(move, worker, time, gradient)
    if watch is not None and server.step > before:
        watch(server.step, time, server.weights)


def loss_curve(trace: Trace, experiment: Experiment | None = None, every: int = 1) -> dict[str, np.ndarray]:
    """The watched loss over a run: arrays `step`, `time`, `loss`, at the start, every `every`-th update and the last.

    Args:
        experiment: to run on the trace's schedule, as in `replay`; by default the trace's own.

    Not in TensorFlow.

    >>> from gradlab.workers import Bowl, run
    >>> loss_curve(run(Experiment(Bowl(), workers=1, gradients=5)), every=2)["step"].tolist()
    [0, 2, 4, 5]
    """
    whole("every", every, 1)
    experiment = experiment or trace.experiment
    points = [(0, 0, experiment.problem.loss(experiment.start()))]
    last = 0, 0  # update and time

    def watch(step: int, time: int, weights: Weights) -> None:
        nonlocal last
        last = step, time
        if step % every == 0:
            points.append((*last, experiment.problem.loss(weights)))

    weights = replay(experiment, trace, watch)
    if last[0] > points[-1][0]:
        points.append((*last, experiment.problem.loss(weights)))
    steps, times, losses = zip(*points, strict=True)
    return {"step": np.array(steps), "time": np.array(times), "loss": np.array(losses)}
