"""A server is restored bit for bit from any prefix of its log, and makes no request twice."""

import shutil
from contextlib import closing
from itertools import groupby
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gradlab as gl
from gradlab.errors import FailedPreconditionError
from gradlab.workers import (
    CHECK,
    POLICIES,
    READ,
    Crash,
    Digits,
    Experiment,
    Speeds,
    logged_server,
    run,
)
from gradlab.workers.logged_server import LoggedServer
from gradlab.workers.server import Server

Request = tuple[int, int, tuple[int, ...]]  # worker, sequence, moves


@pytest.fixture(autouse=True)
def no_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logged_server.time, "time_ns", lambda: 0)


def experiment(policy: str = "drop", **changes: Any) -> Experiment:
    e = Experiment(
        Digits(hidden=(3,), batch=4),
        gl.rules.Adam(),
        0.01,
        workers=3,
        policy=policy,
        staleness=1,
        aggregate=2,
        gradients=12,
        mean_square_decay=0.9,
        speeds=Speeds(crashes=(Crash(1, 2, 50), Crash(2, 3))),
    )
    return e.with_(**changes)


def requests(e: Experiment) -> list[Request]:
    """What the workers of a simulated run ask for."""
    trace = run(e)
    sequences = [0] * e.workers
    found = []
    rows = zip(trace.moves.tolist(), trace.times.tolist(), strict=True)
    for (worker, _), piece in groupby(rows, lambda row: (row[0][1], row[1])):
        sequences[worker] += 1
        found.append((worker, sequences[worker], tuple(move for (move, _), _ in piece)))
    return found


def ask(server: LoggedServer, request: Request) -> bool:
    worker, _, moves = request
    assert isinstance(server.server, Server)
    number = server.ledger.clock[worker]
    gradient = (
        server.experiment.gradient(server.server.held(worker), worker, number)
        if CHECK in moves
        else None
    )
    return server.ask(*request, gradient)


def bits(x: Any) -> Any:
    """All that an object holds, to compare to the last bit."""
    if isinstance(x, np.ndarray):
        return x.dtype.str, x.shape, x.tobytes()
    if isinstance(x, dict):
        return {k: bits(y) for k, y in x.items()}
    if isinstance(x, list | tuple | set):
        return [bits(y) for y in x]
    if type(x).__module__.startswith("gradlab.workers") and not isinstance(x, Experiment | Digits):
        return {k: bits(y) for k, y in vars(x).items() if k != "_log"}
    return x


@pytest.mark.parametrize("policy", POLICIES)
def test_the_moves_of_the_simulated_engine_give_its_weights(tmp_path: Path, policy: str) -> None:
    e, path = experiment(policy), tmp_path / "log"
    server = LoggedServer(e, path, sync=False)
    for request in requests(e):
        assert ask(server, request)
    assert server.is_done
    trace = run(e)
    assert bits(server.trace("x").weights) == bits(trace.weights)
    assert (server.trace("x").moves == trace.moves).all()
    before = bits(server)
    server.close()
    with closing(LoggedServer(e, path)) as again:
        assert bits(again) == before


@pytest.mark.parametrize("atomic", [True, False])
def test_after_any_request_the_log_gives_the_state_that_was(tmp_path: Path, atomic: bool) -> None:
    e = experiment(atomic=atomic, step_first=atomic, problem=gl.workers.Bowl(), gradients=5)
    server = LoggedServer(e, tmp_path / "log", sync=False)
    for request in requests(e):
        ask(server, request)
        # The file as it is when the server is killed now.
        shutil.copy(tmp_path / "log", tmp_path / "copy")
        with closing(LoggedServer(e, tmp_path / "copy", sync=False)) as again:
            assert bits(again) == bits(server)
    server.close()


def test_two_servers_of_one_run_count_a_request_once(tmp_path: Path) -> None:
    """The second one has read the log, and then the first one, which seemed dead, takes another
    request.
    """
    e, path = experiment(), tmp_path / "log"
    todo = requests(e)
    first = LoggedServer(e, path, sync=False)
    ask(first, todo[0])
    first._log._connection.execute("ROLLBACK")  # type: ignore[union-attr]  # as if its lock had been lost
    second = LoggedServer(e, path, sync=False)
    second._log._connection.execute("ROLLBACK")  # type: ignore[union-attr]
    ask(first, todo[1])
    first.close()
    with pytest.raises(FailedPreconditionError, match="another run has written to"):
        ask(second, todo[1])
    with closing(LoggedServer(e, path)) as again:
        assert sum(again.sequences) == 2


def test_a_request_that_could_not_be_logged_is_not_answered_when_it_is_sent_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    e, path = experiment(), tmp_path / "log"
    first, second, *_ = requests(e)
    server = LoggedServer(e, path, sync=False)
    ask(server, first)

    def fail(*_: Any, **__: Any) -> None:
        raise OSError("the disk is full")

    monkeypatch.setattr(server._log, "append", fail)
    with pytest.raises(OSError, match="the disk is full"):
        ask(server, second)
    monkeypatch.undo()
    for request in (second, first):
        with pytest.raises(FailedPreconditionError, match="the disk is full"):
            ask(server, request)
    server.close()

    with closing(LoggedServer(e, path, sync=False)) as restored:
        assert sum(restored.sequences) == 1
        assert ask(restored, second)


