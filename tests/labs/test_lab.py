"""The frame of every lab, over the catalog: values, errors, pictures, numbers, words, the widget."""

import csv
import functools
import json
from collections.abc import Callable
from dataclasses import replace
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.figure import Figure

import gradlab as gl
from gradlab._base import addresses
from gradlab.labs import _save, from_link
from gradlab.labs._clip_arrows.lab import ClipArrowsLab
from gradlab.labs._lab import MOST
from gradlab.live import Button, Menu, Range, Slider, Toggle
from gradlab.live.frame_cache import MOST_BYTES, pack

LABS = list(gl.labs.catalog().items())
every_lab = pytest.mark.parametrize(
    "make", [make for _, make in LABS], ids=[name for name, _ in LABS]
)
SAVED_TWICE = ("clip_libraries", "gate_race")  # in the default run: a table, and curves


@pytest.fixture(scope="module")
def shown() -> Callable[[Any], gl.labs.Lab]:
    """One lab of each kind whose picture is made already, for tests that leave it as they found it."""
    return functools.cache(lambda make: make())


def other_values(control: Any) -> list[Any]:
    """Values the control allows and does not have: of a menu all, of others one."""
    if isinstance(control, Menu | Toggle):
        return [v for v in control.values() if v != control.value]
    if isinstance(control, Range):
        return [(control.minimum, control.maximum)]
    return [control.maximum if control.value != control.maximum else control.minimum]


def other_value(control: Any) -> Any:
    return other_values(control)[0]


def movable(lab: gl.labs.Lab) -> list[Any]:
    return [c for c in lab.controls if not isinstance(c, Button)]


def drawn_afresh(live: Any) -> bytes:
    """The frame, with nothing remembered of what artists drew before."""
    live._state.scene._recorders.clear()
    return bytes(live.frame())


@every_lab
def test_every_control_changes_params_and_words_and_every_menu_the_picture(
    make: Any, shown: Any
) -> None:
    lab = shown(make)
    before = lab.live.frame(), lab.params
    for control in movable(lab):
        for value in other_values(control):
            lab.set(**{control.name: value})
            assert lab.params == before[1] | {control.name: value}
            lab.live.description.alt.encode("ascii")
            assert lab.live.values == lab.params
            assert lab.live.frame() == drawn_afresh(lab.live)
            if not isinstance(control, Menu) or lab.live.frame() != before[0]:
                break
        else:
            pytest.fail(f"no setting of {control.name} shows in the picture")
        lab.set(**{control.name: control.value})
        assert (lab.live.frame(), lab.params) == before, f"{control.name} does not come back"


@every_lab
def test_what_a_browser_is_told_of_a_target_is_json(make: Any) -> None:
    for target in make().targets:
        words = make(target=target).description.words()
        assert json.loads(json.dumps(words))["goal"].startswith("Target: ")


def test_a_first_look_sees_at_most_four_controls_and_one_that_plays() -> None:
    """And the docstring says in a sentence what is seen."""
    wrong = []
    for name, make in LABS:
        seen = [c for c in make().controls if not c.folded and not getattr(c, "hidden", False)]
        sliders = [c for c in seen if isinstance(c, Slider)]
        if len(seen) > 4:
            wrong.append(f"{name} shows {', '.join(c.name for c in seen)}")
        if sliders and not sliders[0].play:
            wrong.append(f"{name}: the first slider does not play")
        glance = gl.labs.glance(make)
        if not (glance.endswith(".") and len(glance) <= 150):
            wrong.append(f"{name} says nothing, or too much: {glance}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "make", [make for _, make in LABS if type(make()).idle is not gl.labs.Lab.idle]
)
def test_what_cannot_be_moved_would_change_nothing(make: Any) -> None:
    lab, found = make(), set()
    start = lab.params
    ends = [{c.name: c.minimum} for c in movable(lab) if isinstance(c, Slider)]
    chosen = [
        {c.name: value}
        for c in movable(lab)
        if isinstance(c, Menu | Toggle)
        for value in c.values()
    ]
    for state in (*lab.presets.values(), *ends, *chosen):
        lab.set(**{**start, **state})
        for name in lab.live.description.idle:
            before, was = (lab.live.frame(), lab.live.description.summary), lab.params[name]
            lab.set(**{name: other_value(replace(lab._controls[name], value=was))})
            assert (lab.live.frame(), lab.live.description.summary) == before, (state, name)
            lab.set(**{name: was})
            found.add(name)
    assert found, "some state has idle controls"


