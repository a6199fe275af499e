"""A control is a trait: observe, link and messages from other widgets move it, and what it refuses stays out."""

from typing import Any

import ipywidgets
import pytest
from matplotlib.figure import Figure

from gradlab.live import Description, LiveFigure, Range, Slider, Toggle
from tests.live.examples import clipped


def test_setting_a_trait_moves_the_control_and_back() -> None:
    live, seen = clipped(), []
    live.observe(lambda change: seen.append((change.name, change.new)), ["limit", "rule"])
    live.limit = 2
    assert live.values["limit"] == 2.0
    live.set(limit=3, rule="ada")
    assert (live.limit, live.rule) == (3.0, "ada")
    assert seen == [("limit", 2.0), ("limit", 3.0), ("rule", "ada")]


def test_what_a_control_refuses_a_trait_refuses() -> None:
    live = clipped()
    with pytest.raises(ValueError, match="limit must be from"):
        live.limit = -1
    with pytest.raises(RuntimeError, match="no such rule"):
        live.rule = "broken"
    assert (live.limit, live.rule, live.values["rule"]) == (1.0, "sgd", "sgd")


def test_a_figure_without_controls_may_have_a_selected_item_and_be_closed() -> None:
    live = LiveFigure(Figure(), [], lambda values: Description("Nothing moves.", ""), label="x")
    live.selected = 3
    live.close()
    assert (live.selected, live.values) == (3, {})


def test_a_link_couples_two_figures_and_ordinary_widgets() -> None:
    first, second, slider = clipped(), clipped(), ipywidgets.FloatSlider(min=0.01, max=100.0)
    ipywidgets.link((first, "limit"), (second, "limit"))
    ipywidgets.link((first, "limit"), (slider, "value"))
    slider.value = 7.0
    assert first.values["limit"] == second.values["limit"] == 7.0
    second.set(limit=9.0)
    assert slider.value == 9.0


def test_what_a_message_moves_the_traits_of_the_page_follow() -> None:
    live, sent = clipped(), []
    live.send_state = lambda key=None: sent.append(sorted([key] if isinstance(key, str) else key))
    live._inbox.receive({"kind": "open", "view": "a", "ratio": 1})
    live._inbox.receive({"kind": "set", "view": "a", "id": 1, "values": {"limit": 4.0, "rule": "ada"}})
    assert (live.limit, live.rule) == (4.0, "ada")
    assert sent == [["limit", "rule"]]  # in one message


def test_an_observer_sees_all_controls_at_their_new_values() -> None:
    live, seen = clipped(), []
    live.observe(lambda change: seen.append((live.limit, live.rule)), ["limit", "rule"])
    live.set(limit=3, rule="ada")
    assert seen == [(3.0, "ada")] * 2


def test_an_observer_that_fails_leaves_controls_and_traits_agreeing() -> None:
    live = clipped()

    def fail(_: Any) -> None:
        raise KeyError("observer")

    live.observe(fail, "limit")
    with pytest.raises(KeyError, match="observer"):
        live.set(limit=3, rule="ada")
    assert (live.limit, live.rule) == (3.0, "ada") == (live.values["limit"], live.values["rule"])


def test_state_from_the_front_end_is_checked_like_any_other() -> None:
    live = clipped()
    live.set_state({"limit": 6})
    assert live.values["limit"] == 6.0


def picture(*controls: Any) -> LiveFigure:
    return LiveFigure(Figure(), controls, lambda values: Description("a", "b"), label="x")


def test_every_kind_of_value_is_mirrored() -> None:
    live = picture(Range("steps", "Steps", 0, 9, (1, 3), scale="integer"), Toggle("on", "On", True))
    live.set_state({"steps": [2, 4], "on": False})
    assert live.values == {"steps": (2, 4), "on": False}
    assert {"steps", "on", "selected"} <= set(live.keys)


@pytest.mark.parametrize("name", ["values", "layout", "selected", "comm", "set"])
def test_a_control_cannot_take_the_name_of_something_else(name: str) -> None:
    with pytest.raises(ValueError, match=f"a control cannot be called '{name}'"):
        picture(Slider(name, "A", 0.0, 1.0, 0.5))
