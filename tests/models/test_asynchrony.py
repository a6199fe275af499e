"""The comparisons of asynchronous runs rest on what ships, at rates chosen elsewhere, none at an
edge of its sweep.
"""

import numpy as np
import pytest

from gradlab.models import asynchrony, curves
from gradlab.models.asynchrony import (
    BACKUP_RATES,
    BACKUP_WORKERS,
    CRITERIA,
    DELAYS,
    DEPTHS,
    FRESH_SEEDS,
    POLICIES,
    TUNED,
    TUNED_STRAGGLERS,
    TUNING_RATES,
    TUNING_SEEDS,
)
from gradlab.workers.studies import VARIANTS

EVERY_SETTING = [(straggler, criterion) for straggler in TUNED_STRAGGLERS for criterion in CRITERIA]


def test_seeds_that_chose_a_rate_judge_nothing() -> None:
    assert not set(TUNING_SEEDS) & set(FRESH_SEEDS)


@pytest.mark.parametrize(("straggler", "criterion"), EVERY_SETTING)
def test_a_policy_runs_at_the_best_rate_of_its_sweep_which_is_not_at_an_edge(
    straggler: float, criterion: str
) -> None:
    s, c = TUNED_STRAGGLERS.index(straggler), CRITERIA.index(criterion)
    swept = curves.arrays(TUNED)["sweep"][s, c].astype(float)
    assert swept.shape == (len(POLICIES), len(TUNING_RATES), len(TUNING_SEEDS))
    runs = asynchrony.policy_runs(straggler, criterion)
    for p, policy in enumerate(POLICIES):
        mean = swept[p].mean(axis=1)
        assert runs[policy].rate == TUNING_RATES[int(mean.argmin())]
        assert 0 < mean.argmin() < len(TUNING_RATES) - 1


@pytest.mark.parametrize(("straggler", "criterion"), EVERY_SETTING)
def test_a_policy_is_judged_by_its_curves(straggler: float, criterion: str) -> None:
    horizon = asynchrony.horizon(straggler)
    for runs in asynchrony.policy_runs(straggler, criterion).values():
        for time, loss, judged in zip(runs.time, runs.loss, runs.judged, strict=True):
            seen = np.isfinite(loss) if criterion == "gradients" else time <= horizon
            assert loss[seen][-1] == judged


def test_what_the_policies_reach_at_their_own_rates() -> None:
    """The numbers of the notebook: mean and standard error over 20 seeds."""
    by_gradients = asynchrony.compare_policies(3.0, "gradients")
    assert by_gradients.seeds == 20
    assert by_gradients.mean("wait") == pytest.approx(0.461, abs=5e-4)
    assert by_gradients.standard_error("wait") == pytest.approx(0.013, abs=5e-4)
    assert by_gradients.best == "wait"
    by_time = asynchrony.compare_policies(3.0, "time")
    assert by_time.worst == "wait"
    assert set(by_time.level_with_best) == set(POLICIES) - {"wait"}


def test_without_a_straggler_no_policy_leads() -> None:
    by_gradients = asynchrony.compare_policies(1.0, "gradients")
    assert by_gradients.best is None
    assert by_gradients.level_with_best == ("drop", "damp", "backup")
    assert asynchrony.compare_policies(1.0, "time").level_with_best == POLICIES


def test_waiting_takes_about_twice_the_time() -> None:
    ends = {
        name: runs.end.mean() for name, runs in asynchrony.policy_runs(3.0, "gradients").items()
    }
    assert round(ends.pop("wait")) == 66
    assert {round(end) for end in ends.values()} == {28, 36}


def test_a_number_of_gradients_runs_at_the_best_rate_of_its_sweep() -> None:
    swept = curves.unpack_times(curves.arrays("spare_workers")["sweep"])
    assert swept.shape == (BACKUP_WORKERS, len(BACKUP_RATES), 15)
    for times, rate in zip(swept, asynchrony.backup_rates(), strict=True):
        arrived = np.isfinite(times).sum(axis=1)
        chosen = BACKUP_RATES.index(rate)
        assert arrived[chosen] == arrived.max()
        assert rate not in (BACKUP_RATES[0], BACKUP_RATES[-1])


def test_backup_workers_save_time_and_few_gradients_cost_it() -> None:
    runs = asynchrony.compare_backup()
    assert runs.seeds == 15
    assert runs.better("15", "16")
    assert runs.better("14", "15")
    assert runs.mean("16") / runs.mean("15") == pytest.approx(1.35, abs=0.05)
    assert runs.mean("16") / runs.mean("14") == pytest.approx(1.6, abs=0.05)
    near = [runs.mean(f"{k}") for k in range(11, 15)]
    assert max(near) / min(near) < 1.09
    assert runs.best is None
    assert all(runs.better("12", f"{k}") for k in range(2, 7))


def test_a_network_runs_at_the_best_rate_of_its_sweep() -> None:
    swept = curves.unpack_times(curves.arrays("staleness")["sweep"])
    for by_delay in swept:
        for times in by_delay:
            best = curves.best_rate(times)
            assert 0 < best < len(times) - 1
            arrived = np.isfinite(times).sum(axis=1)
            assert arrived[best] == arrived.max() >= 4


def test_depths_slow_alike_at_their_own_rates() -> None:
    runs = asynchrony.compare_depths(16)
    assert runs.seeds == 10
    means = [runs.mean(f"{n}") for n in DEPTHS]
    assert [round(min(means), 1), round(max(means), 1)] == [2.6, 4.4]
    assert runs.pairs_told_apart() == {("1", "2"), ("1", "6")}
    assert DELAYS[2] == 16


def test_momentum_and_adam_slow_more_than_descent() -> None:
    runs = asynchrony.compare_methods(16)
    assert runs.better("gradient descent", "Momentum 0.9")
    assert runs.better("gradient descent", "Adam")


def test_the_places_of_the_methods_are_those_of_the_variants() -> None:
    assert [VARIANTS[place].label for place in asynchrony.METHODS.values()] == [
        "2 hidden layers",
        "Momentum 0.9",
        "Adam",
    ]
    assert [VARIANTS[k].label.partition(" ")[0] for k in range(4)] == [f"{n}" for n in DEPTHS]
