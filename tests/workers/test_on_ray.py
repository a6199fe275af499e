"""What a run on Ray does, whoever dies: nothing is lost or done twice, it replays bit for bit, and nothing hangs.

Ray is a stand-in here; test_on_two_nodes.py has Ray itself, with processes and nodes that are killed.
"""

import os
import pickle
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import gradlab as gl
import tests.faults.on_ray
from gradlab.workers import CHECK, JOIN, LEAVE, Bowl, Crash, Digits, Experiment, Speeds, on_ray, run
from gradlab.workers.durable import Durable
from gradlab.workers.ray_driver import WorkerActor
from tests.test_readme import CLUSTER
from tests.workers.killing import POINTS, Cruel, Fragile, lost, wrong
from tests.workers.stand_in_ray import StandIn, end


@pytest.fixture
def ray(monkeypatch: pytest.MonkeyPatch) -> Iterator[StandIn]:
    """A stand-in; whatever a run does, none of its processes is left."""
    ray = StandIn()
    monkeypatch.setattr(os, "_exit", end)
    monkeypatch.setattr(os, "fsync", lambda file: None)  # processes die here, and not the machine
    for module in (on_ray, tests.faults.on_ray):
        monkeypatch.setattr(module, "connected", ray.connected)
    yield ray
    assert not ray.alive


@pytest.mark.parametrize("seed", range(3))
def test_a_run_replays_bit_for_bit(ray: StandIn, seed: int) -> None:
    ray.rng = np.random.default_rng(seed)
    e = Experiment(Digits(hidden=(4,)), gl.rules.Adam(), 0.01, workers=2, policy="wait", gradients=16)
    trace = run(e, "ray", tick=0)
    assert not wrong(trace)
    assert trace.true_staleness.max() <= 2  # nobody is ahead of the other, so one update comes between at most
    assert abs(np.diff(trace.by_worker()["handed_in"])).max() <= 1
    speeds = Speeds(slow={1: 3}, crashes=(Crash(0, 2, after=100), Crash(1, 4)))
    e = Experiment(Digits(), workers=2, atomic=False, step_first=False, gradients=30, speeds=speeds)
    trace = run(e, "ray", tick=0)
    assert not wrong(trace)
    left = sorted((move, k) for move, k in trace.moves.tolist() if move in (LEAVE, JOIN))
    assert left == [(LEAVE, 0), (LEAVE, 1), (JOIN, 0)]


class HopelessWorker(WorkerActor):
    def gradient(self, weights: Any, worker: int, number: int, seconds: float) -> Any:
        os._exit(1)


class Hopeless(on_ray.Driver):
    worker_class = HopelessWorker


class Mortal(on_ray.Driver):
    """Is interrupted."""

    def _next(self) -> None:
        super()._next()
        if self.made > 15:
            raise KeyboardInterrupt


def test_no_update_is_lost_where_processes_end_at_the_worst_of_times(ray: StandIn, tmp_path: Path) -> None:
    e = Experiment(Bowl(noise=0.5), gl.rules.Adam(), 0.01, workers=2, policy="backup", aggregate=2, gradients=30)
    driver = Fragile(ray, e, log=tmp_path / "run.log", tick=0)
    trace = driver.run()
    assert not wrong(trace) and not lost(driver, trace)
    assert {p.name for p in tmp_path.iterdir()} == {"run.log", *POINTS}
    assert sorted(k for move, k in trace.moves.tolist() if move == LEAVE) == [0, 1]
    assert trace.accepted.all() and trace.updates == 15


@pytest.mark.exhaustive
def test_no_update_is_lost_whoever_is_killed_when(ray: StandIn, tmp_path: Path) -> None:
    assert tests.faults.on_ray.killed(20, tmp_path, 0) == ""


def test_an_interrupted_run_goes_on_from_its_log(ray: StandIn, tmp_path: Path) -> None:
    e, path = Experiment(Bowl(), workers=2, policy="apply", gradients=20), tmp_path / "run.log"
    with pytest.raises(KeyboardInterrupt):
        Mortal(ray, e, log=path).run()
    with closing(Durable(e, path)) as server:
        before = server.trace("ray")
    assert 0 < len(before) < 20
    trace = run(e, "ray", log=path)
    assert not wrong(trace)
    assert (trace.moves[: len(before.moves)] == before.moves).all()
    assert sorted(k for move, k in trace.moves.tolist() if move == LEAVE) == [0, 1]


