"""The lab of policies: every curve is a run of the engine on the same schedule, and what is said of
it is true.
"""

from typing import Any

import numpy as np
import pytest

import gradlab as gl
from gradlab.labs._stale_training.lab import GROUPS, Policies
from gradlab.live import Slider
from gradlab.models.claims import sentence
from gradlab.workers import POLICIES, Digits, Experiment, Speeds, policy_study, run
from gradlab.workers.policy_study import GRADIENTS, WORKERS
from gradlab.workers.studies import GOAL, STALENESS, VARIANTS, recorded, slowdown, updates_to


def seen(**params: Any) -> Policies:
    lab = gl.labs.staleness_policies(**params)
    return lab.compute(lab.params)


def test_every_position_of_the_sliders_is_recorded() -> None:
    positions = {
        c.name: tuple(c.values())
        for c in gl.labs.staleness_policies().controls
        if isinstance(c, Slider)
    }
    assert positions == {
        "staleness": policy_study.LIMITS, "straggler": policy_study.STRAGGLERS,
        "learning_rate": policy_study.LEARNING_RATES, "momentum": policy_study.MOMENTA,
    }  # fmt: skip
    for label, preset in gl.labs.staleness_policies().presets.items():
        assert all(value in positions[name] for name, value in preset.items()), label


@pytest.mark.parametrize("rate", [0.3, 0.31])  # one that is recorded, one that is not
@pytest.mark.parametrize("policy", POLICIES)
def test_every_curve_ends_where_the_engine_ends(policy: str, rate: float) -> None:
    trace = seen(staleness=3, straggler=2.0, learning_rate=rate, momentum=0.6)
    e = Experiment(
        Digits(),
        optimizer=gl.rules.Momentum(0.6),
        learning_rate=rate,
        workers=WORKERS,
        policy=policy,
        staleness=3,
        speeds=Speeds(slow={7: 2.0}),
        gradients=GRADIENTS,
        aggregate=7 if policy == "backup" else 1,
        strength=1.0,
        mean_square_decay=0.95,
    )
    one, curve = run(e), trace.runs[policy]
    assert curve.step[-1] == one.updates
    assert curve.loss[-1] == pytest.approx(
        e.problem.loss(one.weights), rel=1e-3 if rate == 0.3 else 0
    )
    assert curve.accepted == one.accepted.mean()
    assert curve.time[-1] <= one.times[-1] / 100


def test_all_policies_start_alike_and_only_two_depend_on_the_limit() -> None:
    low, high = seen(staleness=0), seen(staleness=12)
    assert len({run.loss[0] for run in low.runs.values()}) == 1
    same = {
        name for name in POLICIES if low.runs[name].loss.tolist() == high.runs[name].loss.tolist()
    }
    assert same == set(POLICIES) - {"drop", "wait"}
    assert low.runs["drop"].accepted < high.runs["drop"].accepted


def test_single_runs_are_compared_by_the_clock_when_the_first_is_through() -> None:
    trace = seen(straggler=5.0)
    assert trace.then == trace.runs["apply"].end  # an update for every gradient, and nobody waits
    assert trace.loss("apply", at_end=False) == trace.loss("apply")
    wait = trace.runs["wait"]
    assert wait.end > 2 * trace.then
    assert trace.loss("wait", at_end=False) == wait.loss[wait.time <= trace.then][-1]


def test_the_lab_opens_with_many_runs_of_each_policy_at_its_own_rate() -> None:
    trace = seen()
    assert trace.own is not None
    by_gradients, by_time = trace.own
    for name in POLICIES:
        assert len(by_gradients[name].judged) == len(by_time[name].judged) == 20
    assert {by_gradients[name].rate for name in POLICIES} > {0.5, 2.8, 4.0}


@pytest.mark.parametrize("moved", [{"staleness": 5}, {"straggler": 2.0}, {"momentum": 0.3}])
def test_where_no_rates_were_chosen_there_is_one_run_and_no_winner(moved: dict[str, Any]) -> None:
    trace = seen(**moved)
    assert trace.own is None
    said = gl.labs.staleness_policies(**moved).description.summary
    assert said.startswith("One run each at rate 0.3: losses from ")
    assert said.endswith("One run at one rate can't rank policies.")


def test_the_sentence_takes_the_verdict_from_the_runs_at_own_rates() -> None:
    said = gl.labs.staleness_policies().description
    assert said.summary.startswith(
        "Own rates: “wait” is lowest by gradients and highest by time. One run at 0.3"
    )
    assert sentence("staleness.per_gradient").replace("“", '"').replace("”", '"') in said.alt
    assert sentence("staleness.per_time").replace("“", '"').replace("”", '"') in said.alt
    said = gl.labs.staleness_policies(straggler=1.0).description
    assert said.summary.startswith("Own rates: no policy leads, by gradients or by time.")


def test_the_verdict_does_not_depend_on_the_rate_of_the_single_runs() -> None:
    verdicts = {
        gl.labs.staleness_policies(learning_rate=rate).description.summary.partition(".")[0]
        for rate in policy_study.LEARNING_RATES[::4]
    }
    assert len(verdicts) == 1