@given(
    st.lists(st.sampled_from(["next", "next", "next", "again", "die", "die unheard"]), max_size=60)
)
def test_nothing_is_lost_or_made_twice_whatever_dies_and_is_sent_again(
    tmp_path_factory: pytest.TempPathFactory, fates: list[str]
) -> None:
    e, path = (
        experiment("backup", problem=gl.workers.Bowl()),
        tmp_path_factory.mktemp("run") / "log",
    )
    server, twin, todo = LoggedServer(e, path, sync=False), LoggedServer(e), requests(e)
    last: dict[int, Request] = {}
    for fate in [*fates, *["next"] * len(todo)]:
        if fate == "die":
            server.close()
            server = LoggedServer(e, path, sync=False)
        elif fate == "again":
            assert all(server.ask(*request) for request in last.values())
        elif todo:
            request = todo.pop(0)
            last[request[0]] = request
            assert ask(twin, request) and ask(server, request)
            if fate == "die unheard":
                server.close()
                server = LoggedServer(e, path, sync=False)
                assert server.ask(*request)
    assert bits(server) == bits(twin)
    assert len(server.server.ledger.rounds) == e.gradients
    server.close()


def test_a_worker_that_has_to_wait_asks_again_under_the_same_number(tmp_path: Path) -> None:
    e = experiment("wait", staleness=0, workers=2, speeds=Speeds())
    server = LoggedServer(e, tmp_path / "log")
    assert ask(server, (0, 1, (READ, 1))) and ask(server, (0, 2, (CHECK, 3)))
    size = (tmp_path / "log").stat().st_size
    assert not server.ask(0, 3, (READ, 1))
    assert (tmp_path / "log").stat().st_size == size
    for request in [(1, 1, (READ, 1)), (1, 2, (CHECK, 3)), (0, 3, (READ, 1))]:
        assert ask(server, request)
    server.close()


def test_after_the_last_gradient_only_old_requests_are_answered() -> None:
    server = LoggedServer(experiment(workers=1, gradients=1, aggregate=1, speeds=Speeds()))
    assert ask(server, (0, 1, (READ, 1))) and not server.is_done
    assert ask(server, (0, 2, (CHECK, 3))) and server.is_done
    assert server.ask(0, 2, (CHECK, 3))
    assert not server.ask(0, 3, (READ, 1))


def test_a_request_out_of_turn_and_a_gradient_that_does_not_fit_change_nothing(
    tmp_path: Path,
) -> None:
    server = LoggedServer(experiment(), tmp_path / "log")
    ask(server, (0, 1, (READ, 1)))
    before = bits(server), (tmp_path / "log").read_bytes()
    with pytest.raises(
        ValueError, match=r"worker 0 sent request 3 after 1; .* on a disk that all nodes see"
    ):
        server.ask(0, 3, (CHECK, 3), {})
    with pytest.raises(ValueError, match="the gradient is of"):
        server.ask(0, 2, (CHECK, 3), {"x": np.float32([1])})
    assert (bits(server), (tmp_path / "log").read_bytes()) == before
    server.close()


@pytest.mark.parametrize(
    "other",
    [experiment("apply"), experiment(weights=Digits(hidden=(3,), seed=1).start())],
    ids=["policy", "weights"],
)
def test_the_log_of_another_experiment_is_refused(tmp_path: Path, other: Experiment) -> None:
    LoggedServer(experiment(), tmp_path / "log").close()
    with pytest.raises(ValueError, match="is the log of another experiment"):
        LoggedServer(other, tmp_path / "log")


def test_gradients_of_jax_are_recovered_as_they_came(tmp_path: Path) -> None:
    line = gl.workers.FromLoss(
        lambda w, x: ((w["a"] * x) ** 2).mean(),
        {"a": jnp.float32(1 / 3)},
        np.random.Generator.random,
        1.0,
    )
    e = Experiment(line, gl.rules.Adam(), workers=1, gradients=3)
    server = LoggedServer(e, tmp_path / "log")
    for request in requests(e):
        ask(server, request)
    weights = server.server.weights
    server.close()
    with closing(LoggedServer(e, tmp_path / "log")) as server:
        again = server.server.weights
    assert type(again["a"]) is type(weights["a"])
    assert bits(again) == bits(weights)


def test_time_goes_on_after_a_restart_and_never_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    e, now = experiment(workers=1, aggregate=1, speeds=Speeds()), 5_000_000
    monkeypatch.setattr(logged_server.time, "time_ns", lambda: now)
    server = LoggedServer(e, tmp_path / "log")
    now += 7_000
    ask(server, (0, 1, (READ, 1)))
    server.close()
    now += 2_000
    server = LoggedServer(e, tmp_path / "log")
    ask(server, (0, 2, (CHECK, 3)))
    now -= 8_000
    ask(server, (0, 3, (READ, 1)))
    assert server.trace("x").times.tolist() == [7, 7, 9, 9, 9, 9]
    server.close()
