"""Lanes: apart, in order, named from 1; and counts of gradients, as long as what was handed in."""

import numpy as np
import pytest

from gradlab.live.drawing.lanes import (
    MOST_WORKERS,
    OLDEST,
    TOP,
    Ages,
    LaneNames,
    Waits,
    Workers,
    sides,
)
from gradlab.live.drawing.style import new_figure


@pytest.mark.parametrize("workers", range(1, MOST_WORKERS + 1))
def test_lanes_are_apart_and_inside(workers: int) -> None:
    low, high = sides(np.arange(workers), workers)
    assert (low < high).all() and (high[:-1] < low[1:]).all()
    assert low[0] > TOP and high[-1] < 1


def test_only_workers_that_are_there_are_named() -> None:
    names = LaneNames(new_figure(3, 3).add_subplot())
    names.draw(3)
    assert [name.get_text() for name in names._names if name.get_visible()] == [
        "worker 1",
        "worker 2",
        "worker 3",
    ]
    assert not names._slow.get_visible()


def test_a_slow_worker_has_a_note() -> None:
    names = LaneNames(new_figure(3, 3).add_subplot())
    names.draw(3, slow=2, times=2.5)
    assert [name.get_text() for name in names._names if name.get_visible()] == [
        "worker 1",
        "worker 2",
    ]
    assert (names._slow.get_text(), names._note.get_text()) == ("worker 3", "2.5× as slow")
    names.draw(3, slow=2, times=1.0)
    assert names._names[2].get_visible() and not names._note.get_visible()


def test_waits_run_in_the_middle_of_their_lanes_and_the_longest_in_sight_is_named() -> None:
    waits = Waits(new_figure(3, 3).add_subplot(), room=50)
    waits.draw(np.array([[0, 10, 120], [2, 100, 200]]), start=90, workers=3)
    x, y = waits.dots.get_data()
    np.testing.assert_array_equal(x, [-80, 30, np.nan, 10, 110, np.nan])
    low, high = sides(np.array([0, 0, 0, 2, 2, 0]), 3)
    np.testing.assert_array_equal(y, np.where(np.isnan(x), np.nan, (low + high) / 2))
    assert waits.word.get_visible() and waits.word.get_position()[0] == 60, (
        "the first is longer, and out of sight"
    )
    waits.draw(np.array([[0, 10, 120]]), start=90, workers=3)
    assert not waits.word.get_visible(), "no room"


def test_nobody_waits() -> None:
    waits = Waits(new_figure(3, 3).add_subplot(), room=50)
    waits.draw(np.empty((0, 3), int), start=0, workers=3)
    assert not len(waits.dots.get_xdata()) and not waits.word.get_visible()


def spans(path: object, axis: int) -> list[list[float]]:
    """From where to where every bar of a path goes."""
    sides = path.vertices[:, axis].reshape(-1, 5)  # type: ignore[attr-defined]
    return [[side.min(), side.max()] for side in sides]


def test_what_was_lost_follows_what_was_accepted() -> None:
    panel = Workers(new_figure(3, 3).add_subplot())
    panel.draw(
        np.array([5, 3, 0]), np.array([5, 1, 0]), np.array([False, False, True]), named=False
    )
    np.testing.assert_allclose(spans(panel._taken.get_path(), 0)[-2:], [[4.15, 4.85], [0.15, 0.85]])
    np.testing.assert_allclose(spans(panel._given.get_path(), 0), [[1.15, 1.85], [2.15, 2.85]])
    hatch = panel._hatching.get_xdata()
    assert np.nanmin(hatch) >= 1 and np.nanmax(hatch) <= 3
    shown = [
        (text.get_text(), text.get_fontweight()) for text in panel._counts if text.get_visible()
    ]
    assert shown == [("5 of 5", "normal"), ("1 of 3", "normal"), ("0 of 0, starves", "bold")]
    assert panel._accepted.get_visible() and panel._dropped.get_visible()
    assert not any(name.get_visible() for name in panel._names._names)
    panel.draw(np.array([1]), np.array([1]), np.array([False]), named=True)
    assert sum(text.get_visible() for text in panel._counts) == 1
    assert not panel._dropped.get_visible()  # a word for what is drawn only
    assert sum(name.get_visible() for name in panel._names._names) == 1


def test_ages_beyond_the_last_bar_are_counted_there() -> None:
    panel = Ages(new_figure(3, 3).add_subplot())
    true = np.array([0, 0, OLDEST, 99])
    panel.draw(true, np.array([0, 0, 0, 98]), np.array([True, False, True, False]), 3)
    assert spans(panel._taken.get_path(), 1) == pytest.approx(np.array([[0, 1 / 3], [0, 1 / 3]]))
    assert spans(panel._lost.get_path(), 1) == pytest.approx(
        np.array([[1 / 3, 2 / 3], [1 / 3, 2 / 3]])
    )
    assert panel._recorded.get_xydata() == pytest.approx(np.array([[0, 1], [OLDEST, 1 / 3]]))
    assert [words.get_text() for words in panel._counts if words.get_text()] == ["2", "2"]
    assert panel.axes.xaxis.get_major_formatter()(OLDEST) == "≥ 15"


def test_a_number_stands_above_its_bar_or_above_a_mark_that_is_near() -> None:
    panel = Ages(new_figure(3, 3).add_subplot())
    true, recorded = np.repeat([0, 1, 2], [4, 4, 1]), np.repeat([0, 1, 2], [5, 0, 4])
    panel.draw(true, recorded, np.ones(9, bool), None)
    heights = [words.get_position()[1] for words in panel._counts[:3]]
    assert heights == pytest.approx([1.12, 0.92, 0.32])  # near; no mark; far above


def test_no_gradients_are_no_accident() -> None:
    none = np.array([], int)
    panel = Ages(new_figure(3, 3).add_subplot())
    panel.draw(none, none, none.astype(bool), None)
    assert np.isnan(panel._taken.get_path().vertices).all() and not len(panel._recorded.get_xdata())
