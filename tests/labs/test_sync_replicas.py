"""The lab of tokens shows TensorFlow's traps: rounds that are not synchronous, and means of more than was asked for."""

import numpy as np

import gradlab as gl
from gradlab.labs._sync_replicas import MOMENTS, Synced
from gradlab.workers.spare_workers import GOAL, WORKERS, recorded, time_to, time_to_collect


def shown(**params: object) -> Synced:
    lab = gl.labs.sync_replicas(**params)
    return lab.compute(lab.params)


def test_without_spare_workers_and_start_tokens_all_rounds_are_in_step() -> None:
    trace = shown(workers=3, aggregate=3, start_tokens=0, straggler=2.0, event=MOMENTS)
    assert trace.rounds.accepted[trace.rounds.pushed].all()
    assert set(trace.rounds.updates[:, 1]) == {3}


def test_a_spare_worker_is_dropped_and_goes_on() -> None:
    rounds = shown(workers=3, aggregate=2, start_tokens=0, straggler=2.0, event=MOMENTS).rounds
    assert rounds.accepted_of[0] < rounds.handed_in[0]
    assert len(rounds.updates) > 8


def test_start_tokens_let_a_fast_worker_fill_a_round() -> None:
    rounds = shown(workers=2, aggregate=2, start_tokens=2, straggler=3.0, event=4).rounds
    assert rounds.worker[rounds.accepted & rounds.pushed].tolist()[:2] == [1, 1]
    assert len(rounds.updates) == 1
    lab = gl.labs.sync_replicas(workers=2, aggregate=2, start_tokens=2, straggler=3.0)
    assert lab.targets["fast_fills"].measure(lab.compute({**lab.params, "event": 5}))[0]


def test_a_slow_chief_takes_the_mean_of_more() -> None:
    trace = shown(workers=4, aggregate=2, start_tokens=0, chief=50, straggler=1.0, event=MOMENTS)
    assert trace.rounds.updates[:, 1].max() == 4
    assert gl.labs.sync_replicas.targets["more"].measure(trace)[0]


def test_the_target_is_reached_by_a_chief_that_is_late() -> None:
    lab = gl.labs.sync_replicas(target="more")
    assert lab.description.goal.endswith("not yet.")
    ranges = {one.name: one for one in lab.controls}
    lab.set(workers=ranges["workers"].maximum, aggregate=ranges["aggregate"].minimum, chief=ranges["chief"].maximum)
    assert lab.description.goal.endswith("reached.")


def test_too_few_tokens_end_it_and_the_words_say_so() -> None:
    lab = gl.labs.sync_replicas(workers=2, aggregate=3, start_tokens=0, straggler=1.0, event=MOMENTS)
    trace = lab.compute(lab.params)
    assert trace.done == 2
    said = "Both workers wait for a token, and none will come: only 2 of 3 gradients are there."
    assert lab.description.summary == said
    lab.set(workers=1)
    assert lab.description.summary == (
        "The only worker waits for a token, and none will come: only 1 of 3 gradients is there."
    )
    lab.set(workers=2)
    assert "No worker can continue." in lab.description.alt
    assert dict(lab.description.table)["waiting for a token"] == "1, 2"


def test_the_sentence_names_the_worker_that_is_always_too_late() -> None:
    lab = gl.labs.sync_replicas()
    said = "The slow worker 1 is always too late: all 4 of its gradients are dropped."
    rounds = lab.compute(lab.params).rounds
    assert lab.description.summary == said
    assert (rounds.handed_in[0], rounds.accepted_of[0]) == (4, 0) and (rounds.accepted_of[1:] > 0).all()
    assert gl.labs.sync_replicas(event=4).description.summary.endswith("is too late: its gradient is dropped.")


def test_without_such_a_worker_the_sentence_says_what_an_update_is_made_of() -> None:
    said = {
        event: gl.labs.sync_replicas(straggler=1.0, aggregate=3, event=event).description.summary for event in (2, 4)
    }
    assert said[2] == "The first update has 2 of 3 gradients."
    assert said[4] == "No gradient is dropped: the first update is the mean of 3 gradients."
    lab = gl.labs.sync_replicas(workers=4, aggregate=2, chief=50, straggler=1.0, event=MOMENTS)
    assert lab.description.summary == "No gradient is dropped, and an update that needs 2 is the mean of 4."
    lab = gl.labs.sync_replicas(workers=2, aggregate=3, start_tokens=3, straggler=1.0, event=6)
    lost = lab.compute(lab.params).rounds
    assert int((lost.handed_in - lost.accepted_of).sum()) == 2
    assert lab.description.summary == "2 of 5 gradients came too late and were dropped."


def test_columns_are_those_of_the_gradients() -> None:
    lab = gl.labs.sync_replicas(event=7)
    columns = lab.columns(lab.compute(lab.params))
    assert len({len(column) for column in columns.values()}) == 1
    assert int(np.sum(columns["pushed"])) == 5  # and two updates
    assert set(columns["worker"].tolist()) == {1, 2, 3}, "numbered as in the picture"


def test_the_curves_are_medians_of_the_recording() -> None:
    lab = gl.labs.backup_workers(aggregate=5)
    trace = lab.compute(lab.params)
    np.testing.assert_array_equal(trace.curve, 100 * np.median(recorded()[4], axis=0))
    np.testing.assert_array_equal(trace.other, 100 * np.median(recorded()[10], axis=0))
    fastest = lab.compute({"aggregate": 11})
    np.testing.assert_array_equal(fastest.other, 100 * np.median(recorded()[15], axis=0))
    assert trace.round == time_to_collect()[4]
    assert set(lab.columns(trace)) == {"ticks", "right", "right_of_11"}


def test_the_target_is_reached_with_some_to_spare_but_not_at_the_ends() -> None:
    lab, measure = gl.labs.backup_workers(), gl.labs.backup_workers.targets["faster"].measure
    reached = [measure(lab.compute({"aggregate": k}))[0] for k in range(1, WORKERS + 1)]
    assert sum(reached) >= 3
    assert not any(reached[:3] + reached[14:])


def test_the_sentence_compares_with_what_is_fastest() -> None:
    said = {k: gl.labs.backup_workers(aggregate=k).description.summary for k in range(1, WORKERS + 1)}
    needed = np.median(time_to(GOAL, recorded()), axis=1)
    assert needed.argmin() == 10
    assert said[16] == "Waiting for all 16 workers takes 35,400 ticks to reach 87%; waiting for 11 takes 16,600."
    assert said[11] == "Waiting for 11 of 16 workers is fastest: 16,600 ticks to 87%, 2.1 times as fast as all."
    for k, words in said.items():
        assert "16,600" in words and ("doesn't reach 87% in 40,000 ticks" in words) == np.isinf(needed[k - 1])
