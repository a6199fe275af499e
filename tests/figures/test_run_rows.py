"""Rows of tensors: names, the frame and the bars are where the numbers say."""

import numpy as np

from gradlab.figures._style import new_figure
from gradlab.figures.run_rows import Rows, Shares, short


def test_rows_are_named_from_the_top_and_one_is_framed() -> None:
    axes = new_figure(4, 3).add_subplot()
    rows = Rows(5, axes)
    rows.draw(["a", "a name that is far too long"], 1)
    assert [name.get_text() for name in rows._names[0][:3]] == ["a", short("a name that is far too long"), ""]
    assert len(short("a name that is far too long")) <= 13
    low, high = rows._frames[0].get_path().vertices[:, 1].min(), rows._frames[0].get_path().vertices[:, 1].max()
    assert low < 1 < high and low > 0
    rows.draw(["a"], None)
    assert np.isnan(rows._frames[0].get_path().vertices).all()


def test_bars_are_as_long_as_their_shares_and_nan_has_none() -> None:
    axes = new_figure(4, 3).add_subplot()
    shares = Shares(axes, {"fc": "red"})
    shares.draw(np.array([0.25, np.nan, 0.0, 1.0]), ["25%", "none", "0%", "100%"])
    ends = shares._bars.get_path().vertices.reshape(-1, 5, 2)[:, 1, 0]
    assert ends.tolist() == [0.25, 1.0]
    assert [words.get_text() for words in shares._words[:5]] == ["25%", "none", "0%", "100%", ""]
