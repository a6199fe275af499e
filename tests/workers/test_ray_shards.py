"""Tables over shards: whoever dies and whatever is lost, no row update is lost or made twice, and it replays.

Ray is a stand-in here; test_on_two_nodes.py has Ray itself.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import gradlab as gl
from gradlab.workers import Bowl, Experiment, on_ray, run
from gradlab.workers.durable import Durable
from gradlab.workers.ray_shards import ShardedDriver
from gradlab.workers.shard import Shard
from tests.test_readme import SHARDS
from tests.workers.embedding import POLICIES, experiment
from tests.workers.killing import lost_rows, same, wrong
from tests.workers.stand_in_ray import StandIn


@pytest.fixture
def ray(monkeypatch: pytest.MonkeyPatch) -> Iterator[StandIn]:
    ray = StandIn()
    monkeypatch.setattr(os, "fsync", lambda file: None)  # processes die here, and not the machine
    monkeypatch.setattr(on_ray, "connected", ray.connected)
    yield ray
    assert not ray.alive


@pytest.mark.parametrize("policy", POLICIES)
def test_shards_make_what_one_server_makes_of_the_same_moves(ray: StandIn, policy: str) -> None:
    trace = run(experiment(policy), "ray", shards=2, tick=0)
    assert wrong(trace) == ""  # the replay has one server with whole tables
    assert trace.accepted.all() == (policy not in ("drop", "backup"))


@pytest.mark.exhaustive
@pytest.mark.parametrize("policy", ["drop", "backup"])
def test_nothing_is_lost_whoever_dies_and_whatever_is_lost_on_its_way(
    ray: StandIn, tmp_path: Path, policy: str
) -> None:
    ray.deadly, ray.lossy = 0.04, 0.12
    driver = ShardedDriver(ray, experiment(policy), shards=3, log=tmp_path / "run.log", tick=0)
    trace = driver.run()
    assert (wrong(trace), lost_rows(driver, trace)) == ("", "")
    assert ray.deaths > 3 and ray.losses > 4


class Interrupted(ShardedDriver):
    """Is interrupted in the middle of a request, once so many were made: one shard has it, the other has not."""

    when = 0, 0  # after so many requests, at one that begins with this move

    def _asked(self, index: int, *request: Any) -> Any:
        if index and (self.serials[0], request[2][0]) == self.when:
            self.ray.get(self.asked_first)
            raise KeyboardInterrupt
        self.asked_first, read = super()._asked(index, *request)
        return [self.asked_first, read]


@pytest.mark.parametrize("when", [(4, gl.workers.READ), (5, gl.workers.CHECK)])
def test_a_request_that_one_shard_has_and_another_has_not_is_finished(
    ray: StandIn, tmp_path: Path, when: tuple[int, int]
) -> None:
    e = experiment("drop", workers=1)
    path = tmp_path / "run.log"
    driver = Interrupted(ray, e, shards=2, log=path, tick=0)
    driver.when = when
    with pytest.raises(KeyboardInterrupt):
        driver.run()
    serials = []
    for index in range(2):
        server = Durable(e, path.with_name(f"run.log.{index}-of-2"), server=Shard(e, index, 2))
        serials.append(server.serials[0])
        server.close()
    assert serials[0] == serials[1] + 1
    driver = ShardedDriver(ray, e, shards=2, log=path, tick=0)
    trace = driver.run()
    assert (wrong(trace), lost_rows(driver, trace)) == ("", "")


def test_logs_that_are_not_of_one_run_are_refused(ray: StandIn, tmp_path: Path) -> None:
    e, path = experiment("drop"), tmp_path / "run.log"
    run(e, "ray", shards=2, tick=0, log=path)
    path.with_name("run.log.1-of-2").unlink()
    with pytest.raises(RuntimeError, match="are not of one run, or some of them lack what others have"):
        run(e, "ray", shards=2, tick=0, log=path)
    path.with_name("run.log.0-of-2").rename(path.with_name("run.log.1-of-2"))
    with pytest.raises(ValueError, match="is the log of another experiment"):
        run(e, "ray", shards=2, tick=0, log=path)


def test_what_has_no_rows_has_no_shards(ray: StandIn) -> None:
    with pytest.raises(ValueError, match="shards= is for tables: the problem says which rows a batch reads"):
        run(Experiment(Bowl()), "ray", shards=2)
    with pytest.raises(ValueError, match="shards must be a whole number of at least 1, got 0"):
        run(experiment("drop"), "ray", shards=0)


@pytest.mark.exhaustive  # JAX takes its derivatives
def test_the_guide_prints_what_it_should(
    ray: StandIn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    exec(compile(SHARDS, "asynchronous.md", "exec"), {})
    assert capsys.readouterr().out == "True\n"
    assert {path.name for path in tmp_path.glob("*-of-2")} == {"tables.log.0-of-2", "tables.log.1-of-2"}


def test_a_row_has_the_same_bits_wherever_it_is(ray: StandIn) -> None:
    """With one worker there is one order, so nothing but the number of shards differs."""
    e = experiment("drop", workers=1)
    weights = run(e).weights
    assert all(same(run(e, "ray", shards=n, tick=0).weights, weights) for n in (1, 2, 5))
