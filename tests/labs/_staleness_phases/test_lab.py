"""The lab of phases: every place is what the engine would have done, and a click reads it out."""

import numpy as np
import pytest

import gradlab as gl
from gradlab._base.numbers import percent
from gradlab.labs._staleness_phases.lab import GRADIENTS, LIMITS, MEASURES, WORKERS, Phases
from gradlab.workers import Bowl, Experiment, Speeds, run


def seen(**params: object) -> Phases:
    lab = gl.labs.staleness_phases(**params)
    return lab.compute(lab.params)


@pytest.mark.parametrize(
    ("policy", "limit", "workers"), [("drop", 0, 3), ("drop", 7, 9), ("wait", 2, 5)]
)
def test_every_place_is_a_run_of_the_engine(policy: str, limit: int, workers: int) -> None:
    trace = seen(policy=policy, limit=limit, workers=workers, straggler=2.5, spread=0.3)
    speeds = Speeds(spread=0.3, slow={0: 2.5})
    one = run(
        Experiment(
            Bowl(),
            learning_rate=1e-3,
            workers=workers,
            speeds=speeds,
            policy=policy,
            staleness=limit,
            gradients=GRADIENTS,
        )
    )
    by_worker = one.by_worker()
    expected = {
        "acceptance": one.accepted.mean(),
        "slow": by_worker["accepted"][0] / by_worker["handed_in"][0],
        "throughput": 100 * one.updates / one.times[-1],
        "staleness": one.true_staleness.mean(),
    }
    for measure, value in expected.items():
        assert trace.here(measure) == pytest.approx(value), measure


def test_no_place_is_beyond_the_scale() -> None:
    for policy in ("drop", "wait"):
        for straggler, spread in ((1.0, 0.0), (5.0, 0.2), (3.0, 1.0)):
            trace = seen(policy=policy, straggler=straggler, spread=spread)
            for name, scale in MEASURES.items():
                values = trace.values(name)
                assert values.shape == (len(LIMITS), len(WORKERS))
                assert (values >= 0).all() and (values <= 1.02 * scale.top).all(), name


def test_a_higher_limit_accepts_no_less_on_the_whole() -> None:
    accepted = seen(straggler=3.0).values("acceptance")
    assert (accepted[-1] >= accepted[0]).all()
    assert (accepted[:, 0] == 1).all()  # a worker alone is never stale
    assert (seen(policy="wait").values("acceptance") == 1).all()


def test_waiting_is_at_the_pace_of_the_slowest() -> None:
    even, uneven = (
        seen(policy="wait", limit=0, workers=8, straggler=k, spread=0.0) for k in (1.0, 4.0)
    )
    assert uneven.here("throughput") == pytest.approx(even.here("throughput") / 4, rel=0.05)
    assert uneven.here("waiting") > 0.6 > even.here("waiting")


def test_a_place_that_is_clicked_is_the_one_that_is_looked_at() -> None:
    lab = gl.labs.staleness_phases()
    live = lab.live
    live.selected = 3 * len(WORKERS) + 5
    assert (lab.params["limit"], lab.params["workers"]) == (LIMITS[3], WORKERS[5])
    assert lab.description.summary.startswith("With 6 workers, limit 3 accepts ")
    lab.set(limit=4)
    assert live.selected == 4 * len(WORKERS) + 5
    (drag,) = lab.drags(lab.make_view())
    assert (drag.x, drag.y) == ("limit", "workers")


