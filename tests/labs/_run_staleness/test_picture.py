"""Staleness: bars add up, and what is not known is said."""

import numpy as np
import pytest

from gradlab.labs._run_staleness.picture import OLDEST, AgreementCurve, Stale, StalenessView

LAGS = np.arange(3)
ONES = np.ones(3)
KNOWN = AgreementCurve(LAGS, ONES, ONES, ONES, np.ones((2, 3)))


def test_accepted_and_dropped_are_all_there_is() -> None:
    view = StalenessView(KNOWN, np.ones(9))
    shares = np.zeros(OLDEST + 1)
    shares[[0, 3, OLDEST]] = 0.5, 0.3, 0.2
    accepted = np.where(np.arange(OLDEST + 1) <= 3, shares, 0)
    view.draw(Stale(shares, accepted, 40.0, 3, np.array([3]), np.array([0.8]), 3, 0.5, "0.50"))
    heights = [
        np.ptp(bars.get_path().vertices.reshape(-1, 5, 2)[..., 1], axis=1).sum()
        for bars in (view._taken, view._lost)
    ]
    assert heights == pytest.approx([1.6, 0.4]), "in shares of the highest bar"
    assert view._peak.get_text() == "50%" and (
        view._peak.get_position()[0],
        view._peak.get_ha(),
    ) == (-0.4, "left")
    assert view._accepts.get_text() == "Limit 3 accepts 80%"
    assert view._dropped.get_text() == "20% dropped"
    assert view._mean.get_xdata() == [OLDEST, OLDEST], "beyond the edge it stands there"


def test_a_run_without_times_or_probes_says_so() -> None:
    view = StalenessView(AgreementCurve.unknown(), np.empty(0))
    assert "not recorded" in view.seconds.texts[0].get_text()
    assert any("no probes were recorded" in words.get_text() for words in view.agreement.texts)
    shares = np.full(OLDEST + 1, 1 / (OLDEST + 1))
    view.draw(
        Stale(
            shares,
            shares,
            1.2,
            3,
            np.array([3]),
            np.array([1.0]),
            1,
            np.nan,
            "not known without probes",
        )
    )
    assert view._agrees.get_text() == "Agreement 1 update apart: not known without probes"
    assert not len(view._apart.get_xdata()) and not len(view._limits[1].get_xdata())


def test_too_few_probes_draw_no_curve() -> None:
    nothing = np.full(3, np.nan)
    view = StalenessView(
        AgreementCurve(LAGS, nothing, nothing, nothing, np.empty((0, 3))), np.ones(9)
    )
    assert any("can't tell: too few probes" in words.get_text() for words in view.agreement.texts)


def test_one_dropped_gradient_of_many_is_not_none() -> None:
    view = StalenessView(KNOWN, np.ones(9))
    shares = np.zeros(OLDEST + 1)
    shares[[0, 9]] = 299 / 300, 1 / 300
    for limit, accepts, dropped in ((3, "99.7%", "0.3% dropped"), (9, "100%", "0% dropped")):
        accepted = np.where(np.arange(OLDEST + 1) <= limit, shares, 0)
        view.draw(
            Stale(shares, accepted, 0.03, limit, np.array([3]), np.array([0.8]), 3, 0.5, "0.50")
        )
        assert (view._accepts.get_text(), view._dropped.get_text()) == (
            f"Limit {limit} accepts {accepts}",
            dropped,
        )


def test_the_title_says_how_gradients_at_the_mean_agree_with_its_interval() -> None:
    view, shares = StalenessView(KNOWN, np.full(9, 0.002)), np.full(OLDEST + 1, 1 / (OLDEST + 1))
    view.draw(
        Stale(shares, shares, 1.8, 3, np.array([3]), np.array([1.0]), 2, 0.5, "0.50 (0.40 to 0.60)")
    )
    assert view._agrees.get_text() == "Agreement 2 updates apart: 0.50 (0.40 to 0.60)"
    assert view.seconds.get_title(loc="left") == "Median step: 2 ms"
    assert view._apart.get_xdata() == [2]
    view.arrange(narrow=True)
    view.draw(
        Stale(shares, shares, 1.8, 3, np.array([3]), np.array([1.0]), 2, 0.5, "0.50 (0.40 to 0.60)")
    )
    assert view._agrees.get_text() == "2 apart: 0.50 (0.40 to 0.60)", "short enough for a phone"
