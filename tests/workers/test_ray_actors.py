"""The actors of a run on Ray, as plain objects in this process; test_on_ray.py has Ray itself."""

import asyncio
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gradlab as gl
from gradlab.workers import (
    CHECK,
    JOIN,
    LEAVE,
    READ,
    RECORD,
    UPDATE,
    Bowl,
    Crash,
    Experiment,
    Speeds,
    run,
)
from gradlab.workers.logged_server import LoggedServer
from gradlab.workers.ray_actors import ServerActor, ShardActor, split_payload
from gradlab.workers.rows import join_rows, join_tables
from gradlab.workers.table_shard import ShardedLedger
from tests.workers.embedding import POLICIES, experiment

READS, PUSH = (READ, RECORD), (CHECK, UPDATE)
GRADIENT = {"w": np.float32([1.0, 1.0])}


def play(scenario: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(scenario, 60))


def actor(log: Path | None = None, **settings: Any) -> ServerActor:
    return ServerActor(Experiment(Bowl(), workers=2, **settings), log, False, [])


def test_a_worker_waits_until_the_other_has_caught_up() -> None:
    async def scenario() -> None:
        server = actor(policy="wait", staleness=0)
        for worker in (0, 1):
            assert await server.join(worker) == (0, 0)
            await server.ask(worker, 1, READS)
        assert await server.ask(0, 2, PUSH, GRADIENT) == (1, None)
        reading = asyncio.create_task(server.ask(0, 3, READS))
        await asyncio.sleep(0)
        assert not reading.done()
        await server.ask(1, 2, PUSH, GRADIENT)
        answer = await reading
        assert answer is not None
        np.testing.assert_array_equal(answer[1]["w"], server.server.server.weights["w"])

    play(scenario())


def test_a_request_that_is_sent_again_gets_the_same_answer_and_is_made_once(tmp_path: Path) -> None:
    async def scenario() -> None:
        server = actor(tmp_path / "log", policy="apply")
        read = await server.ask(0, 1, READS)
        pushed = await server.ask(0, 2, PUSH, GRADIENT)
        server.server.close()

        restarted = actor(tmp_path / "log", policy="apply")
        assert await restarted.ask(0, 2, PUSH, GRADIENT) == pushed == (1, None)
        assert restarted.server.ledger.step == 1
        again = await restarted.ask(0, 3, READS)
        assert read is not None and again is not None
        assert again[1]["w"].tolist() != read[1]["w"].tolist()
        restarted.server.close()

    play(scenario())


def test_a_worker_that_dies_leaves_at_once_and_joins_as_a_new_process() -> None:
    async def scenario() -> None:
        server = actor(policy="wait", staleness=0)
        for worker in (0, 1):
            await server.ask(worker, 1, READS)
        await server.ask(0, 2, PUSH, GRADIENT)
        reading = asyncio.create_task(server.ask(0, 3, READS))
        await asyncio.sleep(0)
        await server.leave(1)
        assert await reading is not None  # it does not wait for the dead one
        assert await server.join(1) == (3, 1)  # left and joined; gradient 0 is lost
        assert await server.join(1) == (3, 1)  # asked again by Ray
        assert [move[:2] for move in server.server.moves if move[0] in (LEAVE, JOIN)] == [
            (LEAVE, 1),
            (JOIN, 1),
        ]

    play(scenario())


def test_a_worker_that_dies_again_and_again_ends_the_run() -> None:
    async def scenario() -> None:
        server = actor()
        for _ in range(4):
            await server.leave(0)
        await server.ask(1, 1, READS)
        with pytest.raises(RuntimeError, match="worker 0 died 5 times in a row without a gradient"):
            await server.leave(0)

    play(scenario())


def test_a_worker_that_left_for_good_does_not_join_again() -> None:
    async def scenario() -> None:
        server = actor(speeds=Speeds(crashes=(Crash(1, 0),)))
        await server.ask(1, 1, READS)
        await server.ask(1, 2, (LEAVE,))
        assert await server.join(1) is None

    play(scenario())


