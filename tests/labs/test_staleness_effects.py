"""The lab of policies: every curve is a run of the engine on the same schedule, and what is said of it is true."""

import numpy as np
import pytest

import gradlab as gl
from gradlab.labs._staleness_effects import _HORIZON, Policies
from gradlab.live import Slider
from gradlab.workers import POLICIES, Digits, Experiment, Speeds, policy_study, run
from gradlab.workers.policy_study import GRADIENTS, WORKERS
from gradlab.workers.studies import GOAL, STALENESS, VARIANTS, recorded, updates_to


def seen(**params: object) -> Policies:
    lab = gl.labs.staleness_policies(**params)
    return lab.compute(lab.params)


def test_every_position_of_the_sliders_is_recorded() -> None:
    positions = {c.name: tuple(c.values()) for c in gl.labs.staleness_policies().controls if isinstance(c, Slider)}
    assert positions == {
        "staleness": policy_study.LIMITS, "straggler": policy_study.STRAGGLERS,
        "learning_rate": policy_study.LEARNING_RATES, "momentum": policy_study.MOMENTA,
    }  # fmt: skip
    for label, preset in gl.labs.staleness_policies.presets.items():
        assert all(value in positions[name] for name, value in preset.items()), label


@pytest.mark.parametrize("rate", [0.3, 0.31])  # one that is recorded, one that is not
@pytest.mark.parametrize("policy", POLICIES)
def test_every_curve_ends_where_the_engine_ends(policy: str, rate: float) -> None:
    trace = seen(staleness=3, straggler=2.0, learning_rate=rate, momentum=0.6)
    e = Experiment(
        Digits(), optimizer=gl.rules.Momentum(0.6), learning_rate=rate, workers=WORKERS, policy=policy, staleness=3,
        speeds=Speeds(slow={7: 2.0}), gradients=GRADIENTS, aggregate=7 if policy == "backup" else 1, strength=1.0,
        mean_square_decay=0.95,
    )  # fmt: skip
    one, curve = run(e), trace.curves[policy]
    assert curve.step[-1] == one.updates
    assert curve.loss[-1] == pytest.approx(e.problem.loss(one.weights), rel=1e-3 if rate == 0.3 else 0)
    assert trace.accepted[policy] == one.accepted.mean()
    assert curve.time[-1] <= one.times[-1] / 100


def test_all_policies_start_alike_and_only_two_depend_on_the_limit() -> None:
    low, high = seen(staleness=0), seen(staleness=12)
    assert len({curve.loss[0] for curve in low.curves.values()}) == 1
    same = {name for name in POLICIES if low.curves[name].loss.tolist() == high.curves[name].loss.tolist()}
    assert same == set(POLICIES) - {"drop", "wait"}
    assert low.accepted["drop"] < high.accepted["drop"]


def test_the_line_is_where_the_first_is_through() -> None:
    trace = seen(straggler=5.0)
    first = trace.curves["apply"]  # an update for every gradient, and nobody waits
    assert trace.then == first.time[-1] and first.then == first.loss[-1]
    wait = trace.curves["wait"]
    assert wait.time[-1] > 2 * trace.then
    assert wait.then == wait.loss[wait.time <= trace.then][-1]


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({}, "“wait” ends lowest, but by the clock “apply” leads: 0.56 to 0.75 after 27 gradient times."),
        ({"learning_rate": 3.0}, "“damp” leads by updates and by the clock: 0.448 in the end, “backup” at 0.524."),
        ({"straggler": 1.0, "staleness": 12}, "“apply”, “drop” and “wait” lead by updates and by the clock:"),
    ],
)
def test_the_sentence_says_which_policy_is_lowest_on_both_clocks(settings: dict[str, float], said: str) -> None:
    lab = gl.labs.staleness_policies(**settings)
    trace, summary = lab.compute(lab.params), lab.description.summary
    assert summary.startswith(said)
    ends = {name: curve.loss[-1] for name, curve in trace.curves.items()}
    then = {name: curve.then for name, curve in trace.curves.items()}
    first, ahead = trace.told
    assert ends[first] == min(ends.values()) and then[ahead] == min(then.values())
    assert (first == ahead) == ("leads by updates and" in summary or "lead by updates and" in summary)


