"""The figure of a training: rows by color, traffic as counted boxes."""

import numpy as np

from gradlab.figures.tpu_run import FARTHEST, RunView, Training

TRAINING = Training(
    step=1,
    moved=(np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 9.0], [1.0, 2.0, 9.0]]), np.zeros((3, 2))),
    touched=(np.array([0, 2]), np.array([1])),
    loss=np.array([[4.0, 1.0], [2.0, 0.5]]),
    owner=(np.array([0, 0, 1]), np.array([0, 1])),
    traffic=np.array([[1, 2], [0, 3]]),
)


def drawn() -> RunView:
    view = RunView(("a", "b"), (3, 2), 2, 2)
    view.draw(TRAINING)
    return view


def test_colors_end_at_the_farthest() -> None:
    assert drawn()._images[0].get_array().tolist() == [[0, 1, 1], [0, 0, 2], [0, FARTHEST, FARTHEST]]


def test_marks_are_at_the_rows_of_the_step_table_below_table() -> None:
    assert drawn()._touched.get_ydata().tolist() == [0, 2, 6]


def test_every_row_names_its_device() -> None:
    assert [[t.get_text() for t in of] for of in drawn()._owners] == [["0: d0", "1: d0", "2: d1"], ["0: d0", "1: d1"]]


def test_traffic_is_counted_and_summed_and_what_stays_at_home_looks_different() -> None:
    view = drawn()
    assert [t.get_text() for t in view._counts] == ["1", "2", "", "3", "1", "5"]
    corners = {name: len(getattr(view, name).get_path().vertices) // 5 for name in ("_home", "_away")}
    assert corners == {"_home": 2, "_away": 1}
