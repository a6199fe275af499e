"""The lab of an accumulator: its numbers are the accumulator's own, and its presets show what they
are named for.
"""

import numpy as np
import pytest

import gradlab as gl
from gradlab.labs._accumulators.lab import ARRIVALS, CASES, Filling, Taken


def shown(**params: object) -> Filling:
    lab = gl.labs.accumulators(**params)
    return lab.compute(lab.params)


def test_what_is_inside_is_what_an_accumulator_holds_that_is_given_the_same() -> None:
    trace = shown(needs=4, second=2, pause=3, event=ARRIVALS)
    own, past = gl.ConditionalAccumulator(np.float32, [4]), trace.so_far
    for k in range(ARRIVALS):
        receipt = own.apply_grad(past.gradient[k], past.local_step[k])
        assert (receipt.accepted, receipt.step) == (past.accepted[k], past.step[k])
        if past.served[k]:
            now = shown(needs=4, second=2, pause=3, event=k + 1).inside
            assert now.of == own.num_accumulated() >= past.needs[k]
            np.testing.assert_array_equal(own.take_grad(past.needs[k]), now.value)
    assert own.global_step == trace.inside.step


def test_the_sum_is_that_of_the_gradients_in_it() -> None:
    for event in range(ARRIVALS + 1):
        trace = shown(needs=3, event=event, reduction="SUM")
        if trace.inside.of:
            np.testing.assert_array_equal(trace.inside.total, trace.inside.value)


@pytest.mark.parametrize("reduction", ["MEAN", "SUM"])
def test_a_mean_is_the_sum_over_their_number(reduction: str) -> None:
    now = shown(needs=2, second=0, pause=10, event=ARRIVALS, reduction=reduction).inside
    assert now.of == 7
    divisor = 7 if reduction == "MEAN" else 1
    np.testing.assert_allclose(now.total / divisor, now.value, rtol=1e-6)


def test_whoever_forgets_the_step_is_served_once() -> None:
    trace = shown(notes="never", needs=3, second=0, event=ARRIVALS)
    assert [who for who in trace.so_far.served if who] == ["A"]
    assert trace.inside.queue == [("A", 3)]


def test_steps_from_the_future_are_never_dropped() -> None:
    assert shown(notes="ahead", event=ARRIVALS).accepted == ARRIVALS


def test_one_who_needs_one_stands_behind_one_who_needs_three() -> None:
    past = shown(needs=3, second=1, event=ARRIVALS).so_far
    served = [(who, count) for who, count in zip(past.served, past.count, strict=True) if who]
    assert served[:4] == [("A", 3), ("B", 1), ("A", 3), ("B", 1)]


def test_the_words_say_who_is_in_line() -> None:
    lab = gl.labs.accumulators(needs=4, second=2, event=1)
    assert dict(lab.description.table)["in line"] == "A needs 4, then B needs 2"
    assert lab.description.summary == "A waits for 3 more gradients: 1 of 4 is in."
    lab.set(pause=9, event=5)
    assert (
        lab.description.summary
        == "B waits for 2 gradients: none is in yet; 1 of 5 was stale and was dropped."
    )
    lab.set(second=0)
    assert (
        lab.description.summary
        == "No taker waits: no gradient is in; 1 of 5 was stale and was dropped."
    )
    assert "Nothing has come yet." in gl.labs.accumulators(event=0).description.alt
    columns = lab.columns(lab.compute(lab.params))
    assert sorted(columns) == [
        "accepted",
        "count",
        "local_step",
        "needs",
        "served",
        "step",
        "worker",
    ]
    latest = dict(lab.description.table)["latest gradient"]
    assert latest.startswith(f"Gradient 5, worker {columns['worker'][-1]},")


def test_members_are_what_the_mean_is_of_and_the_lost_are_the_rest_since_the_last_take() -> None:
    story = {"needs": 3, "second": 2, "pause": 4}
    taken = 0
    for event in range(1, ARRIVALS + 1):
        trace = shown(**story, event=event)
        past, now = trace.so_far, trace.inside
        assert len(now.members) == now.of == past.count[-1] or not now.of
        if now.of:
            np.testing.assert_allclose(
                sum(past.gradient[k] for k in now.members), now.total, rtol=1e-5
            )
        assert sorted([*now.members, *now.lost]) == [*range(taken, event)]
        taken = event if past.served[-1] else taken


