import pytest
from matplotlib.figure import Figure

from gradlab.live import Button, Drag, Menu, Preset, Slider, Toggle
from gradlab.live.controls import by_name, check_drags, checked, key_of


def test_a_menu_knows_its_options() -> None:
    menu = Menu("rule", "Rule", ("sgd", (1, "one"), (True, "yes"), (None, "none")), "sgd")
    assert menu.options == (("sgd", "sgd"), (1, "one"), (True, "yes"), (None, "none"))
    assert [menu.key(value) for value in menu.values()] == ["0", "1", "2", "3"]
    assert [menu.read(text) for text in ("sgd", "1", "one", "yes", "None", "none")] == [
        "sgd",
        1,
        1,
        True,
        None,
        None,
    ]
    assert [menu.write(value) for value in menu.values()] == ["sgd", "one", "yes", "none"]
    for wrong in ("adam", 2, False, []):
        with pytest.raises(ValueError, match="rule must be one of 'sgd', 1, True, None, got"):
            menu.check(wrong)
    with pytest.raises(ValueError, match="at least one option"):
        Menu("rule", "Rule", (), "sgd")
    with pytest.raises(TypeError, match="an option is a string, number, boolean or None, got"):
        Menu("rule", "Rule", (((1, 2), "pair"),), (1, 2))


def test_of_very_many_options_a_message_names_the_first() -> None:
    menu = Menu("word", "Word", [str(k) for k in range(45)], "0")
    assert menu.listed().endswith("38, 39, 5 more")
    with pytest.raises(ValueError, match="'38', '39', 5 more, got 'the'"):
        menu.check("the")
    assert Menu("word", "Word", [str(k) for k in range(40)], "0").listed().endswith("38, 39")


def test_a_whole_number_comes_back_from_a_browser_as_it_was() -> None:
    chosen = Menu("rate", "Rate", ((2.0, "two"), (3.0, "three")), 2.0).check(3)
    assert chosen == 3.0 and type(chosen) is float


def test_a_toggle_is_on_or_off() -> None:
    toggle = Toggle("on", "On", False)
    assert [toggle.read(text) for text in ("1", "0", "true", "False")] == [True, False, True, False]
    assert [toggle.read(toggle.write(value)) for value in toggle.values()] == toggle.values()
    with pytest.raises(ValueError, match="on must be 1, 0, true or false, got 'yes'"):
        toggle.read("yes")
    for wrong in (1, 0, "true", None):
        with pytest.raises(TypeError, match="on must be True or False"):
            toggle.check(wrong)


CONTROLS = [Slider("limit", "Limit", 0, 10, 1), Toggle("on", "On", True), Button("go", "Go", print)]


def test_values_are_checked_by_name_and_the_message_lists_the_names() -> None:
    controls = by_name(CONTROLS)
    assert checked(controls, {"limit": 3}) == {"limit": 3.0}
    for name in ("limt", "go"):
        with pytest.raises(
            ValueError, match=f"The lab has no control '{name}'; allowed are limit, on"
        ):
            checked(controls, {name: 1}, "The lab")


def test_a_name_is_used_once_and_only_controls_are_controls() -> None:
    with pytest.raises(ValueError, match="two controls are called 'limit'"):
        by_name([CONTROLS[0], CONTROLS[0]])
    with pytest.raises(
        TypeError, match="controls are Slider, Range, Menu, Toggle or Button objects, got Preset"
    ):
        by_name([Preset("x", {})])


def test_the_key_of_a_state_names_every_value() -> None:
    controls = by_name(CONTROLS)
    assert key_of(controls, {"limit": 0.3, "on": False}) == "3,0"
    assert key_of(controls, {"limit": 0.25, "on": True}) == "=3fd0000000000000,1"


def test_a_drag_needs_a_slider() -> None:
    axes = Figure().add_subplot()
    with pytest.raises(ValueError, match="name of a slider"):
        Drag(axes, label="nothing")
    with pytest.raises(ValueError, match="no place of its own"):
        Drag(axes, x="a", y="b", at=1.0)


def test_a_drag_must_fit_the_figure_and_its_controls() -> None:
    figure = Figure()
    axes = figure.add_subplot()
    controls = by_name([Slider("k", "K", 0.0, 1.0, 0.5), Button("b", "B", print)])
    check_drags([Drag(axes, x="k")], controls, figure)
    for drag, message in (
        (Drag(axes, x="j"), "'j' is none of k"),
        (Drag(axes, x="b"), "'b' is none of k"),
        (Drag(Figure().add_subplot(), x="k"), "must belong to the figure"),
    ):
        with pytest.raises(ValueError, match=message):
            check_drags([drag], controls, figure)
    axes.set_xscale("symlog")
    with pytest.raises(ValueError, match="linear or log axis for 'k', got 'symlog'"):
        check_drags([Drag(axes, x="k")], controls, figure)
