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
    withdrawn = replace(claim, samples=lambda: Comparison(comparison.measure, alike, comparison.lower_is_better))
    assert "can't be told apart" in withdrawn.sentence


def test_a_sentence_follows_its_samples() -> None:
    runs = Comparison("loss", {"a": [1.0, 1.1, 1.0, 0.9, 1.0], "b": [2.0, 2.1, 2.2, 1.9, 2.0]})
    claim = Claim("test.loss", lambda: runs, lambda c: f"{c.best} ends lowest")
    assert claim.sentence == "a ends lowest"
