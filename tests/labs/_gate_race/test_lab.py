"""The race lab: every number is the race's own, what is said is what happened, and nobody's
variables are touched.
"""

import itertools

import numpy as np
import pytest

import gradlab as gl
from gradlab.labs._gate_race.lab import GATES, SCHEDULES
from gradlab.train import GATE_NONE
from gradlab.train.gate import product_race

# TensorFlow's, under GATE_OP.
RIGHT = {"a": [[-0.1, 0.5], [1.9, 2.5]], "b": [[4.6, 5.6], [6.4, 7.4]]}
RACED = {
    "none_b": ("a", [[-0.02, 0.62], [1.98, 2.62]]),
    "none_a": ("b", [[4.82, 5.82], [6.7, 7.7]]),
}


def ended(schedule: str) -> dict[str, np.ndarray]:
    """The columns of the first schedule when all tasks have run."""
    lab = gl.labs.gate_race(first=schedule, step=4)
    return lab.columns(lab.compute(lab.params))


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_every_schedule_is_an_order_its_gate_allows_and_ends_as_the_race_ends(
    schedule: str,
) -> None:
    lab = gl.labs.gate_race(first=schedule, step=4)
    order = lab.compute(lab.params).first.order
    outcomes = product_race(SCHEDULES[schedule][0]).outcomes()
    assert order in outcomes
    for name, value in outcomes[order].items():
        np.testing.assert_array_equal(ended(schedule)[f"first_{name}"], value.ravel())


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_only_an_overtaking_update_makes_a_wrong_step(schedule: str) -> None:
    wrong, values = RACED.get(schedule, (None, []))
    for name in "ab":
        expected = values if name == wrong else RIGHT[name]
        np.testing.assert_allclose(ended(schedule)[f"first_{name}"], np.ravel(expected), rtol=1e-6)
    verdict = (
        f"{wrong} is wrong: its gradient read the new {'ab'[wrong == 'a']}"
        if wrong
        else "a and b are right"
    )
    assert (
        gl.labs.gate_race(first=schedule, second=schedule, step=4).description.summary
        == f"Either way, {verdict}."
    )


def test_every_gate_and_every_way_to_race_has_a_schedule() -> None:
    assert {gate for gate, _, _ in SCHEDULES.values()} == set(GATES)
    raced = set()
    for order in product_race(GATE_NONE).outcomes():
        one = product_race(GATE_NONE)
        for task in order:
            one.run(task)
        raced.add(one.raced)
    assert raced == {(), *((wrong,) for wrong, _ in RACED.values())}


@pytest.mark.parametrize(
    ("step", "said", "told"),
    [
        (
            0,
            "Either way, the scheduler begins with gradient b.",
            "the scheduler begins with gradient b",
        ),
        (
            1,
            "Without a gate, gradient b reads the old a; with GATE_OP, update b waits at the gate.",
            "gradient b is 4 = 1 + 3, from the old a",
        ),
        (
            2,
            (
                "Without a gate, update b overtakes gradient a; with "
                "GATE_OP, gradient a reads the old b."
            ),
            "update b gives 4.6 = 5 - 0.1 * 4, but gradient a has not been computed yet",
        ),
        (
            3,
            (
                "Without a gate, gradient a reads the new b; with GATE_OP, update b comes after "
                "both gradients."
            ),
            "gradient a is 10.2 = 4.6 + 5.6, from the new b",
        ),
        (
            4,
            (
                "Without a gate, a is wrong: its gradient read the new b; "
                "with GATE_OP, a and b are right."
            ),
            "a is wrong, its gradient read the new b",
        ),
    ],
)
def test_each_step_says_what_happened_on_both_sides(step: int, said: str, told: str) -> None:
    words = gl.labs.gate_race(step=step).description
    assert words.summary == said
    assert told in words.alt


def test_schedules_with_the_same_gate_are_the_first_and_the_second() -> None:
    lab = gl.labs.gate_race(second="none_lucky", step=0)
    assert (
        lab.description.summary
        == "The first schedule begins with gradient b, the second with gradient a."
    )
    lab.set(step=4)
    assert lab.description.summary == (
        "In the first, a is wrong: its gradient read the new b; in the second, a and b are right."
    )


def test_the_last_words_hold_the_wrong_number_and_the_right_one() -> None:
    words = gl.labs.gate_race(step=4).description
    for part in ("-0.02 = 1 - 0.1 * 10.2", "-0.1 = 1 - 0.1 * 11", "4 of the 8 new values differ"):
        assert part in words.alt
    assert dict(words.table)["second a"] == "-0.1 0.5; 1.9 2.5"


def test_only_numbers_that_are_there_on_both_sides_can_differ() -> None:
    lab = gl.labs.gate_race()
    marked = []
    for step in range(5):
        lab.set(step=step)
        marked.append(int(lab.compute(lab.params).differs.sum()))
    assert marked == [0, 0, 0, 4, 8]
    lab.set(first="op_b", second="graph_b")
    assert not lab.compute(lab.params).differs.any()


def test_the_gate_opens_when_the_last_gradient_is_there() -> None:
    for first, second in itertools.pairwise(SCHEDULES):
        trace = gl.labs.gate_race(first=first, second=second, step=4)
        for side in trace.compute(trace.params)[1:3]:
            assert side.gate_opens == (None if side.title.startswith("GATE_NONE") else 2)


def test_a_schedule_steps_ahead_without_ever_changing_what_was() -> None:
    lab = gl.labs.gate_race(first="none_a")
    before = lab.columns(lab.compute({**lab.params, "step": 2}))
    lab.compute({**lab.params, "step": 4})
    for name, column in lab.columns(lab.compute({**lab.params, "step": 2})).items():
        np.testing.assert_array_equal(column, before[name])


def test_the_labs_variables_are_nobody_elses() -> None:
    with gl.variable_collection():
        gl.labs.gate_race(step=4).live.frame()
        assert gl.trainable_variables() == []


def test_every_preset_can_be_set_and_the_target_can_be_reached() -> None:
    lab = gl.labs.gate_race(target="b_wrong", step=4)
    assert "not yet" in lab.description.goal
    for values in lab.presets.values():
        lab.set(**values)
        assert lab.params == values
    lab.set(first="none_a", step=4)
    assert lab.description.goal.endswith("b is wrong: reached.")
