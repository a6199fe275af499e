"""The browser counts positions as Python does, or keys of the same state would differ."""

import math
from itertools import pairwise
from typing import Any

import pytest

from gradlab.live import Slider

pytestmark = pytest.mark.browser

SLIDERS = [
    Slider("limit", "Limit", 0.01, 1000.0, 1.0, scale="log"),
    Slider("rate", "Rate", 1e-5, 3.0, 0.1, scale="log", step=20),
    Slider("fine", "Fine", 0.3, 0.7, 0.5, scale="log", step=200),
    Slider("phase", "Phase", -1.0, 1.0, 0.0, step=0.025),
    Slider("short", "Short", 0.0, 1.0, 0.0, step=0.3),
    Slider("small", "Small", 0.001, 0.0095, 0.002),
    Slider("steps", "Steps", 1, 300, 3, scale="integer"),
    Slider("sevens", "Sevens", 0, 100, 0, scale="integer", step=7),
]


@pytest.mark.parametrize("slider", SLIDERS, ids=lambda slider: slider.name)
def test_positions_and_values_are_the_same_on_both_sides(page: Any, slider: Slider) -> None:
    places = list(range(-1, slider.count + 2))
    seen = page.evaluate(
        """([spec, places]) => places.map((place) => {
          const value = module.fromPosition(spec, place);
          return [value, module.toPosition(spec, value)];
        })""",
        [slider.spec(), places],
    )
    assert seen == [[slider.at(place), slider.position(slider.at(place))] for place in places]
    assert [place for _, place in seen[1:-1]] == places[1:-1]


@pytest.mark.parametrize("slider", SLIDERS, ids=lambda slider: slider.name)
def test_keys_are_the_same_on_both_sides(page: Any, slider: Slider) -> None:
    here = slider.values()
    values = [
        *here,
        *(a + (b - a) / 3 for a, b in pairwise(here)),
        math.nextafter(here[0], here[-1]),
    ]
    seen = page.evaluate(
        "([spec, values]) => values.map((value) => module.keyOf(spec, value))",
        [slider.spec(), values],
    )
    assert seen == [slider.key(value) for value in values]
