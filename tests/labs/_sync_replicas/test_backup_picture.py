"""The picture of spare workers: the chosen number is marked where it belongs."""

import numpy as np

from gradlab.labs._sync_replicas.backup_picture import SpareView

ROUNDS = np.array([80.0, 90.0, 200.0])
TIMES = np.array([200, 400])
NEEDED = np.array([[4000.0, np.inf], [200.0, 400.0], [300.0, 400.0]])


def drawn(k: int, reference: int = 2) -> SpareView:
    view = SpareView(ROUNDS, NEEDED, TIMES, 0.9)
    quartiles = np.array([45.0, 85.0]), np.array([55.0, 95.0])
    view.draw(k, np.array([50.0, 90.0]), quartiles, reference, np.array([40.0, 80.0]))
    return view


def test_the_chosen_number_is_marked_in_both_panels_with_its_ticks() -> None:
    view = drawn(2)
    assert view._here[0].get_xydata().tolist() == [[2, 90]]
    assert view._here[1].get_xydata().tolist() == [[2, 0.3]]
    assert [words.get_text() for words in view._said] == ["90 ticks", "300 ticks"]
    assert view._chosen.get_xydata().tolist() == [[0.2, 50], [0.4, 90]]
    assert view._reference.get_ydata().tolist() == [40, 80]


def test_the_line_and_the_band_are_named_and_no_winner() -> None:
    assert [words.get_text() for words in drawn(1).needed.texts[1:3]] == [
        "mean",
        "middle half of the runs",
    ]


def test_the_band_of_a_curve_is_the_middle_half() -> None:
    low, high = drawn(2)._band.get_path().vertices[[1, 2], 1]
    assert (low, high) == (85, 95)


def test_a_number_with_which_some_run_never_gets_there_has_no_value() -> None:
    view = drawn(1)
    assert view._here[1].get_ydata()[0] > TIMES[-1] / 1000
    assert not view._said[1].get_visible()
    means = next(line for line in view.needed.lines if line.get_marker() == "o")
    assert means.get_xydata().tolist() == [[2, 0.3], [3, 0.35]]


def test_the_reference_is_seen_on_the_curve_that_it_is() -> None:
    view = drawn(2, reference=3)
    assert view._reference.get_zorder() > view._chosen.get_zorder() and view._reference.is_dashed()
    assert [name.get_text() for name in view._names._names] == ["2 of 3", "all 3"]
