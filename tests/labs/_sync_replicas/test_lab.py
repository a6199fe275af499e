"""The lab of tokens shows TensorFlow's traps: rounds that are not synchronous, and means of more
than was asked for.
"""

import numpy as np

import gradlab as gl
from gradlab.labs._sync_replicas.lab import MOMENTS, Synced
from gradlab.models.asynchrony import backup_curves, compare_backup, measured_rounds
from gradlab.workers.spare_workers import WORKERS


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
    assert gl.labs.sync_replicas().targets["more"].measure(trace)[0]


def test_the_target_is_reached_by_a_chief_that_is_late() -> None:
    lab = gl.labs.sync_replicas(target="more")
    assert lab.description.goal.endswith("not yet.")
    ranges = {one.name: one for one in lab.controls}
    lab.set(
        workers=ranges["workers"].maximum,
        aggregate=ranges["aggregate"].minimum,
        chief=ranges["chief"].maximum,
    )
    assert lab.description.goal.endswith("reached.")


def test_too_few_tokens_end_it_and_the_words_say_so() -> None:
    lab = gl.labs.sync_replicas(
        workers=2, aggregate=3, start_tokens=0, straggler=1.0, event=MOMENTS
    )
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
    assert (rounds.handed_in[0], rounds.accepted_of[0]) == (4, 0) and (
        rounds.accepted_of[1:] > 0
    ).all()
    assert gl.labs.sync_replicas(event=4).description.summary.endswith(
        "is too late: its gradient is dropped."
    )


def test_without_such_a_worker_the_sentence_says_what_an_update_is_made_of() -> None:
    said = {
        event: gl.labs.sync_replicas(straggler=1.0, aggregate=3, event=event).description.summary
        for event in (2, 4)
    }
    assert said[2] == "The first update has 2 of 3 gradients."
    assert said[4] == "No gradient is dropped: the first update is the mean of 3 gradients."
    lab = gl.labs.sync_replicas(workers=4, aggregate=2, chief=50, straggler=1.0, event=MOMENTS)
    assert (
        lab.description.summary
        == "No gradient is dropped, and an update that needs 2 is the mean of 4."
    )
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


def test_the_curves_are_means_of_the_recording() -> None:
    lab = gl.labs.backup_workers(aggregate=5)
    trace = lab.compute(lab.params)
    np.testing.assert_allclose(trace.curve, 100 * backup_curves()[4].mean(axis=0))
    np.testing.assert_allclose(trace.other, 100 * backup_curves()[15].mean(axis=0))
    np.testing.assert_allclose(
        trace.quartiles[0], 100 * np.percentile(backup_curves()[4], 25, axis=0)
    )
    everybody = lab.compute({"aggregate": 16})
    np.testing.assert_allclose(everybody.other, 100 * backup_curves()[14].mean(axis=0))
    assert trace.round == measured_rounds()[4]
    assert set(lab.columns(trace)) == {
        "ticks",
        "right",
        "right_lower",
        "right_upper",
        "right_of_16",
    }


def test_the_target_is_the_length_of_a_round() -> None:
    lab = gl.labs.backup_workers()
    measure = lab.targets["half_round"].measure
    reached = [measure(lab.compute({"aggregate": k}))[0] for k in range(1, WORKERS + 1)]
    assert reached == [False] * 11 + [True] * 3 + [False] * 2


def test_the_sentence_compares_with_all_where_the_runs_tell() -> None:
    said = {
        k: gl.labs.backup_workers(aggregate=k).description.summary for k in range(1, WORKERS + 1)
    }
    runs = compare_backup()
    assert (
        said[16]
        == "Waiting for all 16 workers takes 7,550 ticks to 80%; with one backup worker 5,590."
    )
    assert (
        said[15]
        == "Waiting for 15 of 16 workers takes 5,590 ticks to 80%, 1.35 times as fast as all 16."
    )
    assert (
        said[2]
        == "Waiting for 2 of 16 workers takes 13,670 ticks to 80%, 1.81 times as long as all 16."
    )
    assert "can't be told apart from all 16" in said[4]
    assert said[1].startswith("With 1 of 16, ")
    assert said[1].endswith(" of 15 runs don't reach 80% in 20,000 ticks.")
    for k in range(2, WORKERS):
        assert ("as fast as" in said[k]) == runs.better(f"{k}", "16")
        assert "fastest" not in said[k]
