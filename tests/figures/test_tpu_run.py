"""The figure of a training: traffic as counted cells, the busiest device framed, popular words by device."""

import numpy as np

from gradlab.figures.tpu_run import SHADES, RunView, Training
from tests.figures.contrast import THEMES, contrast

TRAINING = Training(
    step=1,
    traffic=np.array([[3, 0], [4, 1]]),
    asked=np.array([5, 2, 1]),
    owner=np.array([0, 1, 0]),
    loss=np.array([[4.0, 1.0], [2.0, 1e9]]),
    elsewhere=("dealt out", 1.5),
)


def drawn(training: Training = TRAINING) -> RunView:
    view = RunView(("a", "b"), 3, 2, 2)
    view.draw(training)
    return view


def boxes(shape) -> int:  # type: ignore[no-untyped-def]
    return int(np.isfinite(shape.get_path().vertices[:, 0]).sum()) // 5


def test_traffic_is_counted_and_the_busiest_device_framed() -> None:
    view = drawn()
    assert [words.get_text() for words in view._counts] == ["3", "", "4", "1"]
    assert all(contrast(theme, view._counts[0].get_color(), SHADES[-1]) > 4.5 for theme in THEMES)
    assert sum(map(boxes, view._shades)) == 3 and boxes(view._shades[-1]) == 1
    assert view._frame.get_path().vertices[0].tolist() == [-0.5, -0.5]
    assert [words.get_text() for words in view._sums] == ["7", "1"]
    assert view._times.get_text() == "1.8 times its share"
    assert view._busiest.get_path().vertices[:, 1].max() == 7 / 4
    assert view._elsewhere.get_text() == "dealt out: 1.5 times"


def test_words_stand_at_their_device_and_the_most_popular_are_named() -> None:
    view = drawn()
    assert boxes(view._popular) == 2 and boxes(view._others) == 1
    assert [words.get_text() for words in view._named] == ["word 0: 5", "word 1: 2"]


def test_nothing_is_counted_before_the_first_step() -> None:
    view = drawn(TRAINING._replace(step=0, traffic=np.zeros((2, 2), int), asked=np.zeros(3, int)))
    shown = (view._counts, view._sums, view._named, [view._times, view._elsewhere])
    assert not any(words.get_text() for texts in shown for words in texts)
    assert not any(map(boxes, (*view._shades, view._frame)))
    assert all(not len(dot.get_xdata()) for _, _, dot in view._losses)