def test_the_table_is_in_the_order_of_the_losses() -> None:
    lab = gl.labs.staleness_policies(momentum=0.9, learning_rate=0.3)
    trace = lab.compute(lab.params)
    order = trace.order()
    losses = [trace.curves[name].loss[-1] for name in order]
    assert losses == sorted(losses)
    assert [name for name, _ in lab.description.table[3:]] == order


def test_a_run_without_numbers_is_last_and_no_accident() -> None:
    curves = dict(seen().curves)
    curves["apply"] = curves["apply"]._replace(loss=np.append(curves["apply"].loss[:-1], np.nan), then=np.inf)
    trace = seen()._replace(curves=curves)
    assert trace.order()[-1] == trace.order(at_end=False)[-1] == "apply"
    assert "apply NaN. After" in gl.labs.staleness_policies().describe(trace).alt


@pytest.mark.parametrize("straggler", [1.0, 5.0])
def test_the_first_policy_is_through_within_the_panel(straggler: float) -> None:
    assert 0.85 * _HORIZON < seen(straggler=straggler).then <= _HORIZON


def test_columns_line_up_by_updates() -> None:
    lab = gl.labs.staleness_policies()
    columns = lab.columns(lab.compute(lab.params))
    assert len({len(column) for column in columns.values()}) == 1
    assert np.isfinite(columns["apply_loss"]).all() and np.isnan(columns["backup_loss"][-1])
    backup = seen().curves["backup"]
    at = np.flatnonzero(backup.step == columns["updates"][3])[0]
    assert columns["backup_loss"][3] == backup.loss[at]


def test_presets_show_what_their_names_say() -> None:
    lab = gl.labs.staleness_policies()
    ends = {
        label: {name: float(c.loss[-1]) for name, c in lab.compute({**lab.params, **values}).curves.items()}
        for label, values in lab.presets.items()
    }
    assert max(ends["Small steps"].values()) < 2.3
    assert ends["Good learning rate"]["apply"] < ends["Good learning rate"]["drop"] < ends["Good learning rate"]["damp"]
    assert ends["Large steps"]["damp"] < 0.5 * ends["Large steps"]["apply"]
    assert ends["Heavy momentum"]["apply"] > 2.3 > ends["Heavy momentum"]["damp"]


@pytest.mark.parametrize(
    ("target", "reached", "missed"),
    [
        ("drop_wins", {"learning_rate": 1.265, "staleness": 4}, {"staleness": 12}),
        ("drop_wins", {"learning_rate": 1.265, "staleness": 4}, {"learning_rate": 0.3}),
        ("only_backup", {"learning_rate": 1.69, "momentum": 0.9}, {"momentum": 0.3}),
    ],
)
def test_targets_can_be_reached_and_missed(target: str, reached: dict[str, object], missed: dict[str, object]) -> None:
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
    np.testing.assert_array_equal(trace.needed, np.median(updates_to(GOAL, recorded()), axis=2))
    columns = lab.columns(trace)
    assert len(columns) == 1 + len(VARIANTS)
    np.testing.assert_array_equal(columns["momentum_0_95"], expected[6])


def test_the_words_tell_who_never_gets_there() -> None:
    table = dict(gl.labs.staleness_models(delay=16).description.table)
    assert table["largest delay"] == "16 updates"
    assert table["6 hidden layers"] == "never"
    assert int(table["1 hidden layer"]) < 1000


def test_the_sentence_names_who_never_gets_there_and_they_are_heavy() -> None:
    assert "keep networks of 4 and 6 layers below 90%" in gl.labs.staleness_models(delay=16).description.summary
    assert "keep 4 and 6 layers, and Momentum 0.95, below" in gl.labs.staleness_models(delay=32).description.summary
    assert "keep a network of 6 layers below" in gl.labs.staleness_models(delay=8).description.summary
    for delay in STALENESS:
        lab = gl.labs.staleness_models(delay=delay)
        trace = lab.compute(lab.params)
        never = ~np.isfinite(trace.needed[:, STALENESS.index(delay)])
        assert trace.told.tolist() == never.tolist() or (delay == 0 and not never.any())
        assert (trace.curves[never].max(axis=1) < 100 * GOAL).all()  # below it all the time


def test_where_all_get_there_the_deepest_and_the_shallowest_are_compared() -> None:
    summary = gl.labs.staleness_models(delay=0).description.summary
    assert summary == "With fresh gradients, a network of 6 layers reaches 90% in 420 updates, one of 1 layer in 640."