@every_lab
def test_bad_params_are_refused_and_change_nothing(make: Any) -> None:
    lab = make()
    before = lab.params
    with pytest.raises(
        ValueError, match=f"^gl.labs.{make.__name__} has no control 'speed'; allowed are "
    ):
        lab.set(**{movable(lab)[0].name: other_value(movable(lab)[0]), "speed": 1})
    for control in movable(lab):
        with pytest.raises((ValueError, TypeError), match=f"{control.name} must be"):
            lab.set(**{control.name: "no such value"})
    assert lab.params == before
    with pytest.raises(TypeError, match="unexpected keyword argument 'speed'"):
        make(speed=1)


@every_lab
def test_a_figure_shows_its_moving_artists_and_leaves_the_lab_alone(make: Any) -> None:
    lab = make()
    control = movable(lab)[0]
    before = lab.params
    figure = lab.figure(**{control.name: other_value(control)})
    assert isinstance(figure, Figure)
    assert lab.params == before
    assert not any(a.get_animated() for a in figure.findobj())


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.exhaustive] * (name not in SAVED_TWICE))
        for name, _ in LABS
    ],
)
def test_the_same_state_saves_the_same_bytes(
    name: str, shown: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make = gl.labs.catalog()[name]
    if name not in SAVED_TWICE:  # the same calls paint fewer pixels
        monkeypatch.setattr(_save, "DPI", 50)
    for copy, lab in {"a": shown(make), "b": make()}.items():
        # .svg and .pdf are drawn by the same calls as .png: what else is in them is the same for
        # all labs.
        for suffix in (".png", ".csv", *[".svg", ".pdf"] * (name in SAVED_TWICE)):
            lab.save(tmp_path / f"{copy}{suffix}")
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
    assert [float(row[0]) for row in rows] == pytest.approx(
        list(next(iter(columns.values()))), nan_ok=True
    )


@every_lab
def test_words_are_whole_sentences_with_a_number_and_repeat_exactly(make: Any) -> None:
    lab = make()
    words = lab.description
    assert words.alt.endswith(".")
    assert any(c.isdigit() for c in words.alt)
    assert words == make().description
    assert repr(lab) == f"{lab.label}: {words.summary}"
    assert len(words.table) >= 4


@pytest.mark.exhaustive
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


@pytest.mark.exhaustive
@every_lab
def test_the_axis_is_recorded_ahead_in_no_more_than_it_may_take(make: Any, shown: Any) -> None:
    lab = shown(make)
    control = {c.name: c for c in lab.controls}[lab.axis]
    values = control.values()
    frames = []
    for value in values[:: max(1, len(values) // 10)]:
        lab.set(**{lab.axis: value})
        frames.append((str(value), lab.live.description, lab.live.frame()))
    lab.set(**{lab.axis: control.value})
    assert len(pack(frames)) / len(frames) * len(values) < MOST_BYTES


@every_lab
def test_every_target_says_how_far_it_is_and_is_not_reached_at_the_start(make: Any) -> None:
    lab = make()
    for name in lab.targets:
        goal = make(target=name).description.goal
        assert goal.startswith("Target: ") and goal.endswith("not yet.")
    with pytest.raises(ValueError, match=r"^gl\.labs\.\w+ has no target 'moon'; it has "):
        type(lab)(target="moon")


@pytest.mark.exhaustive
@every_lab
def test_what_is_set_or_given_before_it_is_shown_is_what_a_cell_shows(make: Any) -> None:
    controls = movable(make())
    first, last = controls[0], controls[-1]
    params = {first.name: other_value(first)}
    if make().targets:
        params["target"] = next(iter(make().targets))
    lab = make(**params)
    assert lab.params[first.name] == other_value(first)
    lab.set(**{last.name: other_value(last)})
    assert lab.live.values == lab.params
    assert lab.params == make().params | {one.name: other_value(one) for one in (first, last)}
    assert lab.live.description.goal == lab.description.goal
    data, _ = lab._repr_mimebundle_()
    assert data["text/plain"] == repr(lab)
    assert f'alt="{escape(lab.description.alt)}"' in data["text/html"]
    assert "application/vnd.jupyter.widget-view+json" in data


@every_lab
def test_every_control_is_named_for_people_and_every_lab_described(make: Any) -> None:
    assert make.__doc__.splitlines()[0].endswith(".")
    for control in make().controls:
        assert control.label[0].isupper()
        assert isinstance(control, Button) or control.name in make.__doc__, (
            f"describe {control.name}"
        )


ROOT = Path(__file__).parents[2]


def anywhere(control: Any, data: st.DataObject) -> Any:
    """A value the control's handle can stand at."""
    if isinstance(control, Range):
        return tuple(sorted(anywhere(control.end, data) for _ in range(2)))
    if isinstance(control, Slider):
        return control.at(data.draw(st.integers(0, control.count)))
    return data.draw(st.sampled_from(control.values()))


@every_lab
@given(data=st.data())
@settings(max_examples=10)
def test_every_state_comes_back_from_its_link_and_its_code(make: Any, data: st.DataObject) -> None:
    lab = make()
    lab.set(**{c.name: anywhere(c, data) for c in lab.controls if not isinstance(c, Button)})
    assert len(lab.link()) <= MOST
    assert from_link(lab.link()).params == lab.params
    assert from_link(f"https://example.org/lab/tree/x.ipynb{lab.link()}").params == lab.params
    assert eval(lab.code(), {"gl": gl}).params == lab.params


def test_code_leaves_out_what_is_at_its_default() -> None:
    assert gl.labs.clip_libraries().code() == "gl.labs.clip_libraries()"
    assert gl.labs.clipping(limit=0.3).code() == "gl.labs.clipping(limit=0.3)"


@pytest.mark.parametrize(
    ("link", "message"),
    [
        (
            "https://example.org/x.ipynb",
            r"a link to a lab ends in #gl=1&lab=NAME&\.\.\., got 'https",
        ),
        ("#gl=2&lab=clipping", "made by another version of gradlab; this one reads #gl=1"),
        ("#gl=1&lab=cliping", "a lab 'cliping'; there are descent, clipping, "),
        (
            "#gl=1&lab=clipping&limmit=3&limit=1",
            "names 'limmit', which clipping does not have; its settings are limit",
        ),
        ("#gl=1&lab=clipping&limit=-3", "limit must be from 0.001 to 100000, got -3"),
        ("#gl=1&lab=clipping&limit=much", "limit must be a number, got 'much'"),
        ("#gl=1&lab=clipping&run=fast", "run must be one of 'none'"),
    ],
)
def test_a_link_that_says_something_else_is_refused_kindly(link: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        from_link(link)


@every_lab
def test_every_lab_has_a_page_on_binder(make: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(addresses, "REPOSITORY", "me/it")
    lab = make()
    address = lab.link("binder")
    (pull,) = parse_qs(urlsplit(address).query)["urlpath"]  # as BinderHub reads it
    (page,) = parse_qs(urlsplit(pull).query)["urlpath"]  # and nbgitpuller
    notebook, _, state = page.partition("#")
    assert (ROOT / notebook.removeprefix("lab/tree/course/")).is_file()
    assert f"#{state}" == lab.link()


def test_on_binder_a_link_launches_what_runs_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BINDER_LAUNCH_HOST", "https://binder.example.org/")
    monkeypatch.setenv("BINDER_REQUEST", "v2/gh/fork/gradlab/binder-jax")
    monkeypatch.setenv("BINDER_REPO_URL", "https://github.com/fork/gradlab")
    link = gl.labs.clipping().link("binder")
    assert link.startswith(
        "https://binder.example.org/v2/gh/fork/gradlab/binder-jax?urlpath=git-pull%3Frepo%3D"
    )
    assert link.partition("%3Frepo%3D")[2].startswith("https://github.com/fork/gradlab%26")


def test_without_a_repository_a_link_to_binder_says_how_to_set_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(addresses, "REPOSITORY", "")
    with pytest.raises(
        ValueError,
        match=r"no repository that Binder could open; `python -m notebooks\.repository OWNER",
    ):
        gl.labs.clipping().link("binder")


def test_where_there_is_no_page_a_link_says_so() -> None:
    class Mine(ClipArrowsLab):
        """A lab of the reader's."""

        function = ""

    with pytest.raises(ValueError, match="no notebook of gradlab's shows Mine"):
        Mine().link("binder")
    with pytest.raises(ValueError, match="to must be 'binder' or left out, got 'colab'"):
        gl.labs.clipping().link("colab")


@pytest.mark.parametrize(
    "link", Path(__file__).with_name("saved_links.txt").read_text("utf-8").split()
)
def test_a_link_made_by_an_earlier_version_opens(link: str) -> None:
    # Controls may be added, and change places.
    assert set(link.split("&")) <= set(from_link(link).link().split("&"))


def test_a_closed_lab_goes_on_from_its_values() -> None:
    lab = gl.labs.clip_arrows(limit=2.0)
    live = lab.live
    lab.set(limit=3.0)
    lab.close()
    lab.close()
    assert live.comm is None
    assert lab.params["limit"] == 3.0
    lab.set(limit=4.0)
    assert lab.live is not live
    assert lab.live.values["limit"] == 4.0


def test_what_a_notebook_asks_of_a_lab_that_fails_says_it_at_length_once() -> None:
    class Broken(ClipArrowsLab):
        def compute(self, values: dict[str, Any]) -> Any:
            raise MemoryError("no room")

    lab = Broken()
    with pytest.raises(MemoryError, match="no room"):
        lab._repr_mimebundle_()
    assert repr(lab) == f"{lab.label}: MemoryError: no room"  # what IPython asks for next
