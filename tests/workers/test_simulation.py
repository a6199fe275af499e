"""Walking through a run: wherever one gets to, on whatever way, the server is that of the moves so
far.
"""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradlab.workers import Bowl, Experiment, Server, Simulation, run
from gradlab.workers.replays import replay_move
from tests.workers.experiments import experiments


def afresh(walk: Simulation, position: int) -> Server:
    server = Server(walk.trace.experiment)
    for (move, worker), time in zip(
        walk.trace.moves[:position].tolist(), walk.trace.times.tolist(), strict=False
    ):
        replay_move(server, move, worker, time)
    return server


@given(experiments(), st.data())
def test_any_walk_leads_to_the_server_of_the_moves_so_far(
    e: Experiment, data: st.DataObject
) -> None:
    walk = Simulation(e)
    places = st.integers(0, len(walk))
    for place in data.draw(st.lists(places, max_size=6)):
        way = data.draw(st.sampled_from(["goto", "step"]))
        if way == "goto":
            server = walk.goto(place)
        else:
            server = (
                walk.forward(place - walk.position)
                if place > walk.position
                else walk.back(walk.position - place)
            )
        assert walk.position == place and server is walk.server
        expected = afresh(walk, place)
        assert server.fingerprint() == expected.fingerprint()
        assert vars(server.ledger) == vars(expected.ledger)


def test_the_end_is_where_the_run_ended() -> None:
    trace = run(Experiment(Bowl(noise=0.1), gradients=50), "threads")
    walk = Simulation(trace)
    assert walk.goto(len(walk)).weights["w"].tolist() == trace.weights["w"].tolist()
    assert walk.move == ("update", trace.moves[-1, 1], trace.times[-1])


def test_steps_stop_at_both_ends() -> None:
    walk = Simulation(Experiment(Bowl(), workers=1, gradients=2))
    assert len(walk) == 8
    walk.back()
    assert (walk.position, walk.move, walk.time) == (0, None, 0)
    walk.forward(99)
    assert walk.position == 8
    walk.forward()
    assert walk.position == 8 and walk.back().step == 1


def test_a_point_in_time_is_after_all_moves_up_to_it() -> None:
    walk = Simulation(Experiment(Bowl(), workers=2, gradients=8))
    first = int(walk.trace.times[4])
    assert walk.goto_time(first - 1).ledger.rounds == [] and walk.position == 4
    assert len(walk.goto_time(first).ledger.rounds) == 1
    assert walk.goto_time(-1).step == 0 and walk.position == 0


def test_going_back_costs_no_more_than_a_few_moves(monkeypatch: pytest.MonkeyPatch) -> None:
    walk = Simulation(Experiment(Bowl(), gradients=500))
    walk.goto(len(walk))
    made: list[int] = []
    monkeypatch.setattr(
        "gradlab.workers.simulated.replay_move", lambda *move: made.append(1) or replay_move(*move)
    )
    for _ in range(100):
        walk.back()
    assert len(made) < 16 * 100
    made.clear()
    walk.forward(10)
    assert len(made) == 10
    for place in (0, len(walk), 1000):
        made.clear()
        walk.goto(place)
        assert len(made) < 16, "from wherever it is, by what is kept"


@pytest.mark.parametrize("position", [-1, 9, 1.5, None])
def test_there_is_nothing_beyond_the_run(position: object) -> None:
    walk = Simulation(Experiment(Bowl(), workers=1, gradients=2))
    walk.goto(3)
    with pytest.raises(ValueError, match="position must be"):
        walk.goto(position)  # type: ignore[arg-type]
    assert walk.position == 3
