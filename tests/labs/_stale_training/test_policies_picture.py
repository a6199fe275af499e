"""The picture of policies: a row for each, with many runs at its own rate and one run at a common
rate.
"""

import numpy as np
import pytest

from gradlab.labs._stale_training.policies_picture import (
    HIGHEST,
    LOWEST,
    PoliciesView,
    Row,
    Spread,
    written,
)

NAMES = ["apply", "wait"]
SPREADS = Spread(0.5, 0.6, 0.8, 0.7, 20), Spread(0.7, 0.9, 1.0, 0.3, 20)


def drawn(**changed: Row) -> PoliciesView:
    view = PoliciesView(NAMES)
    rows = {name: Row((1.2, 1.5), SPREADS, 28.0) for name in NAMES} | changed
    view.draw(rows, ("After 200 gradients", "After 27 gradient times"))
    return view


def test_a_row_has_the_middle_half_and_the_median_of_its_own_runs_and_one_run() -> None:
    by_gradients, by_time = drawn().losses
    assert by_gradients.spread.get_path().vertices[:2, 0].tolist() == [0.5, 0.8]
    assert by_gradients.median.get_xdata().tolist() == [0.6, 0.6]
    assert by_gradients.key.get_text() == "blue: median, quartiles at own rates"
    assert by_gradients.single.get_xdata().tolist() == [1.2, 1.2]
    assert by_time.median.get_xdata().tolist() == [0.9, 0.9]
    assert by_time.title.get_text() == "After 27 gradient times"


def test_numbers_beside_a_row_have_the_rate() -> None:
    panel = drawn().losses[0]
    assert [words.get_text() for words in panel.numbers] == ["0.6, rate 0.7"] * 2
    assert [words.get_text() for words in panel.singles] == ["1.2"] * 2


def test_without_own_runs_there_is_one_run_only() -> None:
    view = drawn(apply=Row((1.2, 1.5), None, 28.0), wait=Row((1.0, 1.5), None, 66.0))
    panel = view.losses[0]
    assert panel.key.get_text() == "", "nothing is blue"
    assert view.times.key.get_text() == "one run each"
    assert not len(panel.median.get_xdata())
    assert [words.get_text() for words in panel.numbers] == ["", ""]
    assert panel.single.get_xdata().tolist() == [1.2, 1.0]


@pytest.mark.parametrize(
    ("loss", "shown"), [(0.01, LOWEST), (99.0, HIGHEST), (np.inf, HIGHEST), (np.nan, HIGHEST)]
)
def test_losses_that_have_no_place_are_at_an_edge(loss: float, shown: float) -> None:
    assert drawn(wait=Row((loss, 1.0), SPREADS, 28.0)).losses[0].single.get_xdata()[1] == shown


def test_the_time_is_a_bar_with_its_number() -> None:
    times = drawn(wait=Row((1.0, 1.0), SPREADS, 66.0)).times
    assert times.bars.get_xdata()[[1, 4]].tolist() == [28.0, 66.0]
    assert [words.get_text() for words in times.numbers] == ["28", "66"]
    assert times.key.get_text() == "mean of 20 runs"


def test_losses_are_written_for_readers() -> None:
    assert [written(x) for x in (0.12345, 12.0, 1e9, np.inf, np.nan)] == [
        "0.123", "12", "> 1,000", "> 1,000", "NaN"
    ]  # fmt: skip
