"""The lab of stale gradients: what is seen is the engine's run, at every time, and every policy
does what it says.
"""

import itertools

import numpy as np
import pytest

import gradlab as gl
from gradlab.labs._staleness.lab import END, POLICIES, StalenessTrace, experiment, starving
from gradlab.workers import UPDATE

SETTINGS = {"workers": 4, "straggler": 3.0, "spread": 0.2, "step_first": True, "atomic": True}


def seen(**params: object) -> StalenessTrace:
    lab = gl.labs.staleness(**params)
    return lab.compute(lab.params)


@pytest.mark.parametrize("policy", POLICIES)
def test_what_is_seen_is_the_run_of_the_engine(policy: str) -> None:
    lanes = seen(policy=policy, **SETTINGS).lanes
    trace = gl.workers.run(experiment(policy, 3, **SETTINGS))  # type: ignore[arg-type]
    n = int(lanes.settled.sum())
    assert n == np.searchsorted(trace.times[trace.moves[:, 0] == UPDATE], END, side="right")
    np.testing.assert_array_equal(lanes.worker[:n], trace.rounds["worker"][:n])
    np.testing.assert_array_equal(lanes.true[:n], trace.true_staleness[:n])
    np.testing.assert_array_equal(lanes.recorded[:n], trace.staleness[:n])
    np.testing.assert_array_equal(lanes.accepted[:n], trace.accepted[:n])


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize(("step_first", "atomic"), [*itertools.product((True, False), repeat=2)])
def test_true_staleness_is_the_number_of_update_lines_that_cross_the_bar(
    policy: str, step_first: bool, atomic: bool
) -> None:
    lanes = seen(policy=policy, step_first=step_first, atomic=atomic, spread=0.5).lanes
    for k in np.flatnonzero(lanes.settled):
        inside = ((lanes.began[k] < lanes.updates) & (lanes.updates < lanes.ended[k])).sum()
        touching = ((lanes.began[k] <= lanes.updates) & (lanes.updates <= lanes.ended[k])).sum()
        if atomic or lanes.accepted[k]:
            assert inside <= lanes.true[k] <= touching


def test_staleness_is_recorded_wrong_by_either_race_and_by_nothing_else() -> None:
    for step_first, atomic in itertools.product((True, False), repeat=2):
        lanes = seen(workers=8, straggler=1.0, step_first=step_first, atomic=atomic).lanes
        wrong = (lanes.true != lanes.recorded)[lanes.settled]
        assert wrong.any() == (not (step_first and atomic))
        assert (lanes.true >= lanes.recorded)[lanes.settled].all()


def test_every_policy_keeps_its_promise() -> None:
    drop = seen(policy="drop", threshold=2, **SETTINGS).lanes
    np.testing.assert_array_equal(
        drop.accepted, drop.accepted & ((drop.recorded <= 2) | ~drop.settled)
    )
    assert not seen(policy="apply", **SETTINGS).lanes.starving.any()
    wait = seen(policy="wait", threshold=1, **SETTINGS).lanes
    assert np.ptp(wait.handed_in) <= 2 and len(wait.waits)
    backup = seen(policy="backup", **SETTINGS).lanes
    assert backup.accepted_of[3] == 0 and backup.starving[3] and len(backup.waits)
    assert (backup.true[backup.settled & backup.accepted] == 0).all()


def test_bars_and_waits_of_a_worker_follow_each_other_without_a_hole() -> None:
    for policy, now in itertools.product(POLICIES, (0, 20, 640, END)):
        lanes = seen(
            policy=policy, spread=0.5, straggler=5.0, workers=8, now=now, threshold=0
        ).lanes
        for k in range(8):
            mine = lanes.worker == k
            spans = [*zip(lanes.began[mine], lanes.ended[mine], strict=True)]
            spans += [
                (since, until) for worker, since, until in lanes.waits.tolist() if worker == k
            ]
            edges = np.array(sorted(spans)).reshape(-1, 2)
            assert np.array_equal(edges[1:, 0], edges[:-1, 1])
            assert (edges[[0, -1], [0, 1]] == (0, now)).all() if now else not len(edges)
            assert (~lanes.settled[mine]).sum() <= 1


def test_a_later_time_adds_and_changes_nothing_before() -> None:
    early, late = (seen(now=now).lanes for now in (400, 800))
    n = int(early.settled.sum())
    for name in ("worker", "began", "ended", "read", "recorded", "true", "accepted"):
        np.testing.assert_array_equal(getattr(early, name)[:n], getattr(late, name)[:n])


@pytest.mark.parametrize(
    ("handed_in", "accepted", "starves"),
    [(0, 0, False), (1, 0, False), (2, 0, True), (4, 1, False), (5, 1, True)],
)
def test_starving_is_to_be_hardly_ever_accepted(
    handed_in: int, accepted: int, starves: bool
) -> None:
    assert starving(np.array([handed_in]), np.array([accepted])).tolist() == [starves]


