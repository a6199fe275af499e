import numpy as np
import pytest
from matplotlib.figure import Figure

from gradlab.live import Drag, Menu, Slider


@pytest.mark.parametrize("value", [0.01, 1000, np.float32(2), np.array(3.0), np.int64(4)])
def test_a_slider_takes_any_real_number_in_range(value: object) -> None:
    checked = Slider("limit", "Limit", 0.01, 1000.0, 1.0).check(value)
    assert type(checked) is float


@pytest.mark.parametrize(
    ("value", "error", "message"),
    [
        (-1, ValueError, "limit must be from 0.01 to 1000, got -1"),
        (float("nan"), ValueError, "limit must be from 0.01 to 1000, got nan"),
        (float("inf"), ValueError, "limit must be from 0.01 to 1000, got inf"),
        ("2", TypeError, "limit must be a number, got '2'"),
        (True, TypeError, "limit must be a number, got True"),
        (None, TypeError, "limit must be a number, got None"),
    ],
)
def test_a_slider_refuses_the_rest(value: object, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=f"^{message}$"):
        Slider("limit", "Limit", 0.01, 1000.0, 1.0).check(value)


def test_an_integer_slider_holds_whole_numbers() -> None:
    steps = Slider("steps", "Steps", 1, 9, 3, scale="integer")
    assert steps.check(4.0) == 4
    assert type(steps.check(np.float64(4))) is int
    with pytest.raises(ValueError, match=r"steps must be a whole number, got 3\.5"):
        steps.check(3.5)


def test_what_a_browser_sends_is_brought_into_range() -> None:
    steps = Slider("steps", "Steps", 1, 9, 3, scale="integer")
    assert [steps.clamp(v) for v in (-5, 3.6, 99, float("inf"))] == [1, 4, 9, 9]
    for nonsense in (None, "3", float("nan"), [], {}):
        with pytest.raises((TypeError, ValueError)):
            steps.clamp(nonsense)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"minimum": 2.0, "maximum": 1.0}, "minimum must be below maximum"),
        ({"minimum": 0.0, "scale": "log"}, "needs a minimum > 0"),
        ({"scale": "cubic"}, "scale must be one of linear, log, integer, got 'cubic'"),
        ({"step": 0.0}, "step must be > 0"),
        ({"value": 5.0}, "k must be from 0 to 1, got 5"),
    ],
)
def test_a_slider_that_makes_no_sense_is_refused(arguments: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Slider(**{"name": "k", "label": "K", "minimum": 0.0, "maximum": 1.0, "value": 0.5, **arguments})


@pytest.mark.parametrize(
    ("slider", "count", "digits"),
    [
        (Slider("a", "A", 0.0, 1.0, 0.5), 100, 2),
        (Slider("a", "A", 0.0, 10.0, 0.5, step=0.25), 40, 2),
        (Slider("a", "A", 0.0, 1.0, 0.5, step=0.3), 4, 1),
        (Slider("a", "A", 1, 9, 2, scale="integer"), 8, 0),
        (Slider("a", "A", 0.01, 1000.0, 1.0, scale="log"), 250, 3),
        (Slider("a", "A", 0.1, 10.0, 1.0, scale="log", step=5), 10, 3),
    ],
)
def test_positions_cover_the_range(slider: Slider, count: int, digits: int) -> None:
    assert (slider.positions()["count"], slider.positions()["digits"]) == (count, digits)


def test_a_menu_knows_its_options() -> None:
    menu = Menu("rule", "Rule", ("sgd", (1, "one")), "sgd")
    assert menu.options == (("sgd", "sgd"), (1, "one"))
    assert menu.index(1) == 1
    for wrong in ("adam", True, None, []):
        with pytest.raises(ValueError, match="rule must be one of 'sgd', 1, got"):
            menu.check(wrong)
    with pytest.raises(ValueError, match="at least one option"):
        Menu("rule", "Rule", (), "sgd")


def test_a_drag_needs_a_slider() -> None:
    with pytest.raises(ValueError, match="name of a slider"):
        Drag(Figure().add_subplot(), label="nothing")
