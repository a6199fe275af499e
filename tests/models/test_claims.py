"""The claims table: each sentence is computed, from enough seeds, and gives way where the runs do."""

from dataclasses import replace

import numpy as np
import pytest

from gradlab._base.paired import FEWEST_SEEDS, Comparison
from gradlab.models.claims import CLAIMS, Claim, sentence


@pytest.mark.parametrize("name", CLAIMS)
def test_a_claim_rests_on_enough_seeds(name: str) -> None:
    claim = CLAIMS[name]
    assert claim.id == name
    assert claim.samples().seeds >= FEWEST_SEEDS
    assert sentence(name) == claim.sentence


@pytest.mark.parametrize("name", CLAIMS)
def test_a_claim_says_so_where_runs_are_alike(name: str) -> None:
    """Runs that differ by chance alone get no winner."""
    claim = CLAIMS[name]
    comparison = claim.samples()
    draw = np.random.default_rng(1)
    alike = {
        contestant: values.mean() * 0 + 1 + draw.normal(0, 0.01, len(values))
        for contestant, values in comparison.values.items()
    }
    withdrawn = replace(
        claim, samples=lambda: Comparison(comparison.measure, alike, comparison.lower_is_better)
    )
    assert "can't be told apart" in withdrawn.sentence


def test_a_sentence_follows_its_samples() -> None:
    runs = Comparison("loss", {"a": [1.0, 1.1, 1.0, 0.9, 1.0], "b": [2.0, 2.1, 2.2, 1.9, 2.0]})
    claim = Claim("test.loss", lambda: runs, lambda c: f"{c.best} ends lowest")
    assert claim.sentence == "a ends lowest"


def _losses(**levels: float) -> Comparison:
    """Ten runs of each contestant around a level, paired by seed."""
    noise = np.random.default_rng(2).normal(0, 0.01, 10)
    return Comparison(
        "final loss", {name.replace("_", " "): level + noise for name, level in levels.items()}
    )


def test_the_claim_on_tuned_clips_names_a_best_only_where_every_other_one_is_told_from_it() -> None:
    write = CLAIMS["clip.final_loss"].write
    noise = np.random.default_rng(3).normal(0, 0.01, 10)
    runs = _losses(no_limit=2.4, limit_1=2.1, limit_3=2.2)
    assert "limit 1 (2.10 ± 0.00) ends lowest" in write(runs)
    alike = Comparison("final loss", {**runs.values, "limit 3": runs.values["limit 1"] + noise})
    assert "can't be told apart; no limit (2.40 ± 0.00) ends higher than" in write(alike)


def test_the_claim_on_one_rate_says_lower_higher_or_neither() -> None:
    said = CLAIMS["clip.same_rate"].write(_losses(no_limit=2.4, limit_1=2.1, limit_3=2.9))
    assert "limit 1 (2.10 ± 0.00) ends lower than no limit (2.40 ± 0.00)" in said
    assert "limit 3 (2.90 ± 0.00) ends higher than no limit (2.40 ± 0.00)" in said


def test_what_the_shipped_runs_say_of_clips() -> None:
    tuned, one_rate, how_often = (
        sentence(f"clip.{name}") for name in ("final_loss", "same_rate", "how_often")
    )
    assert "no limit (2.41 ± 0.08) and limit 1 (2.13 ± 0.01) end higher than limit 0.3" in tuned
    assert (
        "the means of limit 0.1 (2.08 ± 0.01) and limit 0.3 (2.08 ± 0.01) can't be told apart;"
        in tuned
    )
    assert tuned.endswith(
        "Limit 3 (2.24 ± 0.06) ended higher than limit 0.3 in all 10 seeds, "
        "but by amounts too uneven for the test of means."
    )
    assert "limit 1 (2.08 ± 0.01) end lower than no limit (3.68 ± 0.25)" in one_rate
    assert "limit 3 (3.58 ± 0.29) can't be told apart from no limit" in one_rate
    assert "limit 1 at rate 0.28 (fires on 6% of the steps of a run) ends higher than" in how_often
    assert how_often.endswith("(fires on 100% of the steps of a run) can't be told apart from it.")


def test_a_limit_that_ends_higher_in_every_seed_is_not_called_level() -> None:
    write = CLAIMS["clip.final_loss"].write
    best = np.full(10, 2.0) + np.random.default_rng(4).normal(0, 0.01, 10)
    uneven = best + np.array([0.01] * 8 + [0.5, 4.0])
    said = write(Comparison("final loss", {"limit 1": best, "limit 3": uneven}))
    assert "the mean of limit 1 (2.00 ± 0.00) is lowest" in said
    assert "ended higher than limit 1 in all 10 seeds" in said
    assert "can't be told apart" not in said
