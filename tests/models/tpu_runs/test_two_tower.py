"""Two towers learn which topic a line is of: two tables, one read by two features, two rates that
change.
"""

import numpy as np
import pytest

from gradlab.models.tpu_runs import two_tower
from gradlab.models.tpu_runs.two_tower import TwoTower, rates_at, train
from gradlab.rules import Adam


@pytest.fixture(scope="module")
def run() -> TwoTower:
    return train()


@pytest.mark.exhaustive
def test_it_learns(run: TwoTower) -> None:
    assert run.loss[0] == pytest.approx(np.log(len(run.topics)), rel=0.1), (
        "it begins by knowing nothing"
    )
    assert run.loss[-10:].mean() < 0.7 * run.loss[:10].mean()


@pytest.mark.exhaustive
def test_it_finds_topics_of_lines_that_it_never_saw(run: TwoTower) -> None:
    assert run.found(1) > 10 / len(run.topics), "ten times chance"
    assert run.found(1) < run.found(5) < run.found(len(run.topics)) == 1
    assert run.found(5) > 0.4


@pytest.mark.exhaustive
def test_the_record_fits_the_run(run: TwoTower) -> None:
    assert len(run.loss) == len(run.rates) == len(run.touched)
    np.testing.assert_array_equal(run.rates[:3], [rates_at(k) for k in range(3)])
    assert (run.touched[:, 1] == len(run.topics)).all()
    assert (run.touched[:, 0] < run.state.tables[0].shape[0]).all(), (
        "most words are in no line of a step"
    )


@pytest.mark.exhaustive
def test_the_same_seed_gives_the_same_tables() -> None:
    first, again, other = train(1), train(1), train(1, seed=1)
    np.testing.assert_array_equal(first.state.tables[0], again.state.tables[0])
    assert not np.array_equal(first.state.tables[0], other.state.tables[0])


def test_the_rate_of_topics_corrects_adam() -> None:
    """The first step of a corrected Adam is as long as its rate."""
    rule = Adam(bias_correction=False, epsilon=1e-12)
    w = np.float64([0.0])
    w, _ = rule(w, rule.init(w), np.float64([4.0]), rates_at(0)[1])
    np.testing.assert_allclose(w, -two_tower.TOPICS_RATE, rtol=1e-6)
