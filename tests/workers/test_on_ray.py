"""Real processes: what they do replays bit for bit, whoever of them dies, and nothing is lost or done twice.

Ray runs once for all tests here, its processes take a second each to start, and so each run does as much as it can.
"""

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

import gradlab as gl
from gradlab._base.arrays import Array
from gradlab.workers import JOIN, LEAVE, Bowl, Crash, Digits, Experiment, Speeds, Trace, on_ray, run
from gradlab.workers.durable import Durable
from gradlab.workers.on_ray import ServerActor, WorkerActor
from gradlab.workers.ray_start import connected
from tests.faults.on_ray import killed
from tests.test_readme import CLUSTER
from tests.workers.killing import Cruel, lost, same, wrong

pytestmark = pytest.mark.ray


@pytest.fixture(scope="module")
def ray(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A Ray of our own, beside JAX which warns of forks, and with temporary files too deep for sockets."""
    jnp.zeros(1).block_until_ready()
    deep = tmp_path_factory.mktemp("deep") / ("x" * 120)
    deep.mkdir()
    # Each of Ray's processes imports jsonschema, which builds a grammar of URIs for a second if this is installed.
    (deep / "rfc3987_syntax.py").write_text("raise ImportError")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TMPDIR", str(deep))
        patch.setenv("PYTHONPATH", os.pathsep.join([str(deep), *filter(None, [os.environ.get("PYTHONPATH")])]))
        patch.delenv("RAY_ADDRESS", raising=False)
        with connected() as ray:
            # The classes below are known here only.
            ray.cloudpickle.register_pickle_by_value(sys.modules[__name__])
            socket = Path(ray.nodes()[0]["ObjectStoreSocketName"])
            assert socket.exists()
            yield ray
    assert not ray.is_initialized()
    assert not socket.parent.exists()


# Long sums are those that BLAS divides among its threads, of which Ray gives its processes a different number.
RUNS = {
    "wait, long sums": Experiment(
        Digits(hidden=(300,), batch=1500), gl.rules.Adam(), 0.01, workers=2, policy="wait", gradients=8
    ),
    "drop, two races, crashes": Experiment(
        Digits(), gl.rules.Momentum(), workers=2, atomic=False, step_first=False, gradients=30,
        speeds=Speeds(slow={1: 3}, crashes=(Crash(0, 2, after=100), Crash(1, 4))),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", RUNS)
def test_a_run_replays_bit_for_bit(ray: Any, name: str) -> None:
    e = RUNS[name]
    trace = run(e, "ray", timeout=300)
    assert not wrong(trace)
    if e.policy == "wait":
        assert trace.true_staleness.max() <= 2  # nobody is ahead of the other, so one update comes between at most
        assert abs(np.diff(trace.by_worker()["handed_in"])).max() <= 1
    left = sorted((move, k) for move, k in trace.moves.tolist() if move in (LEAVE, JOIN))
    assert left == ([(LEAVE, 0), (LEAVE, 1), (JOIN, 0)] if e.speeds.crashes else [])
    assert ray.is_initialized()


POINTS = ("before 0 4", "after 1 6", "after 0 9")  # worker and request


class DyingServer(ServerActor):
    """Ends its process right before it does something, or right after; each once."""

    def open(self, experiment: Experiment, path: Path | None, sync: bool) -> list[int]:
        assert path is not None
        self.folder = path.parent
        return super().open(experiment, path, sync)

    def ask(self, worker: int, serial: int, moves: tuple[int, ...], gradient: Any = None) -> Any:
        self.die_once(f"before {worker} {serial}")
        answer = super().ask(worker, serial, moves, gradient)
        self.die_once(f"after {worker} {serial}")
        return answer

    def die_once(self, point: str) -> None:
        if point in POINTS and not (self.folder / point).exists():
            (self.folder / point).touch()
            os._exit(1)


class DyingWorker(WorkerActor):
    """Ends its process in the middle of some gradients."""

    def gradient(self, weights: Any, worker: int, number: int, seconds: float) -> Any:
        if (worker, number) in ((0, 3), (1, 5)):
            os._exit(1)
        return super().gradient(weights, worker, number, seconds)


class HopelessWorker(WorkerActor):
    def gradient(self, weights: Any, worker: int, number: int, seconds: float) -> Any:
        os._exit(1)


class Hopeless(on_ray.Driver):
    worker_class = HopelessWorker


class Fragile(on_ray.Driver):
    server_class, worker_class = DyingServer, DyingWorker


class Mortal(on_ray.Driver):
    """Is interrupted."""

    def _next(self) -> None:
        super()._next()
        if self.made > 15:
            raise KeyboardInterrupt


def test_no_update_is_lost_where_processes_end_at_the_worst_of_times(ray: Any, tmp_path: Path) -> None:
    e = Experiment(
        Digits(hidden=(8,)), gl.rules.Adam(), 0.01, workers=2, policy="backup", aggregate=2, gradients=30, seed=1
    )
    driver = Fragile(ray, e, log=tmp_path / "run.log", timeout=300)
    trace = driver.run()
    assert not wrong(trace) and not lost(driver, trace)
    assert {p.name for p in tmp_path.iterdir()} - {"run.log.lock"} == {"run.log", *POINTS}
    assert sorted(k for move, k in trace.moves.tolist() if move == LEAVE) == [0, 1]
    assert trace.accepted.all() and trace.updates == 15


def test_no_update_is_lost_whoever_is_killed_when(ray: Any, tmp_path: Path) -> None:
    assert killed(4, tmp_path, 0) == ""


def test_an_interrupted_run_goes_on_from_its_log(ray: Any, tmp_path: Path) -> None:
    e, path = Experiment(Bowl(), workers=2, policy="apply", gradients=20), tmp_path / "run.log"
    with pytest.raises(KeyboardInterrupt):
        Mortal(ray, e, log=path, timeout=300).run()
    with closing(Durable(e, path)) as server:
        before = server.trace("ray")
    assert 0 < len(before) < 20
    trace = run(e, "ray", log=path, timeout=300)
    assert not wrong(trace)
    assert (trace.moves[: len(before.moves)] == before.moves).all()
    assert sorted(k for move, k in trace.moves.tolist() if move == LEAVE) == [0, 1]


def test_a_server_without_a_log_takes_the_run_with_it(ray: Any) -> None:
    with pytest.raises(RuntimeError, match="the server died, and its state with it; give log=path"):
        Cruel(ray, Experiment(Bowl(), workers=1), timeout=300).run()


def test_a_log_that_lacks_what_was_answered_is_noticed(ray: Any, tmp_path: Path) -> None:
    driver = Mortal(ray, Experiment(Bowl(), workers=1), log=tmp_path / "run.log", timeout=300)
    with pytest.raises(KeyboardInterrupt):
        driver.run()
    (tmp_path / "run.log").unlink()
    with pytest.raises(RuntimeError, match=r"run.log lacks what the server had answered: is it on a disk that all"):
        driver.server.reopen(OSError(), driver.serials, timeout=300)
    driver.server.kill()


def test_a_worker_that_dies_again_and_again_is_given_up(ray: Any) -> None:
    with pytest.raises(RuntimeError, match="worker 0 died 5 times in a row without a gradient"):
        Hopeless(ray, Experiment(Bowl(), workers=1), timeout=300).run()


def test_nobody_left_is_said_and_not_waited_for(ray: Any) -> None:
    e = Experiment(Bowl(), workers=1, speeds=Speeds(crashes=(Crash(0, 1),)))
    with pytest.raises(gl.errors.DeadlockError, match=r"no worker can go on after 1 gradient: .* alive are \[\]"):
        run(e, "ray", timeout=300)


def test_what_a_problem_raises_is_raised(ray: Any) -> None:
    def uphill(w: Any, x: Any) -> Any:
        raise ArithmeticError("uphill")

    problem = gl.workers.FromLoss(uphill, {"a": np.float32(1)}, np.random.Generator.random, 1.0)
    with pytest.raises(ArithmeticError, match="uphill"):
        run(Experiment(problem, workers=1), "ray", timeout=300)


class Careless(Bowl):
    """Changes the weights it was given."""

    def gradient(self, weights: Mapping[str, Array], rng: np.random.Generator) -> dict[str, Array]:
        weights["w"][0] = 0
        return super().gradient(weights, rng)


def test_a_gradient_that_writes_to_the_weights_is_told_to_copy_them(ray: Any) -> None:
    with pytest.raises(gl.errors.InvalidArgumentError, match="write to a copy"):
        run(Experiment(Careless(), workers=1), "ray", timeout=300)


class Late(on_ray.Driver):
    """Out of time once it has made a move."""

    def _next(self) -> None:
        super()._next()
        self.until = 0.0 if self.made else self.until


def test_a_run_that_takes_too_long_is_ended(ray: Any) -> None:
    e = Experiment(Bowl(), workers=1)
    with pytest.raises(TimeoutError, match=r"not over in time: Ray alone was up after [\d.]+ s, timeout=0\.0$"):
        run(e, "ray", timeout=0.0)
    with pytest.raises(TimeoutError, match="not over in time: the processes of the run were not up yet"):
        on_ray.Driver(ray, e, timeout=0.0).run()
    with pytest.raises(TimeoutError, match=r"not over in time: [1-9]\d* moves were made"):
        Late(ray, e, timeout=300).run()


def test_a_server_that_is_late_is_told_like_any_other(ray: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    driver = on_ray.Driver(ray, Experiment(Bowl(), workers=1), timeout=300)
    monkeypatch.setattr(driver, "_wait", lambda refs, count: setattr(driver, "until", 0.0))
    with pytest.raises(TimeoutError, match="not over in time: the processes of the run were not up yet"):
        driver.run()


def test_a_cluster_is_reached_by_its_address(ray: Any, tmp_path: Path) -> None:
    address = ray.get_runtime_context().gcs_address
    code = f"""
import gradlab as gl
e = gl.workers.Experiment(gl.workers.Bowl(), workers=1, gradients=5)
trace = gl.workers.run(e, "ray", address={address!r}, timeout=300)
trace.save({str(tmp_path / "trace.npz")!r})
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    trace = Trace.load(tmp_path / "trace.npz")
    assert not wrong(trace)
    simulated = run(trace.experiment)  # one worker alone can come in one order only, whatever the engine
    assert (simulated.moves == trace.moves).all() and same(simulated.weights, trace.weights)


def test_the_readme_prints_what_it_should(
    ray: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    exec(compile(CLUSTER, "README.md", "exec"), {})
    first, second = [line for line in capsys.readouterr().out.splitlines() if "raylet" not in line]
    assert "Trace of 300 gradients" in first and "3 workers, ray" in first
    assert second == "True True"
    assert (tmp_path / "run.log").exists()


def test_an_address_beside_another_ray_is_refused(ray: Any) -> None:
    with pytest.raises(ValueError, match="Ray is connected already, so address="):
        run(Experiment(Bowl()), "ray", address="1.2.3.4:6379")
