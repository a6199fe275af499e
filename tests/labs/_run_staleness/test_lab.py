"""Workers at the speed of a recorded run: ages and drops are the simulation's, agreement the
recording's.
"""

import numpy as np
import pytest

import gradlab as gl
from gradlab._base.numbers import number
from gradlab.labs._run_staleness.lab import GRADIENTS
from gradlab.models.reader_run import shipped
from gradlab.workers import Bowl, Experiment, Speeds, run


def test_ages_and_drops_are_those_of_an_experiment_with_measured_speeds() -> None:
    lab = gl.labs.run_staleness(workers=5, limit=3, straggler=2.0)
    trace = lab.compute(lab.params)
    speeds = Speeds(slow={4: 2.0}, measured=shipped().durations())
    expected = run(
        Experiment(
            Bowl(), workers=5, speeds=speeds, policy="drop", staleness=3, gradients=GRADIENTS
        )
    )
    np.testing.assert_array_equal(trace.staleness, expected.true_staleness)
    np.testing.assert_array_equal(trace.accepted, expected.accepted)
    assert lab.description.summary == (
        f"With 5 workers gradients are {number(trace.mean, 2)} updates stale on average; "
        f"limit 3 drops {100 * trace.dropped:.0f}% of them."
    )


def test_one_dropped_gradient_is_not_none() -> None:
    lab = gl.labs.run_staleness()
    said = lab.describe(lab.compute(lab.params)._replace(accepted=np.arange(GRADIENTS) != 5))
    assert (
        f"drops 0.3% of {GRADIENTS} gradients" in said.alt and "drops 0.3% of them" in said.summary
    )
    assert f"0.3% of {GRADIENTS}" in dict(said.table).values()


def test_equal_steps_come_in_turns() -> None:
    lab = gl.labs.run_staleness(workers=6, limit=5, speeds="equal")
    trace = lab.compute(lab.params)
    assert (trace.staleness[5:] == 5).all() and trace.dropped == 0
    assert dict(lab.description.table)["how long steps take"] == "all the same"


def test_agreement_is_the_recordings_own_with_its_interval() -> None:
    lab = gl.labs.run_staleness()
    items = lab.live.description.items
    assert items is not None
    found = shipped().agreement()
    shown = items.values["agreement of gradients so far apart"]
    np.testing.assert_array_equal(shown[:17], found.value)
    assert np.isnan(shown[17:]).all(), "probes are compared with the 16 steps after them"
    table = dict(lab.description.table)
    assert table["agreement of gradients 1 update apart"] == found.in_words(1)
    assert (
        f"Agreement of gradients 6 updates apart: {found.in_words(6)}".replace("−", "-")
        in lab.description.alt
    )


def test_without_probes_no_agreement_is_stated() -> None:
    rec, rng = gl.Recorder(steps=8), np.random.default_rng(0)
    for _ in range(32):
        rec.record({"w": rng.normal(size=6)})
    lab = gl.labs.run_staleness(rec)
    values = lab.items(lab.make_view(), lab.compute(lab.params)).values[
        "agreement of gradients so far apart"
    ]
    assert np.isnan(values).all()
    table = dict(lab.description.table)
    assert table["agreement of gradients 1 update apart"] == "not known without probes"
    assert "rec.probe(grads) every few steps" in table["how agreement is known"]
    assert "cosine" not in str(lab.description)


def test_other_seeds_are_drawn_beside_the_shipped_run_only() -> None:
    def curves(lab: gl.labs.Lab) -> int:
        return len(lab.make_view().agreement.lines)

    rec = gl.Recorder()
    for _ in range(40):
        rec.probe([np.ones(2)])
        rec.record([np.ones(2)])
    assert curves(gl.labs.run_staleness()) == curves(gl.labs.run_staleness(shipped()))
    assert curves(gl.labs.run_staleness()) == curves(gl.labs.run_staleness(rec)) + 4


@pytest.mark.parametrize(
    ("target", "reached", "missed"),
    [
        (
            "kept_fresh",
            {"workers": 4, "straggler": 3.0, "limit": 5},
            {"workers": 4, "straggler": 3.0, "limit": 7},
        ),
        ("worth_having", {"workers": 12, "limit": 3}, {"workers": 12, "limit": 9}),
    ],
)
def test_targets_can_be_reached_and_missed(
    target: str, reached: dict[str, float], missed: dict[str, float]
) -> None:
    lab = gl.labs.run_staleness(target=target)
    for values, end in ((reached, "reached."), (missed, "not yet.")):
        lab.set(**values)
        assert lab.description.goal.endswith(end), lab.description.goal


def test_one_worker_is_one() -> None:
    goal = gl.labs.run_staleness(target="kept_fresh", workers=1).description.goal
    assert "Now with 1 worker 100% are accepted" in goal
    goal = gl.labs.run_staleness(target="kept_fresh", workers=2, limit=1).description.goal
    assert goal.endswith("the oldest 1 update stale: not yet.")
