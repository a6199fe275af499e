"""The frame of every lab, over the catalogue: values, errors, pictures, numbers, words, the widget."""

import csv
from pathlib import Path
from typing import Any

import pytest
from matplotlib.figure import Figure

import gradlab as gl
from gradlab.live import Button, Menu, Range, Toggle
from gradlab.live.frame_cache import MOST_BYTES, pack

LABS = list(gl.labs.catalogue().items())
every_lab = pytest.mark.parametrize("make", [make for _, make in LABS], ids=[name for name, _ in LABS])
SAVED_TWICE = ("clip_libraries", "gate_race")  # in the default run: a table, and curves


def other_value(control: Any) -> Any:
    """A value the control allows and does not have."""
    if isinstance(control, Menu | Toggle):
        return next(v for v in control.values() if v != control.value)
    if isinstance(control, Range):
        return control.minimum, control.maximum
    return control.maximum if control.value != control.maximum else control.minimum


def movable(lab: gl.labs.Lab) -> list[Any]:
    return [c for c in lab.controls if not isinstance(c, Button)]


@pytest.mark.sampled(5)
@every_lab
def test_every_control_changes_params_words_and_picture(make: Any) -> None:
    lab = make()
    for control in movable(lab):
        before = lab.live.frame(), lab.params
        lab.set(**{control.name: other_value(control)})
        assert lab.params == before[1] | {control.name: other_value(control)}
        lab.live.description.alt.encode("ascii")
        assert lab.live.values == lab.params
        lab.set(**{control.name: control.value})
        assert (lab.live.frame(), lab.params) == before, f"{control.name} does not come back"


@pytest.mark.sampled(4)
@every_lab
def test_some_setting_of_every_menu_shows_in_the_picture(make: Any) -> None:
    lab = make()
    for menu in (c for c in lab.controls if isinstance(c, Menu)):
        frames = set()
        for value, _ in menu.options:
            lab.set(**{menu.name: value})
            frames.add(lab.live.frame())
            if len(frames) > 1:
                break
        assert len(frames) > 1
        lab.set(**{menu.name: menu.value})


@every_lab
def test_bad_params_are_refused_and_change_nothing(make: Any) -> None:
    lab = make()
    before = lab.params
    with pytest.raises(ValueError, match=f"^gl.labs.{make.__name__} has no control 'speed'; allowed are "):
        lab.set(**{movable(lab)[0].name: other_value(movable(lab)[0]), "speed": 1})
    for control in movable(lab):
        with pytest.raises((ValueError, TypeError), match=f"{control.name} must be"):
            lab.set(**{control.name: "no such value"})
    assert lab.params == before
    with pytest.raises(ValueError, match="has no control 'speed'"):
        make(speed=1)


@pytest.mark.sampled(5)
@every_lab
def test_what_was_set_before_it_is_shown_is_what_is_shown(make: Any) -> None:
    lab = make()
    control = movable(lab)[0]
    lab.set(**{control.name: other_value(control)})
    assert lab.live.values == lab.params == make().params | {control.name: other_value(control)}


@pytest.mark.sampled(5)
@every_lab
def test_a_figure_shows_its_moving_artists_and_leaves_the_lab_alone(make: Any) -> None:
    lab = make()
    control = movable(lab)[0]
    before = lab.params
    figure = lab.figure(**{control.name: other_value(control)})
    assert isinstance(figure, Figure)
    assert lab.params == before
    assert not any(a.get_animated() for a in figure.findobj())


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.exhaustive] * (name not in SAVED_TWICE)) for name, _ in LABS]
)
def test_the_same_state_saves_the_same_bytes(name: str, tmp_path: Path) -> None:
    make = gl.labs.catalogue()[name]
    for name, lab in {"a": make(), "b": make()}.items():
        for suffix in (".png", ".svg", ".pdf", ".csv"):
            lab.save(tmp_path / f"{name}{suffix}")
    for one in tmp_path.glob("a.*"):
        assert one.read_bytes() == one.with_stem("b").read_bytes()
        assert one.stat().st_size > 100


@every_lab
def test_the_csv_holds_the_trace(make: Any, tmp_path: Path) -> None:
    lab = make()
    lab.save(tmp_path / "x.csv")
    with (tmp_path / "x.csv").open(newline="", encoding="utf-8") as file:
        header, *rows = csv.reader(file)
    columns = lab.columns(lab.compute(lab.params))
    assert header == list(columns)
    assert [float(row[0]) for row in rows] == pytest.approx(list(next(iter(columns.values()))), nan_ok=True)


@every_lab
def test_words_are_whole_sentences_with_a_number_and_repeat_exactly(make: Any) -> None:
    lab = make()
    words = lab.description
    assert words.alt.endswith(".")
    assert any(c.isdigit() for c in words.alt)
    assert words == make().description
    assert repr(lab) == f"{lab.label}: {words.summary}"
    assert len(words.table) >= 4


@pytest.mark.sampled(5)
@every_lab
def test_no_target_is_reached_by_a_preset_alone(make: Any) -> None:
    lab = make()
    for label, values in {"as it opens": {}, **lab.presets}.items():
        trace = lab.compute({**lab.params, **values})
        reached = [name for name, target in lab.targets.items() if target.measure(trace)[0]]
        assert not reached, label


@every_lab
def test_presets_are_three_to_five_allowed_settings(make: Any) -> None:
    lab = make()
    assert 3 <= len(lab.presets) <= 5
    for label, values in lab.presets.items():
        assert label[0].isupper() or label[0].isdigit()
        lab.set(**values)


@pytest.mark.sampled(5)
@every_lab
def test_the_axis_is_recorded_ahead_in_no_more_than_it_may_take(make: Any) -> None:
    lab = make()
    control = {c.name: c for c in lab.controls}[lab.axis]
    values = control.values()
    frames = []
    for value in values[:: max(1, len(values) // 20)]:
        lab.set(**{lab.axis: value})
        frames.append((str(value), lab.live.description, lab.live.frame()))
    assert len(pack(frames)) / len(frames) * len(values) < MOST_BYTES


@pytest.mark.sampled(5)
@every_lab
def test_every_target_says_how_far_it_is_and_is_not_reached_at_the_start(make: Any) -> None:
    for name in make.targets:
        lab = make(target=name)
        assert lab.description.goal.startswith("Target: ") and lab.description.goal.endswith("not yet.")
        assert lab.live.description.goal == lab.description.goal
    with pytest.raises(ValueError, match=r"^gl\.labs\.\w+ has no target 'moon'; it has "):
        make(target="moon")


@pytest.mark.sampled(5)
@every_lab
def test_initial_values_are_where_the_controls_start_and_what_a_cell_shows(make: Any) -> None:
    control = movable(make())[0]
    lab = make(**{control.name: other_value(control)})
    assert lab.params[control.name] == other_value(control) == lab.live.values[control.name]
    data, _ = lab._repr_mimebundle_()
    assert data["text/plain"] == repr(lab)
    assert f'alt="{lab.description.alt}"' in data["text/html"]
    assert "application/vnd.jupyter.widget-view+json" in data


@every_lab
def test_every_control_is_named_for_people_and_every_lab_described(make: Any) -> None:
    assert make.__doc__.splitlines()[0].endswith(".")
    for control in make().controls:
        assert control.label[0].isupper()
        assert isinstance(control, Button) or control.name in make.__doc__, f"describe {control.name}"
