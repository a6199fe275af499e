import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradlab.live import Range, Slider


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
        Slider(
            **{"name": "k", "label": "K", "minimum": 0.0, "maximum": 1.0, "value": 0.5, **arguments}
        )


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
    assert (slider.count, slider.digits) == (count, digits)


SLIDERS = [
    Slider("a", "A", 0.01, 1000.0, 1.0, scale="log"),
    Slider("a", "A", 0.001, 1000.0, 1.0, scale="log", step=40),
    Slider("a", "A", -6.0, 6.0, 0.5, step=0.05),
    Slider("a", "A", 0.0, 1.0, 0.5, step=0.3),
    Slider("a", "A", 1, 9, 3, scale="integer", step=2),
]


@pytest.mark.parametrize("slider", SLIDERS)
def test_every_position_has_its_own_value_and_key(slider: Slider) -> None:
    values = slider.values()
    assert values == sorted(set(values))
    assert (values[0], values[-1]) == (slider.minimum, slider.maximum)
    assert [slider.key(value) for value in values] == [str(k) for k in range(slider.count + 1)]
    assert [slider.read(slider.write(value)) for value in values] == values


@given(st.sampled_from(SLIDERS), st.floats(0, 1))
def test_the_nearest_position_is_at_most_half_a_step_away(slider: Slider, part: float) -> None:
    value = slider.clamp(slider.minimum + part * (slider.maximum - slider.minimum))
    position = slider.position(value)
    values = slider.values()
    assert values[max(position - 1, 0)] <= value <= values[min(position + 1, slider.count)]


def test_a_value_between_two_positions_has_a_key_of_its_own() -> None:
    slider = Slider("a", "A", 0.0, 1.0, 0.5, step=0.1)
    assert slider.key(0.5) == "5"
    assert len({slider.key(x) for x in (0.5, 0.55, 0.55 + 1e-12, 0.6)}) == 4
    assert (
        Range("a", "A", 0.0, 1.0, (0.2, 0.55), step=0.1).key((0.2, 0.55)) == f"2-{slider.key(0.55)}"
    )


def test_a_range_is_two_numbers_in_order() -> None:
    steps = Range("steps", "Steps", 0, 300, [10, 50], scale="integer")  # type: ignore[arg-type]
    assert steps.value == (10, 50)
    assert steps.check(np.array([1.0, 2.0])) == (1, 2)
    assert steps.clamp([-5, 1000]) == (0, 300)
    assert steps.clamp([60, 50]) == (60, 60)
    assert steps.key((10, 50)) == "10-50"
    assert steps.read(steps.write((10, 50))) == (10, 50)
    assert steps.spec()["kind"] == "range"
    for wrong, error in (
        ([1], TypeError),
        ("12", TypeError),
        (7, TypeError),
        ([9, 3], ValueError),
        ([0, 301], ValueError),
    ):
        with pytest.raises(error, match="steps must be"):
            steps.check(wrong)
