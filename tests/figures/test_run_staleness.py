"""Staleness: bars add up, and what is not known is said."""

import numpy as np
import pytest

from gradlab.figures.run_staleness import OLDEST, Agreement, Stale, StalenessView


def test_accepted_and_dropped_are_all_there_is() -> None:
    lags = np.arange(3)
    view = StalenessView(Agreement(lags, np.ones(3), np.ones(3), np.ones(3)), np.ones(9), "")
    shares = np.zeros(OLDEST + 1)
    shares[[0, 3, OLDEST]] = 0.5, 0.3, 0.2
    view.draw(Stale(shares, np.where(np.arange(OLDEST + 1) <= 3, shares, 0), 40.0, 3, np.array([3]), np.array([0.8])))
    heights = [
        np.ptp(bars.get_path().vertices.reshape(-1, 5, 2)[..., 1], axis=1).sum() for bars in (view._taken, view._lost)
    ]
    assert heights == pytest.approx([0.8, 0.2])
    assert view._dropped.get_text() == "20% dropped"
    assert view._mean.get_xdata() == [OLDEST, OLDEST], "beyond the edge it stands there"


def test_a_run_without_times_or_entries_says_so() -> None:
    nothing = np.empty(0)
    view = StalenessView(Agreement(nothing, nothing, nothing, nothing), nothing, "; no entries recorded")
    assert "not recorded" in view.seconds.texts[0].get_text()
    assert view.cosine.get_xlabel() == "steps apart; no entries recorded"