def test_a_gradient_that_a_server_took_before_it_died_is_not_sent_again() -> None:
    asked, driver = list[tuple[Any, ...]](), object.__new__(on_ray.Driver)
    remote = SimpleNamespace(remote=lambda *arguments: asked.append(arguments) or (object(), object()))
    server = SimpleNamespace(actor=SimpleNamespace(ask=SimpleNamespace(options=lambda num_returns: remote)))

    def reopen(death: Exception, answered: list[int], timeout: float | None) -> None:
        server.serials = [1, 0]  # of two requests under way the first is in the log

    server.reopen = reopen
    vars(driver).update(serials=[0, 0], until=None, server=server, ray=SimpleNamespace(exceptions=SimpleNamespace()))
    driver.ray.exceptions.RayActorError = OSError
    for worker in range(2):
        asking = driver._ask(worker, (CHECK,), "gradient")
        next(asking)
        asking.throw(OSError())
    assert asked == [
        (0, 1, (CHECK,), "gradient"), (0, 1, (CHECK,), None), (1, 1, (CHECK,), "gradient"), (1, 1, (CHECK,), "gradient")
    ]  # fmt: skip


def test_a_server_without_a_log_takes_the_run_with_it(ray: StandIn) -> None:
    with pytest.raises(RuntimeError, match="the server died, and its state with it; give log=path"):
        Cruel(ray, Experiment(Bowl(), workers=1)).run()


def test_a_log_that_lacks_what_was_answered_is_noticed(ray: StandIn, tmp_path: Path) -> None:
    driver = Mortal(ray, Experiment(Bowl(), workers=1), log=tmp_path / "run.log")
    with pytest.raises(KeyboardInterrupt):
        driver.run()
    (tmp_path / "run.log").unlink()
    with pytest.raises(RuntimeError, match=r"run.log lacks what the server had answered: is it on a disk that all"):
        driver.server.reopen(OSError(), driver.serials, timeout=None)
    driver.server.kill()


def test_a_worker_that_dies_again_and_again_is_given_up(ray: StandIn) -> None:
    with pytest.raises(RuntimeError, match="worker 0 died 5 times in a row without a gradient"):
        Hopeless(ray, Experiment(Bowl(), workers=1)).run()


def test_nobody_left_is_said_and_not_waited_for(ray: StandIn) -> None:
    e = Experiment(Bowl(), workers=1, speeds=Speeds(crashes=(Crash(0, 1),)))
    with pytest.raises(gl.errors.DeadlockError, match=r"no worker can go on after 1 gradient: .* alive are \[\]"):
        run(e, "ray")


class Late(on_ray.Driver):
    """Out of time once it has made a move."""

    def _next(self) -> None:
        super()._next()
        self.until = 0.0 if self.made else self.until


def test_a_run_that_takes_too_long_is_ended(ray: StandIn) -> None:
    e = Experiment(Bowl(), workers=1)
    with pytest.raises(TimeoutError, match=r"not over in time: Ray alone was up after [\d.]+ s, timeout=0\.0$"):
        run(e, "ray", timeout=0.0)
    with pytest.raises(TimeoutError, match="not over in time: the processes of the run were not up yet"):
        on_ray.Driver(ray, e, timeout=0.0).run()
    with pytest.raises(TimeoutError, match=r"not over in time: [1-9]\d* moves were made"):
        Late(ray, e, timeout=300).run()


def test_a_server_that_is_late_is_told_like_any_other(ray: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    driver = on_ray.Driver(ray, Experiment(Bowl(), workers=1), timeout=300)
    monkeypatch.setattr(driver, "_wait", lambda refs, count: setattr(driver, "until", 0.0))
    with pytest.raises(TimeoutError, match="not over in time: the processes of the run were not up yet"):
        driver.run()


def test_errors_arrive_whole_from_another_process() -> None:
    for error in (gl.errors.DeadlockError("a"), gl.errors.InvalidArgumentError("b"), gl.errors.DataLossError("c")):
        again = pickle.loads(pickle.dumps(error))
        assert type(again) is type(error) and str(again) == str(error)


def test_the_guide_prints_what_it_should(
    ray: StandIn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    exec(compile(CLUSTER, "asynchronous.md", "exec"), {})
    first, second = capsys.readouterr().out.splitlines()
    assert "Trace of 300 gradients" in first and "3 workers, ray" in first
    assert second == "True True"
    assert (tmp_path / "run.log").exists()
