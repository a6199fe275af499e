"""The frame of every lab, over the catalogue: values, errors, pictures, numbers, words, the widget."""

import csv
from pathlib import Path
from typing import Any

import pytest
from matplotlib.figure import Figure

import gradlab as gl
from gradlab.live import Button, Menu, Slider

LABS = list(gl.labs.catalogue().items())
every_lab = pytest.mark.parametrize("make", [make for _, make in LABS], ids=[name for name, _ in LABS])


def other_value(control: Any) -> Any:
    """A value the control allows and does not have."""
    if isinstance(control, Menu):
        return next(v for v, _ in control.options if v != control.value)
    return control.maximum if control.value != control.maximum else control.minimum


def movable(lab: gl.labs.Lab) -> list[Any]:
    return [c for c in lab.controls if isinstance(c, Slider | Menu)]


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


@every_lab
def test_some_setting_of_every_menu_shows_in_the_picture(make: Any) -> None:
    lab = make()
    for menu in (c for c in lab.controls if isinstance(c, Menu)):
        frames = set()
        for value, _ in menu.options:
            lab.set(**{menu.name: value})
            frames.add(lab.live.frame())
        assert len(frames) > 1
        lab.set(**{menu.name: menu.value})


@every_lab
def test_bad_params_are_refused_and_change_nothing(make: Any) -> None:
    lab = make()
    before = lab.params
    with pytest.raises(ValueError, match="has no control 'speed'; allowed are "):
        lab.set(**{movable(lab)[0].name: other_value(movable(lab)[0]), "speed": 1})
    for control in movable(lab):
        bad = "no such option" if isinstance(control, Menu) else control.maximum * 10
        with pytest.raises(ValueError, match=f"{control.name} must be"):
            lab.set(**{control.name: bad})
    assert lab.params == before
    with pytest.raises(ValueError, match="has no control 'speed'"):
        make(speed=1)


@every_lab
def test_initial_values_are_where_the_controls_start(make: Any) -> None:
    control = movable(make())[0]
    lab = make(**{control.name: other_value(control)})
    assert lab.params[control.name] == other_value(control) == lab.live.values[control.name]


@every_lab
def test_what_was_set_before_it_is_shown_is_what_is_shown(make: Any) -> None:
    lab = make()
    control = movable(lab)[0]
    lab.set(**{control.name: other_value(control)})
    assert lab.live.values == lab.params == make().params | {control.name: other_value(control)}


@every_lab
def test_a_figure_shows_its_moving_artists_and_leaves_the_lab_alone(make: Any) -> None:
    lab = make()
    control = movable(lab)[0]
    before = lab.params
    figure = lab.figure(**{control.name: other_value(control)})
    assert isinstance(figure, Figure)
    assert lab.params == before
    assert not any(a.get_animated() for a in figure.findobj())


@every_lab
@pytest.mark.parametrize("suffix", [".png", ".svg", ".pdf", ".csv"])
def test_the_same_state_saves_the_same_bytes(make: Any, suffix: str, tmp_path: Path) -> None:
    for name in ("a", "b"):
        make().save(tmp_path / f"{name}{suffix}")
    assert (tmp_path / f"a{suffix}").read_bytes() == (tmp_path / f"b{suffix}").read_bytes()
    assert (tmp_path / f"a{suffix}").stat().st_size > 100


@every_lab
def test_the_csv_holds_the_trace(make: Any, tmp_path: Path) -> None:
    lab = make()
    lab.save(tmp_path / "x.csv")
    with (tmp_path / "x.csv").open(newline="", encoding="utf-8") as file:
        header, *rows = csv.reader(file)
    columns = lab.columns(lab.compute(lab.params))
    assert header == list(columns)
    assert [float(row[0]) for row in rows] == pytest.approx(list(next(iter(columns.values()))), nan_ok=True)


def test_another_suffix_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"cannot save 'x.gif': allowed are .png, .svg, .pdf and .csv"):
        gl.labs.clip_arrows().save(tmp_path / "x.gif")


@every_lab
def test_words_are_whole_sentences_with_a_number_and_repeat_exactly(make: Any) -> None:
    lab = make()
    words = lab.description
    assert words.alt.endswith(".")
    assert any(c.isdigit() for c in words.alt)
    assert words == make().description
    assert repr(lab) == f"{lab.label}: {words.summary}"
    assert len(words.table) >= 4


@every_lab
def test_what_a_cell_shows_is_widget_text_and_page(make: Any) -> None:
    lab = make()
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
