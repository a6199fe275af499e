"""Which states go into a page: as fine as there is room for, and what the page may promise."""

import math
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from gradlab.live import Menu, Preset, Slider
from gradlab.live.grid import FEWEST_PLACES, MOST_STATES, Grid, grids, resolutions, thinned
from tests.live.examples import clipped

CHOICES = st.lists(st.integers(1, 12), max_size=4)


@given(st.integers(1, 2000), CHOICES, st.integers(1, 5000))
def test_grids_become_coarser_and_keep_to_their_bounds(places: int, choices: list[int], most: int) -> None:
    found = list(resolutions(places, choices, most))
    assert found == sorted(found, key=lambda grid: (-grid[1], grid[0]))
    for step, moving in found:
        assert step & (step - 1) == 0
        assert places // step * math.prod(choices[:moving]) <= most
        assert step == 1 or moving == 0 or places // step >= min(FEWEST_PLACES, FEWEST_PLACES * most // MOST_STATES)
    assert found, "there is always one: two places and nothing else"


@given(st.integers(1, 2000), CHOICES)
def test_nothing_finer_was_passed_over(places: int, choices: list[int]) -> None:
    step, moving = next(resolutions(places, choices, most=500))
    if step > 1:
        assert places // (step // 2) * math.prod(choices[:moving]) > 500
    if moving < len(choices):
        coarsest = places
        while coarsest // 2 >= FEWEST_PLACES and coarsest * math.prod(choices[: moving + 1]) > 500:
            coarsest //= 2
        assert coarsest * math.prod(choices[: moving + 1]) > 500


@given(
    st.sampled_from(["linear", "log", "integer"]), st.integers(1, 5), st.integers(7, 400), st.sampled_from([1, 2, 4, 8])
)
def test_a_thinned_slider_keeps_its_ends_and_has_fewer_positions(scale: str, low: int, high: int, step: int) -> None:
    slider = Slider("x", "X", low, high, low, scale=scale)
    coarse = thinned(slider, step)
    assert (coarse.values()[0], coarse.values()[-1]) == (low, high)
    assert coarse.count <= slider.count / step + 1
    assert coarse.values() == sorted(coarse.values())


def grid_of(**more: Any) -> Grid:
    return next(grids(clipped(**more)._state))


def test_the_axis_moves_first_then_menus_and_the_rest_is_fixed() -> None:
    grid = grid_of(axis="limit")
    assert list(grid.values) == ["limit", "rule"]
    assert [spec["name"] for spec in grid.specs() if spec.get("fixed")] == ["phase", "steps", "train"]
    assert len(list(grid.states())) == len(grid.values["limit"]) * len(grid.values["rule"])


def test_an_axis_that_is_a_menu_is_all_there_is() -> None:
    grid = grid_of(axis="rule")
    assert grid.values == {"rule": ["sgd", "ada", "broken"]}


def test_without_an_axis_menus_move() -> None:
    assert grid_of().values == {"rule": ["sgd", "ada", "broken"]}


def test_the_saved_state_and_the_presets_are_in_it_even_between_positions() -> None:
    presets = [Preset("odd", {"limit": 0.123456}), Preset("elsewhere", {"phase": 5.0}), Preset("ada", {"rule": "ada"})]
    live = clipped(axis="limit", presets=presets)
    live.set(limit=7.654321)
    grid = next(grids(live._state))
    assert {7.654321, 0.123456} <= set(grid.values["limit"])
    assert grid.values["limit"] == sorted(grid.values["limit"])
    assert [preset.label for preset in presets if grid.holds(preset.values)] == ["odd", "ada"]
    assert grid.controls["limit"].value == 7.654321


def test_a_grid_of_nothing_has_one_state() -> None:
    menu = Menu("rule", "Rule", ("a", "b"), "a")
    grid = Grid({"rule": menu}, {})
    assert list(grid.states()) == [{}]
    assert grid.holds({"rule": "a"}) and not grid.holds({"rule": "b"})
