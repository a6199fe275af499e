"""Staleness: bars add up, and what is not known is said."""

import numpy as np
import pytest

from gradlab.figures.run_staleness import OLDEST, Agreement, Stale, StalenessView


def test_accepted_and_dropped_are_all_there_is() -> None:
    lags = np.arange(3)
    view = StalenessView(Agreement(lags, np.ones(3), np.ones(3), np.ones(3)), np.ones(9), "")
    shares = np.zeros(OLDEST + 1)
    shares[[0, 3, OLDEST]] = 0.5, 0.3, 0.2
    accepted = np.where(np.arange(OLDEST + 1) <= 3, shares, 0)
    view.draw(Stale(shares, accepted, 40.0, 3, np.array([3]), np.array([0.8]), 3, 0.5))
    heights = [
        np.ptp(bars.get_path().vertices.reshape(-1, 5, 2)[..., 1], axis=1).sum() for bars in (view._taken, view._lost)
    ]
    assert heights == pytest.approx([1.6, 0.4]), "in shares of the highest bar"
    assert view._peak.get_text() == "50%" and (view._peak.get_position()[0], view._peak.get_ha()) == (-0.4, "left")
    assert view._accepts.get_text() == "Limit 3 accepts 80%"
    assert view._dropped.get_text() == "20% dropped"
    assert view._mean.get_xdata() == [OLDEST, OLDEST], "beyond the edge it stands there"


def test_a_run_without_times_or_entries_says_so() -> None:
    nothing = np.empty(0)
    view = StalenessView(Agreement(nothing, nothing, nothing, nothing), nothing, "; no entries recorded")
    assert "not recorded" in view.seconds.texts[0].get_text()
    assert view.cosine.get_xlabel() == "steps apart; no entries recorded"


def test_one_dropped_gradient_of_many_is_not_none() -> None:
    view = StalenessView(Agreement(*np.ones((4, 3))), np.ones(9), "")
    shares = np.zeros(OLDEST + 1)
    shares[[0, 9]] = 299 / 300, 1 / 300
    for limit, accepts, dropped in ((3, "99.7%", "0.3% dropped"), (9, "100%", "0% dropped")):
        accepted = np.where(np.arange(OLDEST + 1) <= limit, shares, 0)
        view.draw(Stale(shares, accepted, 0.03, limit, np.array([3]), np.array([0.8]), 3, 0.5))
        assert (view._accepts.get_text(), view._dropped.get_text()) == (f"Limit {limit} accepts {accepts}", dropped)


@pytest.mark.parametrize(
    ("cosine", "said"),
    [
        (0.5, "Agreement 1 step apart: 0.50"),
        (0.09, "Some agreement 1 step apart: 0.09"),
        (-0.034, "No agreement 1 step apart: −0.03"),
        (-1.0000001, "Disagreement 1 step apart: −1.00"),
        (np.nan, "Agreement of gradients: not known"),
    ],
)
def test_the_title_says_how_gradients_at_the_mean_agree(cosine: float, said: str) -> None:
    lags, shares = np.arange(3), np.full(OLDEST + 1, 1 / (OLDEST + 1))
    view = StalenessView(Agreement(lags, np.ones(3), np.ones(3), np.ones(3)), np.full(9, 0.002), "")
    view.draw(Stale(shares, shares, 1.2, 3, np.array([3]), np.array([1.0]), 1, cosine))
    assert view._agrees.get_text() == said and view.seconds.get_title(loc="left") == "Median step: 2 ms"
    assert len(view._apart.get_xdata()) == np.isfinite(cosine)
