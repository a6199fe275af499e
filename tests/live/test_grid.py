"""Which states go into a page: as fine as there is room for, and what the page may promise."""

import math
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from gradlab.live import Preset
from gradlab.live.grid import FEWEST_PLACES, Grid, grid, resolutions
from tests.live.examples import clipped

CHOICES = st.lists(st.integers(1, 12), max_size=4)


@given(st.integers(1, 2000), CHOICES, st.integers(1, 5000))
def test_grids_become_coarser_and_keep_to_their_bounds(
    places: int, choices: list[int], most: int
) -> None:
    found = list(resolutions(places, choices, most))
    assert found == sorted(found, key=lambda grid: (-grid[1], grid[0]))
    for step, moving in found:
        assert step & (step - 1) == 0
        assert places // step * math.prod(choices[:moving]) <= most
        assert step == 1 or moving == 0 or places // step >= min(FEWEST_PLACES, places)
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


def grid_of(most: int = 500, **more: Any) -> Grid:
    return grid(clipped(**more)._state, most)


def test_the_axis_moves_whole_with_menus_and_other_controls_beside_a_few_places_of_it() -> None:
    found = grid_of(axis="limit")
    opening, *others = found.sheets
    assert (
        list(opening.moving) == ["limit", "rule"] and len(opening.moving["limit"]) >= FEWEST_PLACES
    )
    assert all(len(sheet.moving) == 2 and sheet.base == opening.base for sheet in others)
    assert {name for sheet in others for name in sheet.moving} - {
        "limit"
    } == found.moving.keys() - {"limit", "rule"}
    assert len(found.states()) <= 500


def test_with_less_room_the_axis_is_what_stays() -> None:
    found = grid_of(most=20, axis="limit")
    assert [*found.moving] == ["limit"] and 10 <= len(found.states()) <= 20


def test_an_axis_that_is_a_menu_is_all_of_the_opening_sheet() -> None:
    assert grid_of(most=3, axis="rule").moving == {"rule": ["sgd", "ada", "broken"]}


def test_a_menu_without_room_for_all_its_options_stands_still() -> None:
    """A page for a few states still has its presets."""
    presets = [Preset("wide", {"limit": 9.0}), Preset("other rule", {"rule": "ada"})]
    found = grid_of(most=3, axis="rule", presets=presets)
    assert "rule" not in found.sheets[0].moving and len(found.states()) >= 3
    assert all(found.holds({**found.sheets[0].base, **preset.values}) for preset in presets)


def test_every_preset_is_in_it_beside_the_axis_even_between_positions() -> None:
    presets = [
        Preset("odd", {"limit": 0.123456}),
        Preset("elsewhere", {"phase": 5.0}),
        Preset("ada", {"rule": "ada"}),
    ]
    live = clipped(axis="limit", presets=presets)
    live.set(limit=7.654321)
    for most in (8, 500):
        found = grid(live._state, most)
        assert {7.654321, 0.123456} <= set(found.moving["limit"])
        for preset in presets:
            assert live.values | preset.values in found.states()
    assert sum(state["phase"] == 5.0 for state in found.states()) > 10, "the axis moves there, too"
    assert found.controls["limit"].value == 7.654321


def test_states_have_keys_of_their_own_and_controls_that_never_change_are_not_shown() -> None:
    found = grid_of(most=30, axis="limit", presets=[Preset("elsewhere", {"phase": 5.0})])
    assert len({found.key(state) for state in found.states()}) == len(found.states())
    specs = {spec["name"]: spec for spec in found.specs()}
    assert "train" not in specs, "a button needs a kernel"
    assert specs["steps"]["hidden"] and specs["steps"]["fixed"]
    assert specs["phase"]["fixed"] and not specs["phase"]["hidden"], "a preset changes it"
    assert (
        specs["limit"]["places"] == found.moving["limit"]
        and specs["limit"]["count"] == len(found.moving["limit"]) - 1
    )
