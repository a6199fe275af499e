"""Rates of single entries: each in the row of its tensor, and none beyond the edges."""

import numpy as np

from gradlab.figures.run_adagrad import LOWEST, Entries, EntriesView


def test_entries_are_in_their_rows_and_what_is_lost_stands_at_the_edge() -> None:
    view = EntriesView(2, np.arange(5), 1e6)
    share, state = np.array([1.0, 0.5, 0.0, np.nan]), np.array([2, 0, 1, 3])
    story = np.full((2, 5), 0.5)
    shown = Entries(["a", "b"], np.array([0, 0, 1, -1]), share, state, 0.1, np.ones(2), ["", ""], 1, 2, story, story)
    view.draw(shown)
    x, y = view.places(shown)
    assert x[:3].tolist() == [1.0, 0.5, LOWEST] and np.isnan([x[3], y[3]]).all()
    assert np.round(y[:3]).tolist() == [0, 0, 1]
    assert [len(dots.get_xdata()) for dots in view._dots] == [1, 1, 1, 1]
    assert view._now[0].get_xdata() == [2]
