"""Single entries under Adagrad: each in the row of its tensor, and none beyond the edges."""

import numpy as np

from gradlab.labs._run_adagrad.picture import LOWEST, UNKNOWN, DrawnEntries, EntriesView


def test_entries_are_in_their_rows_and_what_is_lost_stands_at_the_edge() -> None:
    view = EntriesView(2, np.arange(5), 1e6)
    ratio, state = np.array([np.nan, 0.5, 0.0, np.nan]), np.array([2, 0, 1, 3])
    story = np.full((2, 5), 0.5)
    shown = DrawnEntries(
        ["a", "b"],
        np.array([0, 0, 1, -1]),
        ratio,
        state,
        0.1,
        np.ones(2),
        ["", ""],
        1,
        "a[0]",
        2,
        story,
        story,
        0.1,
    )
    view.draw(shown)
    x, y = view.places(shown)
    assert x[:3].tolist() == [UNKNOWN, 0.5, LOWEST] and np.isnan([x[3], y[3]]).all()
    assert np.round(y[:3]).tolist() == [0, 0, 1]
    assert [len(dots.get_xdata()) for dots in view._dots] == [1, 1, 1, 1, 0]
    assert view._now[0].get_xdata() == [2]


def test_states_are_named_where_their_marks_are_and_only_if_there_are_any() -> None:
    view, story = EntriesView(2, np.arange(5), 1e6), np.full((2, 5), 0.5)
    ratio, row = np.array([0.5, 0.05, np.nan]), np.zeros(3, int)

    def said(state: list[int], below: float, row: np.ndarray = row) -> dict[str, tuple[float, str]]:
        view.draw(
            DrawnEntries(
                ["a"],
                row,
                ratio,
                np.array(state),
                below,
                np.ones(1),
                [""],
                0,
                "a[0]",
                2,
                story,
                story,
                0.1,
            )
        )
        words = [words for words in (*view._words, view._threshold) if words.get_visible()]
        return {
            one.get_text(): (one.get_position()[0], one.get_horizontalalignment()) for one in words
        }

    found = said([0, 1, 2], 0.1)
    assert list(found) == ["not held back", "held back", "■ no gradient", "threshold 0.1"]
    assert (
        found["held back"][0] < 0.1 < found["not held back"][0]
        and found["threshold 0.1"][1] == "right"
    )
    assert list(said([0, 0, 0], 0.01)) == ["not held back", "threshold 0.01"]
    assert list(said([3, 3, 4], 0.01)) == ["✚ too few", "✖ NaN, Inf", "threshold 0.01"]
    assert said([3, 3, 3], 0.01)["threshold 0.01"][1] == "left", "where there is room"
    assert list(said([0, 0, 3], 0.1, np.array([0, 0, -1]))) == ["not held back", "threshold 0.1"], (
        "of rows that are shown"
    )
    assert view._title.get_text() == "R of a[0]"
