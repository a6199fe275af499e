"""The lab of an accumulator: its numbers are the accumulator's own, and its presets show what they are named for."""

import numpy as np
import pytest

import gradlab as gl
from gradlab.labs.accumulators import ARRIVALS, Filling


def shown(**params: object) -> Filling:
    lab = gl.labs.accumulators(**params)
    return lab.compute(lab.params)


def test_what_is_inside_is_what_an_accumulator_holds_that_is_given_the_same() -> None:
    trace = shown(needs=4, second=2, pause=3, event=ARRIVALS)
    own, past = gl.ConditionalAccumulator(np.float32, [4]), trace.so_far
    for k in range(ARRIVALS):
        receipt = own.apply_grad(past.gradient[k], past.local_step[k])
        assert (receipt.accepted, receipt.step) == (past.kept[k], past.step[k])
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
    now = shown(needs=2, pause=10, event=ARRIVALS, reduction=reduction).inside
    assert now.of == 7
    divisor = 7 if reduction == "MEAN" else 1
    np.testing.assert_allclose(now.total / divisor, now.value, rtol=1e-6)


def test_whoever_forgets_the_step_is_served_once() -> None:
    trace = shown(notes="never", needs=3, event=ARRIVALS)
    assert [who for who in trace.so_far.served if who] == ["A"]
    assert trace.inside.queue == [("A", 3)]


def test_steps_from_the_future_are_never_dropped() -> None:
    assert shown(notes="ahead", event=ARRIVALS).kept == ARRIVALS


def test_one_who_needs_one_stands_behind_one_who_needs_three() -> None:
    past = shown(needs=3, second=1, event=ARRIVALS).so_far
    served = [(who, count) for who, count in zip(past.served, past.count, strict=True) if who]
    assert served[:4] == [("A", 3), ("B", 1), ("A", 3), ("B", 1)]


def test_the_words_say_who_is_in_line() -> None:
    lab = gl.labs.accumulators(needs=4, second=2, event=1)
    assert dict(lab.description.table)["in line"] == "A needs 4, then B needs 2"
    assert gl.labs.accumulators(event=0).description.summary.startswith("Nothing has come yet.")
    columns = lab.columns(lab.compute(lab.params))
    assert sorted(columns) == ["count", "kept", "local_step", "needs", "served", "step", "worker"]
    assert lab.description.summary.startswith(f"Gradient 1, worker {columns['worker'][0]},")


@pytest.mark.parametrize(
    ("target", "params"),
    [("more", {"needs": 2, "pause": 10, "event": 32}), ("dropped", {"needs": 1, "event": 32})],
)
def test_the_targets_can_be_reached(target: str, params: dict[str, object]) -> None:
    assert gl.labs.accumulators.targets[target].measure(shown(**params))[0]
    assert not gl.labs.accumulators.targets[target].measure(shown(event=0))[0]
