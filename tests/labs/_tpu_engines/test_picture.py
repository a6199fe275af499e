"""The figure of two engines: vectors as they are, places of buffers, marks for the chosen row."""

import numpy as np
import pytest

from gradlab.labs._tpu_engines.picture import FARTHEST, Engines, EnginesView
from gradlab.live.drawing.style import BLACK

ENGINES = Engines(
    unique=np.array([1, 4]),
    inverse=np.array([0, 1, 0]),
    samples=np.array([0, 0, 1]),
    weights=np.array([0.5, 0.5, 1.0]),
    lost=np.array([False, False, True]),
    limit=1,
    minibatches=1,
    core=np.array([0, 1]),
    place=np.array([0, 8]),
    local=np.array([2, 0]),
    of=np.array([0, 0]),
    gain=np.array([0.5, 1.0]),
    owner=np.array([4, 1]),
    ends=np.array([[1, 8], [0, 9]]),
    padded=np.array([[0, 1], [0, 2], [1, 9]]),
    moved=np.array([[0, 1, 0, 0, 9.0], [0, 1, 0, 0, 2], [0, 2, 0, 0, 1]]),
    row=1,
    words=(),
)


def drawn(engines: Engines) -> EnginesView:
    view = EnginesView(5)
    view.draw(engines)
    return view


def boxes(patch: object) -> int:
    vertices = patch.get_path().vertices  # type: ignore[attr-defined]
    return 0 if np.isnan(vertices).any() else len(vertices) // 5


def test_vectors_are_written_one_beside_the_other() -> None:
    words = [t.get_text() for t in drawn(ENGINES)._vectors if t.get_visible()]
    assert words == ["1", "4", "0", "1", "0", "0", "0", "1", "0.50", "0.50", "1.00"]


def test_places_stand_where_they_are_in_the_buffers() -> None:
    view = drawn(ENGINES)
    shown = [(t.get_text(), t.get_position()[1]) for t in view._places if t.get_visible()]
    assert shown == [("2", 0), ("0", 0), ("0.50", 0), ("0", 8), ("0", 8), ("1.00", 8)]
    assert boxes(view._padding) == 3
    assert [t.get_text() for t in view._ends] == ["row pointers 1, 8", "row pointers 0, 9"]


def test_the_chosen_row_is_filled_in_both_and_what_is_dropped_is_hatched() -> None:
    view = drawn(ENGINES)
    assert [boxes(patch) for patch in view._chosen] == [1 + 3, 3]
    assert (boxes(view._given), boxes(view._lost)) == (1 + 3, 3)
    assert view._gone.get_text() == "1 dropped"
    strokes = view._strokes.get_xydata()
    assert np.nanmin(strokes[:, 1]) >= 2 - 0.42 and np.isfinite(strokes).any()
    colors = [(t.get_color(), t.get_weight()) for t in view._vectors[2:5]]
    assert colors == [("white", "bold"), (BLACK, "normal"), (BLACK, "bold")], (
        "the last one is dropped, and of the row"
    )
    assert [boxes(patch) for patch in drawn(ENGINES._replace(row=3))._chosen] == [0, 0]


def test_only_touched_rows_have_distances_and_these_end_with_the_scale() -> None:
    classic, sparse, _ = drawn(ENGINES)._moves
    assert classic.get_xdata().tolist() == [1, 4] and classic.get_ydata().tolist() == [1, FARTHEST]
    assert sparse.get_ydata().tolist() == [1, FARTHEST]


@pytest.mark.exhaustive
def test_rows_that_move_otherwise_are_joined_and_counted() -> None:
    moved = np.array([[0, 1, 0, 0, 0.9], [0, 1, 0, 0, 0.4], [0, 1, 0, 0, 1]])
    view = drawn(ENGINES._replace(moved=moved))
    x, y = view._apart.get_data()
    assert x[:2].tolist() == [4, 4] and y[:2].tolist() == [0.9, 0.4] and len(x) == 3
    assert [title.get_text() for title in view._titles] == [
        "Classic engine: 3 lookups", "SparseCores: 2 of 3 have room", "1 of 2 rows move differently"
    ]  # fmt: skip
    alike = drawn(ENGINES._replace(moved=np.zeros((3, 5)), minibatches=2))
    assert [title.get_text() for title in alike._titles][1:] == [
        "SparseCores: first of 2 minibatches", "Every row moves alike"
    ]  # fmt: skip


def test_a_limit_is_a_line_in_each_partition() -> None:
    view = drawn(ENGINES._replace(limit=4, ends=np.array([[1, 9], [0, 2]])))
    assert np.unique(view._limits.get_ydata()[[0, 3, 6, 9]]).tolist() == [3.5, 11.5], (
        "an empty one takes no room"
    )
    assert view._limits.get_ydata()[6] == view._limits.get_ydata()[9] == 3.5
    assert view._limit.get_text() == "limit 4"


def test_words_stand_in_place_of_buffers() -> None:
    view = drawn(ENGINES._replace(words=["too", "many"]))
    assert [t.get_text() for t in view._words if t.get_visible()] == ["too", "many"]
    assert [t.get_text() for t in (*view._ends, view._limit)] == ["", "", ""] and not len(
        view._limits.get_xdata()
    )
    assert view._titles[1].get_text() == "SparseCores: the batch is refused"