@pytest.mark.parametrize(
    ("target", "params"),
    [
        ("more", {"needs": 2, "second": 0, "pause": 10, "event": 32}),
        ("dropped", {"needs": 1, "second": 0, "event": 32}),
    ],
)
def test_the_targets_can_be_reached(target: str, params: dict[str, object]) -> None:
    assert gl.labs.accumulators().targets[target].measure(shown(**params))[0]
    assert not gl.labs.accumulators().targets[target].measure(shown(event=0))[0]


def shown_of_rows(**params: object) -> Taken:
    lab = gl.labs.sparse_accumulators(**params)
    return lab.compute(lab.params)


def test_a_row_is_divided_by_the_gradients_that_hold_it_or_by_all() -> None:
    rows = shown_of_rows(case="two", event=2).rows
    assert rows.row.tolist() == [0, 1, 3]
    assert rows.by_row.tolist() == [2, 6, 6]
    assert rows.by_gradient.tolist() == [1, 6, 3]
    assert rows.held_by.tolist() == [1, 2, 1]


@pytest.mark.parametrize("case", CASES)
def test_the_mean_over_all_gradients_is_that_of_a_dense_accumulator(case: str) -> None:
    dense, trace = gl.ConditionalAccumulator(np.float32, [8]), shown_of_rows(case=case, event=6)
    for indices, values in trace.rows.given:
        dense.apply_grad(
            gl.IndexedSlices(np.float32(values), np.array(indices, int), (8,)).to_dense()
        )
    expected = dense.take_grad(len(trace.rows.given))
    np.testing.assert_allclose(trace.rows.by_gradient, expected[trace.rows.row], rtol=1e-6)
    assert not np.delete(expected, trace.rows.row).any()


def test_tensorflow_keeps_rows_apart_that_it_does_not_find() -> None:
    assert shown_of_rows(case="twice", merge="tf", event=1).rows.row.tolist() == [1, 1, 4]
    assert shown_of_rows(case="unsorted", merge="tf", event=2).rows.row.tolist().count(0) == 2
    assert shown_of_rows(case="unsorted", event=2).rows.row.tolist() == [0, 3]


def test_an_empty_gradient_counts() -> None:
    rows = shown_of_rows(case="empty", event=2).rows
    assert rows.by_row.tolist() == [4, 6]
    assert rows.by_gradient.tolist() == [2, 3]


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({}, "Row 7 is in 1 of 5 gradients: its mean is 8 over that one, 1.6 over all 5."),
        ({"event": 1}, "There is one gradient: the two means of a row are the same."),
        ({"case": "twice"}, "Each row is in all 3 gradients: the two means of a row are the same."),
        ({"case": "twice", "merge": "tf"}, "TensorFlow returns row 1 more than once, as 2 and 3:"),
        (
            {"case": "unsorted", "merge": "tf"},
            "TensorFlow returns row 0 more than once, as 4, 3 and 2:",
        ),
    ],
)
def test_the_sentence_names_the_row_to_look_at(settings: dict[str, object], said: str) -> None:
    lab = gl.labs.sparse_accumulators(**settings)
    assert lab.description.summary.startswith(said)
    rows = lab.compute(lab.params).rows
    if not rows.twice.size:
        apart = rows.by_row - rows.by_gradient
        assert apart[rows.told] == apart.max()


def test_before_the_first_there_is_nothing() -> None:
    lab = gl.labs.sparse_accumulators(event=0)
    assert lab.description.summary == "No row is there: no gradient has come yet."
    assert lab.columns(lab.compute(lab.params))["row"].size == 0


def test_the_target_can_be_reached() -> None:
    measure = gl.labs.sparse_accumulators().targets["apart"].measure
    assert measure(shown_of_rows(case="words", event=6))[0]
    assert not measure(shown_of_rows(case="words", event=3))[0]
