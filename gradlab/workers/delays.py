"""An engine in which staleness is drawn, not grown: what a given staleness does, apart from what caused it."""

from __future__ import annotations

import numpy as np

from .checks import whole
from .experiment import Experiment
from .ledger import CHECK, READ, RECORD, UPDATE
from .replays import step
from .server import Server
from .trace import Trace


class uniform_delays:
    """Engine: gradient n is computed from weights that are 0 to `most` updates old, each as likely (Dai et al. 2018).

    Every gradient has a worker of its own, so an experiment for it has as many workers as gradients; speeds play no
    part. Not in TensorFlow. Raises: ValueError: it has not, or `most` is not a whole number of at least 0.
    Source: Dai, Zhou, Dong, Zhang & Xing, "Toward Understanding the Impact of Staleness in Distributed Machine
    Learning" (2018).

    >>> from gradlab.workers import Bowl, run
    >>> trace = run(Experiment(Bowl(), workers=50, gradients=50, policy="apply"), uniform_delays(4))
    >>> trace.updates, int(trace.true_staleness.max())
    (50, 4)
    """

    def __init__(self, most: int) -> None:
        whole("most", most, 0)
        self.most = most

    def __call__(self, experiment: Experiment) -> Trace:
        count = experiment.gradients
        if experiment.workers != count:
            raise ValueError(f"uniform_delays wants a worker for each of the {count} gradients: workers={count}")
        drawn = np.random.default_rng([experiment.seed, self.most]).integers(0, self.most + 1, count)
        reads = np.arange(count) - np.minimum(drawn, np.arange(count))
        begins: list[list[int]] = [[] for _ in range(count)]
        for worker, read in enumerate(reads.tolist()):
            begins[read].append(worker)
        log = []
        for now, starting in enumerate(begins):
            log += [(move, worker, now) for worker in starting for move in (READ, RECORD)]
            log += [(CHECK, now, now), (UPDATE, now, now)]
        server = Server(experiment)
        for move, worker, time in log:
            step(server, move, worker, time)
        return Trace.of(experiment, "uniform_delays", "updates", log, server.ledger.rounds, server.weights)
