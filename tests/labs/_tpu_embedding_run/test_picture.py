"""The figure of a training: traffic as counted cells, the busiest device framed, popular words by
device.
"""

import numpy as np
import pytest
from matplotlib.colors import to_rgba

from gradlab.labs._tpu_embedding_run.picture import SHADES, DrawnTraining, RunView
from tests.labs.contrast import THEMES, contrast

TRAINING = DrawnTraining(
    step=1,
    traffic=np.array([[3, 0], [4, 1]]),
    asked=np.array([5, 2, 1]),
    owner=np.array([0, 1, 0]),
    popular=np.array([0, 1, 2]),
    loss=np.array([[4.0, 1.0], [2.0, 1e9]]),
    elsewhere=("dealt out", 1.5),
)


def drawn(training: DrawnTraining = TRAINING) -> RunView:
    view = RunView(("a", "b"), 3, 2, 2)
    view.draw(training)
    return view


def boxes(shape) -> int:  # type: ignore[no-untyped-def]
    return int(np.isfinite(shape.get_path().vertices[:, 0]).sum()) // 5


def test_traffic_is_counted_and_the_busiest_device_framed() -> None:
    view = drawn()
    assert [words.get_text() for words in view._counts] == ["3", "", "4", "1"]
    assert sum(map(boxes, view._shades)) == 3
    assert view._frame.get_path().vertices[0].tolist() == [-0.5, -0.5]
    assert [words.get_text() for words in view._sums] == ["7", "1"]
    assert view._times.get_text() == "1.8 times its share"
    assert view._busiest.get_path().vertices[:, 1].max() == 7 / 4
    assert (
        view._elsewhere.get_text() == "dealt out: 1.5 times"
        and view._fair.get_text() == "fair share 4"
    )
    assert view._busiest.get_facecolor() == view._popular.get_facecolor() == to_rgba(SHADES[-2])


@pytest.mark.parametrize("shade", range(len(SHADES)))
def test_a_number_can_be_read_on_every_shade(shade: int) -> None:
    view = drawn()
    share = (shade + 0.5) / len(SHADES) * 3.55  # of a fair one
    rest = 1000 * (4 - share) / 3
    view.draw(TRAINING._replace(traffic=np.array([[1000 * share, rest], [rest, rest]]).astype(int)))
    words = view._counts[0]
    assert words.on == SHADES[shade] and boxes(view._shades[shade]) >= 1
    assert all(contrast(theme, words.get_color(), words.on) > 4.5 for theme in THEMES)


def test_words_stand_at_their_device_and_the_most_popular_are_named() -> None:
    view = drawn()
    assert boxes(view._popular) == 2 and boxes(view._others) == 1
    assert [words.get_text() for words in view._named] == ["word 0: 5 requests", "word 1: 2"]
    crowded = drawn(TRAINING._replace(asked=np.array([5, 5, 1])))
    assert crowded._named[0].get_text() == "", "its name would lie on the next bar"


@pytest.mark.parametrize(
    ("owner", "why"),
    [
        ([0, 0, 1], "Why: popular words are neighbors"),
        ([1, 1, 0], "Popular words lie on device 1"),
        ([0, 1, 0], "The most popular words lie apart"),
    ],
)
def test_the_reason_is_where_the_popular_words_are(owner: list[int], why: str) -> None:
    assert drawn(TRAINING._replace(owner=np.array(owner)))._why.get_text() == why


@pytest.mark.parametrize(
    "change", [{"popular": np.array([0, 2, 1])}, {"traffic": np.array([[2, 2], [3, 2]])}]
)
def test_neighbors_are_no_reason_where_others_are_popular_or_the_load_is_fair(
    change: dict[str, np.ndarray],
) -> None:
    view = drawn(TRAINING._replace(owner=np.array([0, 0, 0]), **change))
    assert view._why.get_text() == "Popular words lie on device 0"


def test_no_word_is_called_popular_where_all_are_alike() -> None:
    view = drawn(TRAINING._replace(popular=np.array([], int)))
    assert view._why.get_text() == "All words are equally popular"
    assert [words.get_text() for words in view._named] == ["", ""]


def test_nothing_is_counted_before_the_first_step() -> None:
    view = drawn(TRAINING._replace(step=0, traffic=np.zeros((2, 2), int), asked=np.zeros(3, int)))
    shown = (view._counts, view._sums, view._named, [view._times, view._elsewhere, view._fair])
    assert not any(words.get_text() for texts in shown for words in texts)
    assert (
        not any(map(boxes, (*view._shades, view._frame)))
        and view._why.get_text() == "No word is asked for yet"
    )
    assert all(not len(dot.get_xdata()) for _, _, dot in view._losses)
