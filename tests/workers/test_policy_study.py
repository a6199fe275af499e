"""The recording holds every setting, and what the code gives."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from gradlab.models import asynchrony
from gradlab.models import curves as recordings
from gradlab.workers import POLICIES, policy_study
from gradlab.workers.policy_study import (
    GRADIENTS,
    Setting,
    experiment,
    losses,
    record,
    recorded,
    settings,
    train_with_seed,
    trained,
)
from gradlab.workers.simulated import decide


@pytest.mark.exhaustive
def test_every_setting_is_recorded_from_the_start_to_the_last_update() -> None:
    start = trained("apply", 0, 1.0, 0.3, 0.0).loss[0]
    for setting in settings():
        one = trained(*setting)
        assert one.loss[0] == start and len(one.loss) == len(one.step) == len(one.time)
        assert one.loss.all()  # no training ends at 0, which stands after the end of a short one


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("choice", [(0, 1.0, 0.0533, 0.6), (12, 4.0, 0.3, 0.0)])
def test_a_training_gives_what_was_recorded(
    policy: str, choice: tuple[int, float, float, float]
) -> None:
    setting = (policy, choice[0] if policy in policy_study.BY_LIMIT else 0, *choice[1:])
    again = losses(decide(experiment(*setting)))
    kept = recorded(setting, len(again))
    assert kept is not None
    np.testing.assert_allclose(again, kept, rtol=1e-3)


def test_between_the_recorded_settings_it_is_worked_out() -> None:
    setting = "damp", 0, 3.0, 0.31, 0.0
    assert recorded(setting, 51) is None
    np.testing.assert_array_equal(trained(*setting).loss, losses(decide(experiment(*setting))))
    below, above = (trained("damp", 0, 3.0, rate, 0.0).loss[-1] for rate in (0.4, 0.225))
    assert below < trained(*setting).loss[-1] < above


def test_the_limit_concerns_two_policies_only() -> None:
    for policy in POLICIES:
        low, high = (trained(policy, limit, 3.0, 0.3, 0.0).loss.tolist() for limit in (0, 12))
        assert (low == high) == (policy not in policy_study.BY_LIMIT)


@pytest.fixture
def few(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Setting]]:
    """Three settings, to be recorded elsewhere."""
    chosen = [("apply", 0, 1.0, rate, 0.0) for rate in (0.1, 0.2, 0.3)]
    monkeypatch.setattr(recordings, "files", lambda package: tmp_path)
    monkeypatch.setattr(policy_study, "settings", lambda: iter(chosen))
    policy_study._places.cache_clear()
    recordings.arrays.cache_clear()
    yield chosen
    policy_study._places.cache_clear()
    recordings.arrays.cache_clear()


def test_what_is_recorded_is_rounded_and_whole(few: list[Setting]) -> None:
    curves = [np.array([2.3, 1 / 3]), np.array([2.3, np.inf, np.nan]), np.array([2.3, 1 / 3])]
    record(curves)
    for setting, curve in zip(few, curves, strict=True):
        np.testing.assert_allclose(recorded(setting, len(curve)), curve, rtol=1 / 30_000)
    assert len(recordings.arrays("policies")["losses"]) == 2


def test_the_tuned_runs_are_of_the_policies_that_workers_have() -> None:
    assert asynchrony.POLICIES == POLICIES


@pytest.mark.parametrize("policy", POLICIES)
def test_a_tuned_run_gives_what_was_recorded(policy: str) -> None:
    runs = asynchrony.policy_runs(3.0, "time")[policy]
    again = train_with_seed(policy, 3.0, runs.rate, seed=asynchrony.FRESH_SEEDS[4])
    count = len(again.loss)
    np.testing.assert_allclose(again.loss, runs.loss[4, :count], rtol=2e-3)
    np.testing.assert_allclose(again.time, runs.time[4, :count])
    assert np.isnan(runs.loss[4, count:]).all()
    assert again.end == pytest.approx(runs.end[4])
    assert again.loss_by("time", asynchrony.horizon(3.0)) == pytest.approx(runs.judged[4], rel=2e-3)


def test_a_run_of_a_sweep_gives_what_was_recorded() -> None:
    swept = recordings.arrays(asynchrony.TUNED)["sweep"][1, 0]  # three times slower, by gradients
    policy, rate, seed = POLICIES.index("damp"), asynchrony.TUNING_RATES.index(1.4), 6
    again = train_with_seed("damp", 3.0, 1.4, seed=asynchrony.TUNING_SEEDS[seed])
    assert again.loss_by("gradients", np.inf) == pytest.approx(
        float(swept[policy, rate, seed]), rel=2e-3
    )


def test_a_run_is_judged_at_its_end_or_at_a_time() -> None:
    run = policy_study.Trained(
        np.arange(3), np.array([0.0, 1.0, 2.0]), np.array([2.3, 1.0, np.nan]), 1.0, 2.0
    )
    assert run.loss_by("time", 1.5) == 1.0
    assert run.loss_by("gradients", 1.5) == np.inf


@pytest.mark.exhaustive
def test_every_tuned_run_has_the_same_number_of_gradients() -> None:
    for policy in POLICIES:
        run = train_with_seed(policy, 1.0, 0.3, seed=100)
        updates = GRADIENTS * run.accepted / (policy_study.WORKERS - 1 if policy == "backup" else 1)
        assert run.step[-1] == int(updates + 1e-9)


@pytest.mark.exhaustive
def test_the_tuned_runs_are_written_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A small sweep: two rates, two seeds each, one straggler."""
    monkeypatch.setattr(recordings, "files", lambda package: tmp_path)
    monkeypatch.setattr(policy_study, "TUNED_STRAGGLERS", (3.0,))
    monkeypatch.setattr(policy_study, "TUNING_RATES", (0.3, 2.8))
    monkeypatch.setattr(policy_study, "TUNING_SEEDS", (0, 1))
    monkeypatch.setattr(policy_study, "FRESH_SEEDS", (100,))
    shipped = asynchrony.policy_runs(3.0, "gradients")["damp"]
    recordings.arrays.cache_clear()
    policy_study.record_tuned()
    written = recordings.arrays(asynchrony.TUNED)
    recordings.arrays.cache_clear()
    assert written["sweep"].shape == (1, 2, len(POLICIES), 2, 2)
    assert written["loss"].shape == (1, 2, len(POLICIES), 1, 51)
    damp = POLICIES.index("damp")
    assert asynchrony.own_rate(written["sweep"][0, 0, damp]) == 1  # 2.8, as in the whole sweep
    np.testing.assert_allclose(
        written["loss"][0, 0, damp, 0].astype(float), shipped.loss[0], rtol=2e-3
    )
    assert float(written["judged"][0, 0, damp, 0]) == pytest.approx(shipped.judged[0], rel=2e-3)
    assert written["end"][0, damp, 0] / 100 == pytest.approx(shipped.end[0])