def test_a_deadlock_ends_the_run() -> None:
    async def scenario() -> None:
        server = actor(policy="backup", aggregate=2, speeds=Speeds(crashes=(Crash(1, 0),)))
        trace = asyncio.create_task(server.trace())
        for worker in (0, 1):
            await server.ask(worker, 1, READS)
        await server.ask(0, 2, PUSH, GRADIENT)
        reading = asyncio.create_task(server.ask(0, 3, READS))
        await server.ask(1, 2, (LEAVE,))
        with pytest.raises(
            gl.errors.DeadlockError, match=r"after 1 gradient: waiting are 0, alive are \[0\]"
        ):
            await trace
        reading.cancel()

    play(scenario())


def test_workers_of_an_earlier_run_leave_when_a_new_one_begins(tmp_path: Path) -> None:
    async def scenario() -> None:
        server = actor(tmp_path / "log")
        await server.ask(0, 1, READS)
        server.server.close()
        resumed = actor(tmp_path / "log")
        await resumed.begin()
        assert resumed.server.ledger.alive == {1}
        resumed.server.close()

    play(scenario())


@pytest.mark.parametrize("policy", POLICIES)
def test_shards_that_die_at_any_time_have_the_rows_of_one_server(
    tmp_path: Path, policy: str
) -> None:
    e = experiment(policy)
    problem: Any = e.problem
    log = tmp_path / "log"
    server = LoggedServer(e, log, sync=False, server=ShardedLedger(e))
    rng = np.random.default_rng(0)
    shards = [ShardActor(e, index, 3, log) for index in range(3)]
    weights: dict[int, dict[str, Any]] = {}
    for move, worker in run(e).moves.tolist():
        moves = (move,)
        number = server.ledger.clock[worker]
        payload: Any = None
        if READ in moves:
            payload = problem.rows(e.rng(worker, number))
        elif CHECK in moves:
            payload = e.gradient(weights[worker], worker, number)
        assert server.ask(worker, server.sequences[worker] + 1, moves, payload)

        # Any of the shards is a new process that has to read the log.
        shards = [
            ShardActor(e, k, 3, log) if rng.random() < 0.2 else shard
            for k, shard in enumerate(shards)
        ]
        payloads = split_payload(moves, payload or {}, 3)
        rows: list[Any] = []
        for shard, part in zip(shards, payloads, strict=True):
            for _ in range(rng.integers(1, 3)):  # a call that Ray sends again is made once
                answer = shard.make(server.num_requests, worker, moves, part)
            rows.append(answer)
        if READ in moves:
            weights[worker] = {
                name: join_rows(ids, [x[name] for x in rows]) for name, ids in payload.items()
            }
    server.close()
    # A run may even continue with a different number of shards.
    for parts in (shards, [ShardActor(e, index, 2, log) for index in range(2)]):
        for name, w in run(e).weights.items():
            table = join_tables([shard.weights(server.num_requests)[name] for shard in parts])
            np.testing.assert_array_equal(table, w)


def test_the_log_of_tables_on_shards_is_not_that_of_one_server(tmp_path: Path) -> None:
    e = experiment("drop")
    LoggedServer(e, tmp_path / "log", server=ShardedLedger(e)).close()
    with pytest.raises(ValueError, match="is the log of another experiment"):
        LoggedServer(e, tmp_path / "log")


def test_a_gradient_that_is_not_of_the_tables_is_not_logged() -> None:
    server = LoggedServer(experiment("drop"), server=ShardedLedger(experiment("drop")))
    server.ask(0, 1, READS, {})
    with pytest.raises(
        ValueError, match=r"the gradient is of \['users'\], tables \['items', 'users'\]"
    ):
        server.ask(0, 2, PUSH, {"users": np.zeros((7, 3))})
    assert server.sequences == [1, 0, 0]