def test_words_and_columns_hold_the_numbers_of_the_place() -> None:
    lab = gl.labs.staleness_phases(limit=2, workers=3)
    trace = lab.compute(lab.params)
    columns = lab.columns(trace)
    row = int(np.flatnonzero((columns["limit"] == 2) & (columns["workers"] == 3))[0])
    assert columns["acceptance"][row] == trace.here("acceptance")
    assert (
        f"limit 2 accepts {percent(columns['acceptance'][row])} of the gradients"
        in lab.description.summary
    )
    for name, scale in MEASURES.items():
        lab.set(measure=name)
        at_an_end = {0.0: "no", 1.0: "all"}  # "none", "no worker"
        assert (
            at_an_end.get(columns[name][row], scale.write(columns[name][row]))
            in lab.description.summary
        )
        assert f"{scale.name}: {scale.write(columns[name][row])}" in lab.description.alt
    assert dict(lab.description.table)["place"] == "limit 2 and 3 workers"
    assert len(dict(lab.description.table)) == 4 + len(MEASURES)


@pytest.mark.parametrize(("workers", "others"), [(8, 16), (16, 8)])
def test_the_sentence_says_which_limit_others_need(workers: int, others: int) -> None:
    lab = gl.labs.staleness_phases(limit=4, workers=workers)
    accepted = lab.compute(lab.params).values("acceptance")
    here = accepted[4, workers - WORKERS[0]]
    (limit, *_) = np.flatnonzero(accepted[:, others - WORKERS[0]] >= here)
    assert lab.description.summary.endswith(f"; {others} workers need limit {limit} for that.")
    assert "need" not in gl.labs.staleness_phases(policy="wait").description.summary


def test_a_slow_worker_is_named_only_where_one_is_slow() -> None:
    for straggler, whose in ((3.0, "the slow worker's"), (1.0, "worker 1's")):
        lab = gl.labs.staleness_phases(measure="slow", straggler=straggler)
        assert f"of {whose} gradients" in lab.description.summary
    alone = gl.labs.staleness_phases(measure="throughput", workers=1, spread=0.0)
    assert (
        alone.description.summary
        == "With 1 worker and limit 4, 1 update happens while one gradient is computed."
    )


def test_presets_show_what_their_names_say() -> None:
    lab = gl.labs.staleness_phases()
    traces = {label: lab.compute({**lab.params, **values}) for label, values in lab.presets.items()}
    assert traces["What is dropped"].values("acceptance").min() < 0.1
    assert (traces["Where the slow one starves"].values("slow")[: 2 * 15, 15] == 0).all()
    assert traces["How stale gradients are"].values("staleness").max() > 10
    waits = traces["What waiting costs"]
    assert waits.values("throughput")[0, -1] < 0.5 * WORKERS[-1]


@pytest.mark.parametrize(
    ("target", "reached", "missed"),
    [
        ("nine_of_ten", {"workers": 12, "straggler": 3.0, "limit": 13}, {"limit": 14}),
        ("nine_of_ten", {"workers": 12, "straggler": 3.0, "limit": 13}, {"limit": 12}),
        ("nine_of_ten", {"workers": 12, "straggler": 3.0, "limit": 13}, {"policy": "wait"}),
        ("not_starving", {"workers": 6, "straggler": 3.0, "limit": 15}, {"straggler": 2.0}),
        ("not_starving", {"workers": 6, "straggler": 3.0, "limit": 15}, {"workers": 5}),
    ],
)
def test_targets_can_be_reached_and_missed(
    target: str, reached: dict[str, object], missed: dict[str, object]
) -> None:
    lab = gl.labs.staleness_phases(target=target)
    assert lab.description.goal.endswith("not yet.")
    lab.set(**reached)
    assert lab.description.goal.endswith("reached."), lab.description.goal
    lab.set(**missed)
    assert lab.description.goal.endswith("not yet.")


def test_places_go_by_their_limit_and_workers() -> None:
    lab = gl.labs.staleness_phases(measure="staleness")
    view, trace = lab.make_view(), lab.compute(lab.params)
    items = lab.items(view, trace)
    assert items is not None and len(items) == len(LIMITS) * len(WORKERS) == len(items.names)
    assert items.names[17] == "limit 1, 2 workers"
    assert items.values[MEASURES["staleness"].name][17] == trace.values("staleness")[1, 1]
