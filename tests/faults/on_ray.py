"""Kills of the processes of a run on Ray: of its server, of its workers, whatever they are at."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import numpy as np

from gradlab._files.log import Log
from gradlab.workers import UPDATE, Bowl, Experiment, Trace, on_ray, replay
from gradlab.workers.durable import Durable
from gradlab.workers.ray_start import connected
from tests.faults.fault import Fault


class Cruel(on_ray.Driver):
    """Kills the server, a worker, or both, a few times in a run."""

    seed = 0

    def _next(self) -> None:
        if not hasattr(self, "kills"):
            self.rng, self.events = np.random.default_rng(self.seed), 0
            self.kills = set(self.rng.choice(np.arange(3, 120), 4, replace=False).tolist())
        self.events += 1
        if self.events in self.kills:
            who = int(self.rng.integers(3))
            if who != 1:
                self.server.kill()
            if who != 0:
                self._bury(int(self.rng.integers(self.experiment.workers)))
        super()._next()


def killed(folder: Path, seed: int) -> str:
    """The trace replays to the bit, the log holds it, and each request that was answered is in it once."""
    e = Experiment(Bowl(noise=0.5), workers=3, policy=("drop", "apply", "backup")[seed % 3], staleness=2, aggregate=2,
                   gradients=40, seed=seed)  # fmt: skip
    with connected() as ray:
        driver = Cruel(ray, e, log=folder / "run.log", sync=False, timeout=400)
        driver.seed = seed
        try:
            trace = driver.run()
        except Exception as error:  # what it is, is said in the table
            return f"{type(error).__name__}: {error}"
    return _lost(driver, trace)


def _lost(driver: on_ray.Driver, trace: Trace) -> str:
    e, path = driver.experiment, driver.log
    if replay(e, trace)["w"].tobytes() != trace.weights["w"].tobytes():
        return "the replay differs"
    handed_in = list(zip(trace.rounds["worker"].tolist(), trace.rounds["number"].tolist(), strict=True))
    if len(set(handed_in)) != len(handed_in) or (trace.moves[:, 0] == UPDATE).sum() != e.gradients:
        return "a gradient counts twice"
    with closing(Durable(e, path)) as again:
        if again.server.weights["w"].tobytes() != trace.weights["w"].tobytes():
            return "the log gives other weights"
    assert path is not None
    with Log(path) as log:
        requests = [(fields["worker"], fields["serial"]) for fields, _ in log if "serial" in fields]
    for k, answered in enumerate(driver.serials):
        serials = [serial for worker, serial in requests if worker == k]
        if serials != list(range(1, len(serials) + 1)) or answered > len(serials):
            return f"worker {k} was answered {answered} requests, the log holds {serials[-3:]}"
    return ""


FAULTS = [Fault("server and workers of a run on Ray killed", killed, 1)]
