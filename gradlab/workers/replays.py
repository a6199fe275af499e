"""Replays: the same moves in the same order give the same bits, without the engine that made them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .._base.arrays import Array
from .experiment import Experiment
from .ledger import CHECK
from .server import Server, Weights
from .trace import Trace
from .validation import check_whole

Watch = Callable[[int, int, Weights], None]  # step, time, weights after an update


def replay(experiment: Experiment, trace: Trace, watch: Watch | None = None) -> dict[str, Array]:
    """Make the moves of a trace again; gradients are computed again from the seed.

    What is accepted is decided again, by the experiment given. No worker waits: the order is the
    trace's.

    Args:
        experiment: that of the trace, or a different one with as many workers: "the same schedule,
            another optimizer".
        watch: called after every update with (step, time, weights).

    Returns:
        The final weights, bit for bit those of the engine if the experiment is the trace's own.

    Raises:
        ValueError: a move of a worker that the experiment does not have.

    Not in TensorFlow.

    >>> from gradlab.workers import Bowl, run
    >>> e = Experiment(Bowl(), gradients=20)
    >>> trace = run(e)
    >>> bool((replay(e, trace)["w"] == trace.weights["w"]).all())
    True
    """
    server = Server(experiment)
    for (move, worker), time in zip(trace.moves.tolist(), trace.times.tolist(), strict=True):
        replay_move(server, move, worker, time, watch)
    return dict(server.weights)


def replay_move(
    server: Server, move: int, worker: int, time: int, watch: Watch | None = None
) -> None:
    """Make one move, and compute the worker's gradient if the server needs it."""
    step_before = server.step
    gradient = None
    if move == CHECK:
        number = server.ledger.clock[worker]
        gradient = server.experiment.gradient(server.held(worker), worker, number)
    server.handle(move, worker, time, gradient)
    if watch is not None and server.step > step_before:
        watch(server.step, time, server.weights)


def loss_curve(
    trace: Trace, experiment: Experiment | None = None, every: int = 1
) -> dict[str, np.ndarray]:
    """Return the watched loss over a run, at the start, after every `every`-th update and after the last.

    Args:
        experiment: to run on the trace's schedule, as in `replay`; by default the trace's own.

    Returns:
        Arrays `step`, `time` and `loss` of one length.

    Not in TensorFlow.

    >>> from gradlab.workers import Bowl, run
    >>> loss_curve(run(Experiment(Bowl(), workers=1, gradients=5)), every=2)["step"].tolist()
    [0, 2, 4, 5]
    """
    check_whole("every", every, 1)
    experiment = experiment or trace.experiment
    points = [(0, 0, experiment.problem.loss(experiment.start()))]
    last_update = (0, 0)  # step and time

    def watch(step: int, time: int, weights: Weights) -> None:
        nonlocal last_update
        last_update = (step, time)
        if step % every == 0:
            points.append((step, time, experiment.problem.loss(weights)))

    weights = replay(experiment, trace, watch)
    if last_update[0] > points[-1][0]:
        points.append((*last_update, experiment.problem.loss(weights)))
    steps, times, losses = zip(*points, strict=True)
    return {"step": np.array(steps), "time": np.array(times), "loss": np.array(losses)}
