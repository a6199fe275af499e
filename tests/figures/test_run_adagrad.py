"""Rates of single entries: each in the row of its tensor, and none beyond the edges."""

import numpy as np

from gradlab.figures.run_adagrad import LOWEST, Entries, EntriesView


def test_entries_are_in_their_rows_and_what_is_lost_stands_at_the_edge() -> None:
    view = EntriesView(2, np.arange(5), 1e6)
    share, state = np.array([1.0, 0.5, 0.0, np.nan]), np.array([2, 0, 1, 3])
    story = np.full((2, 5), 0.5)
    shown = Entries(
        ["a", "b"], np.array([0, 0, 1, -1]), share, state, 0.1, np.ones(2), ["", ""], 1, "a[0]", 2, story, story
    )
    view.draw(shown)
    x, y = view.places(shown)
    assert x[:3].tolist() == [1.0, 0.5, LOWEST] and np.isnan([x[3], y[3]]).all()
    assert np.round(y[:3]).tolist() == [0, 0, 1]
    assert [len(dots.get_xdata()) for dots in view._dots] == [1, 1, 1, 1]
    assert view._now[0].get_xdata() == [2]


def test_states_are_named_where_their_marks_are_and_only_if_there_are_any() -> None:
    view, story = EntriesView(2, np.arange(5), 1e6), np.full((2, 5), 0.5)
    share, row = np.array([0.5, 0.05, 1.0]), np.zeros(3, int)

    def said(state: list[int], below: float, row: np.ndarray = row) -> dict[str, tuple[float, str]]:
        view.draw(
            Entries(["a"], row, share, np.array(state), below, np.ones(1), [""], 0, "a[0]", 2, story, story)
        )  # fmt: skip
        words = [words for words in (*view._words, view._threshold) if words.get_visible()]
        return {one.get_text(): (one.get_position()[0], one.get_horizontalalignment()) for one in words}

    found = said([0, 1, 2], 0.1)
    assert list(found) == ["moves on", "frozen", "■ never moved", "threshold 0.1"]
    assert found["frozen"][0] < 0.1 < found["moves on"][0] and found["threshold 0.1"][1] == "right"
    assert list(said([0, 0, 0], 0.01)) == ["moves on", "threshold 0.01"]
    assert said([3, 3, 3], 0.01)["threshold 0.01"][1] == "left", "where there is room"
    assert list(said([0, 0, 3], 0.1, np.array([0, 0, -1]))) == ["moves on", "threshold 0.1"], "of rows that are shown"
    assert view._title.get_text() == "Rate of a[0]"