def test_the_table_has_mean_and_standard_error_of_the_own_runs() -> None:
    table = dict(gl.labs.staleness_policies().description.table)
    assert table["wait"].startswith(
        "own rates: mean 0.461 ± 0.013 after 200 gradients at rate 0.5, "
        "mean 0.744 ± 0.015 after equal time at rate 0.3. One run:"
    )


def test_a_single_run_without_numbers_is_the_highest() -> None:
    trace = seen()
    lost = trace.runs["apply"]._replace(loss=np.append(trace.runs["apply"].loss[:-1], np.nan))
    trace = trace._replace(runs={**trace.runs, "apply": lost})
    assert trace.ends.max() == np.inf
    lab = gl.labs.staleness_policies()
    assert "apply NaN, drop" in lab.describe(trace).alt
    reached, now = lab.targets["all_learn"].measure(trace)
    assert not reached
    assert now == "Now the run of “apply” ends at NaN"


def test_columns_line_up_by_updates() -> None:
    lab = gl.labs.staleness_policies()
    columns = lab.columns(lab.compute(lab.params))
    assert len({len(column) for column in columns.values()}) == 1
    assert np.isfinite(columns["apply_loss"]).all() and np.isnan(columns["backup_loss"][-1])
    backup = seen().runs["backup"]
    at = np.flatnonzero(backup.step == columns["updates"][3])[0]
    assert columns["backup_loss"][3] == backup.loss[at]


def test_presets_show_what_their_names_say() -> None:
    lab = gl.labs.staleness_policies()
    shown = {label: lab.compute({**lab.params, **values}) for label, values in lab.presets.items()}
    assert shown["Own rates"].own is not None
    assert shown["No straggler"].own is not None
    assert shown["No straggler"].straggler == 1
    large = shown["Large steps"]
    assert large.loss("damp") < 0.5 * large.loss("apply")  # one run each
    assert shown["Heavy momentum"].loss("apply") > 2.3


@pytest.mark.parametrize(
    ("target", "reached", "missed"),
    [
        ("all_learn", {"learning_rate": 0.711}, {"learning_rate": 0.3}),
        ("all_learn", {"learning_rate": 0.711}, {"learning_rate": 3.0}),
        ("slow_wait", {"straggler": 4.0}, {"straggler": 2.0}),
    ],
)
def test_targets_can_be_reached_and_missed(
    target: str, reached: dict[str, Any], missed: dict[str, Any]
) -> None:
    lab = gl.labs.staleness_policies(target=target)
    assert lab.description.goal.endswith("not yet.")
    lab.set(**reached)
    assert lab.description.goal.endswith("reached."), lab.description.goal
    lab.set(**missed)
    assert lab.description.goal.endswith("not yet.")


def test_the_curves_are_medians_of_the_recording() -> None:
    lab = gl.labs.staleness_models(delay=24)
    trace = lab.compute(lab.params)
    expected = 100 * np.median(recorded()[:, STALENESS.index(24)], axis=1)
    np.testing.assert_array_equal(trace.curves, expected)
    np.testing.assert_array_equal(trace.slowdown[1], slowdown().mean(axis=2))
    columns = lab.columns(trace)
    assert len(columns) == 1 + len(VARIANTS)
    np.testing.assert_array_equal(columns["momentum_0_9"], expected[4])


def test_the_sentence_is_the_claim_about_that_delay() -> None:
    for delay in STALENESS[1:]:
        said = gl.labs.staleness_models(delay=delay).description.summary
        assert said == sentence(f"depth.slowdown.{delay}")


def test_fresh_gradients_are_told_by_their_updates() -> None:
    said = gl.labs.staleness_models(delay=0).description.summary
    needed = np.median(updates_to(GOAL, recorded()[:, 0]), axis=-1)
    assert said == (
        f"With fresh gradients, 1 layer reaches 85% in {needed[0]:.0f} updates, 6 layers in "
        f"{needed[3]:.0f}."
    )


def test_the_table_has_updates_rates_and_slowdowns() -> None:
    table = dict(gl.labs.staleness_models(delay=16).description.table)
    assert table["largest delay"] == "16 updates"
    updates = np.median(updates_to(GOAL, recorded()[3, 2]))
    assert table["6 hidden layers"].startswith(f"{updates:,.0f} at rate 0.025, ")


def test_two_layers_with_descent_are_in_both_groups() -> None:
    depths, methods = GROUPS.values()
    assert depths[1] == methods[0]
    assert VARIANTS[methods[0]].hidden == VARIANTS[methods[1]].hidden == (32, 32)


def test_the_verdicts_with_numbers_call_them_means() -> None:
    assert "lowest mean loss" in sentence("staleness.per_gradient")
    assert "highest mean loss" in sentence("staleness.per_time")
    assert "lowest mean loss" in sentence("staleness.per_gradient.no_straggler")