def test_words_say_who_starves_and_what_is_recorded_wrong() -> None:
    words = gl.labs.staleness(**SETTINGS).description
    assert words.summary == "The slow worker 4 starves: all 3 of its gradients are dropped."
    earlier = gl.labs.staleness(**SETTINGS | {"now": 900}).description
    assert earlier.summary == "The slow worker 4 starves: both of its gradients are dropped."
    assert "35 of 39 gradients accepted (90%)" in words.alt and "Starving: worker 4." in words.alt
    table = dict(words.table)
    assert table["worker 4"] == "0 of 3 (starves)"
    assert table["accepted up to"] == "staleness 3"
    assert (
        dict(gl.labs.staleness(policy="apply").description.table)["accepted up to"]
        == "any staleness"
    )
    wrong = gl.labs.staleness(step_first=False).description.summary
    assert "are staler than recorded, by up to" in wrong
    assert gl.labs.staleness(now=0).description.summary == "No gradient has been handed in yet."


def test_without_starving_workers_the_sentence_counts_what_is_dropped_or_how_long_workers_wait() -> (
    None
):
    lab = gl.labs.staleness(**SETTINGS)
    lab.set(straggler=1.0, threshold=2, now=600)
    lanes = lab.compute(lab.params).lanes
    lost = int((lanes.handed_in - lanes.accepted_of).sum())
    assert (
        lab.description.summary
        == f"{lost} of {int(lanes.handed_in.sum())} gradients were too stale and were dropped."
    )
    lab.set(policy="wait", straggler=3.0, threshold=0, now=900)
    lanes = lab.compute(lab.params).lanes
    share = sum(until - since for _, since, until in lanes.waits.tolist()) / (4 * 900)
    assert lab.description.summary.endswith(f"accepted, but workers wait {share:.0%} of the time.")
    lab.set(policy="drop", workers=8, threshold=0, now=1200)
    lanes = lab.compute(lab.params).lanes
    names = [k + 1 for k in range(8) if lanes.starving[k]]
    assert len(names) > 1 and lab.description.summary.startswith(
        f"Workers {', '.join(map(str, names[:-1]))} and"
    )


def test_presets_show_what_their_names_say() -> None:
    lab = gl.labs.staleness()
    traces = {label: lab.compute({**lab.params, **values}) for label, values in lab.presets.items()}
    assert (
        traces["Everybody at one speed"]
        .lanes.accepted[: len(traces["Everybody at one speed"].ages())]
        .all()
    )
    assert traces["A straggler starves"].lanes.starving.tolist() == [False] * 3 + [True]
    assert len(traces["All wait for it"].lanes.waits)
    assert traces["One backup worker"].lanes.starving[3]
    lanes = traces["Older than it says"].lanes
    assert lanes.true[lanes.accepted & lanes.settled].max() > 3


@pytest.mark.parametrize(
    ("target", "reached", "missed"),
    [
        ("all_fed", {"policy": "wait", "threshold": 0, "workers": 6}, {"threshold": 5}),
        ("all_fed", {"policy": "wait", "threshold": 0, "workers": 6}, {"workers": 5}),
        ("all_fed", {"policy": "wait", "threshold": 0, "workers": 6}, {"straggler": 2.0}),
        ("all_fed", {"policy": "wait", "threshold": 0, "workers": 6}, {"now": 600}),
        ("let_through", {"workers": 8, "threshold": 0, "atomic": False}, {"atomic": True}),
        ("let_through", {"workers": 8, "threshold": 0, "atomic": False}, {"step_first": False}),
        ("let_through", {"workers": 8, "threshold": 0, "atomic": False}, {"policy": "apply"}),
    ],
)
def test_targets_can_be_reached_and_missed(
    target: str, reached: dict[str, object], missed: dict[str, object]
) -> None:
    lab = gl.labs.staleness(target=target)
    assert lab.description.goal.endswith("not yet.")
    lab.set(**reached)
    assert lab.description.goal.endswith("reached."), lab.description.goal
    lab.set(**missed)
    assert lab.description.goal.endswith("not yet.")


def test_all_of_the_gradients_are_called_all() -> None:
    lab = gl.labs.staleness(target="all_fed", policy="wait", threshold=0, workers=5)
    assert (
        "Now all of each worker's are accepted, with a staleness of at most 4"
        in lab.description.goal
    )


def test_gradients_that_are_handed_in_can_be_pointed_at() -> None:
    lab = gl.labs.staleness(**SETTINGS, now=600)
    view, trace = lab.make_view(), lab.compute(lab.params)
    items = lab.items(view, trace)
    assert items is not None and len(items) == int(trace.lanes.settled.sum())
    x, _ = items.places[view.lanes]
    assert (np.diff(trace.lanes.ended[trace.lanes.settled]) >= 0).all() and x.max() < 600
    assert items.values["staleness"].tolist() == trace.ages().tolist()
