"""Rows of tensors: names, the frame and the bars are where the numbers say."""

import numpy as np

from gradlab.labs.tensor_rows import HEAD, MarkNames, ShareBars, TensorRows, short
from gradlab.live.drawing.style import new_figure


def test_rows_are_named_from_the_top_and_one_is_framed() -> None:
    axes = new_figure(4, 3).add_subplot()
    rows = TensorRows(5, axes)
    rows.draw(["a", "a name that is far too long"], 1)
    assert [name.get_text() for name in rows._names[0][:3]] == [
        "a",
        short("a name that is far too long"),
        "",
    ]
    assert len(short("a name that is far too long")) <= 13
    low, high = (
        rows._frames[0].get_path().vertices[:, 1].min(),
        rows._frames[0].get_path().vertices[:, 1].max(),
    )
    assert low < 1 < high and low > 0
    rows.draw(["a"], None)
    assert np.isnan(rows._frames[0].get_path().vertices).all()


def test_bars_are_as_long_as_their_shares_and_nan_has_none() -> None:
    axes = new_figure(4, 3).add_subplot()
    shares = ShareBars(axes, {"fc": "red"})
    shares.draw(np.array([0.25, np.nan, 0.0, 1.0]), ["25%", "none", "0%", "100%"])
    ends = shares._bars.get_path().vertices.reshape(-1, 5, 2)[:, 1, 0]
    assert ends.tolist() == [0.25, 1.0]
    assert [words.get_text() for words in shares._words[:5]] == ["25%", "none", "0%", "100%", ""]


def test_marks_are_named_while_they_and_the_row_of_names_are_in_sight() -> None:
    axes = new_figure(4, 3).add_subplot()
    axes.set(xlim=(0, 10), ylim=(4, -1.5))
    names = MarkNames(axes, ("low", "k", "l"), ("high", "k", "h"))

    def named() -> tuple[list[bool], int]:
        names._place()
        return [name.get_visible() for name in names._names], np.isfinite(
            names._leaders.get_xdata()
        ).sum() // 2

    names.draw([2.0, 8.0])
    assert named() == ([True, True], 2)
    axes.set_xlim(0, 5)
    assert named() == ([True, False], 1)
    axes.set_ylim(4, HEAD + 0.1)
    assert named() == ([False, False], 0)
    axes.set(xlim=(0, 10), ylim=(4, -1.5))
    assert named() == ([True, True], 2)


def test_names_of_marks_can_be_read_on_a_limit_that_passes_below_them() -> None:
    axes = new_figure(4, 3).add_subplot()
    names = MarkNames(axes, ("low", "k", "l"), ("high", "k", "h"))
    assert [name.on for name in names._names] == ["white", "white"]
