"""The guess, the result and the first guess: what is drawn, and what is not there before."""

import numpy as np
import pytest

from gradlab.exercises.prediction_picture import CurveView, Guess, NumberView, Quantity
from gradlab.live.scene import Scene

LIMIT, SHARE = Quantity("limit", "", 0.1, 10.0, "log"), Quantity("share", "%", 0.0, 100.0)
X, GUESS, RESULT = (
    np.array([0.1, 1.0, 10.0]),
    np.array([50.0, 40.0, 30.0]),
    np.array([100.0, 50.0, 0.0]),
)
CURVE = np.stack([X, RESULT], axis=1)


def test_before_the_result_there_is_the_guess_alone() -> None:
    view = CurveView("How much?", LIMIT, SHARE)
    view.draw(Guess(X, GUESS))
    assert view._guess.get_ydata().tolist() == GUESS.tolist()
    assert all(len(line.get_xdata()) == 0 for line in (view._result, view._first, view._gaps))


def test_guess_and_result_stay_and_the_first_guess_shows_once_it_is_left() -> None:
    view = CurveView("How much?", LIMIT, SHARE)
    view.draw(Guess(X, GUESS, GUESS, RESULT, CURVE))
    assert view._result.get_ydata().tolist() == RESULT.tolist()
    assert not view._first.get_visible()
    view.draw(Guess(X, GUESS + 5, GUESS, RESULT, CURVE))
    assert view._first.get_visible()
    assert view._first.get_ydata().tolist() == GUESS.tolist()
    assert view._gaps.get_ydata()[:2].tolist() == [50.0, 100.0]


def test_a_number_carries_its_value_and_unit() -> None:
    view = NumberView("How many?", Quantity("steps", "steps", 1.0, 300.0, "log"))
    view.draw(Guess(np.empty(0), np.array([30.0])))
    texts = [text.get_text() for text in view._texts if text.get_visible()]
    assert texts == ["your guess: 30 steps"]
    view.draw(
        Guess(np.empty(0), np.array([5.0]), np.array([30.0]), np.array([3.0]), np.empty((0, 2)))
    )
    assert [text.get_text() for text in view._texts] == [
        "your guess: 5 steps",
        "result: 3 steps",
        "first guess: 30 steps",
    ]
    assert view._lines[1].get_xdata() == [3.0, 3.0]


@pytest.mark.parametrize(
    "view", [CurveView("How much? " * 8, LIMIT, SHARE), NumberView("How many? " * 8, SHARE)]
)
def test_it_fits_a_narrow_page(view: CurveView | NumberView) -> None:
    scene = Scene(view.figure)
    wide = scene.size
    scene.rearranged(lambda: view.arrange(narrow=True))
    assert scene.size[0] < wide[0] * 0.6
    assert view.axes.get_title(loc="left").count("\n") > 0
    assert 0 < view.axes.get_position().x0 < view.axes.get_position().x1 <= 1


def test_ticks_stay_however_closely_one_looks() -> None:
    axes = CurveView("How much?", LIMIT, SHARE._replace(ticks=(0, 50, 100))).axes
    assert list(axes.get_yticks()) == [0, 50, 100]
    for x, y in (((0.1, 10), (0, 100)), ((0.2, 0.5), (10, 20)), ((3.1, 3.4), (70.5, 71))):
        axes.set(xlim=x, ylim=y)
        for axis, (low, high) in ((axes.xaxis, x), (axes.yaxis, y)):
            assert sum(low <= tick <= high for tick in axis.get_majorticklocs()) >= 2


def test_axes_name_their_unit_once() -> None:
    assert SHARE.label == "share (%)"
    assert Quantity("steps over the limit", "steps", 0, 1).label == "steps over the limit"
    assert LIMIT.label == "limit"
    assert LIMIT.middle == pytest.approx(1)
    assert SHARE.middle == 50
    assert (SHARE.of(33.3333), LIMIT.of(1000.0)) == ("33.3%", "1,000")


def test_chosen_ticks_of_a_log_axis_carry_plain_numbers() -> None:
    view = CurveView(
        "How much?", Quantity("step", "", 1.0, 256.0, "log", ticks=(1, 4, 16, 64, 256)), SHARE
    )
    view.figure.canvas.draw()
    assert [text.get_text() for text in view.axes.get_xticklabels()] == [
        "1",
        "4",
        "16",
        "64",
        "256",
    ]
    assert not view.axes.get_xticks(minor=True).size
