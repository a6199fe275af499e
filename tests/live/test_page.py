"""A saved page: what is in the file."""

import json
import re
from html import unescape
from typing import Any

import pytest
from matplotlib.figure import Figure

from gradlab.live import Description, LiveFigure, Preset, Slider
from gradlab.live import page as saved
from gradlab.live.page import RATIO
from tests.live.everything import everything
from tests.live.examples import clipped
from tests.live.saved import data_of, states_of
from tests.live.test_packed import alike

CODE = 'lab("a < b")'


def page_html(live: LiveFigure, code: str = "", **more: Any) -> str:
    return saved.page_html(live, code, **more)[0]


@pytest.fixture(scope="module")
def html() -> str:
    return page_html(everything(axis="limit"), CODE)


@pytest.mark.exhaustive
def test_the_same_state_gives_the_same_bytes(html: str) -> None:
    assert page_html(everything(axis="limit"), CODE) == html


def test_text_can_be_read_without_scripts(html: str) -> None:
    plain = unescape(re.sub(r"<script.*?</script>|<style.*?</style>", "", html, flags=re.DOTALL))
    for text in (
        "<title>Everything</title>",
        "<h1>Everything</h1>",
        "limit 1, mean",
        '<th scope="row">limit</th>',
        CODE,
    ):
        assert text in plain
    assert '<noscript><figure role="group"' in html
    assert 'content="The limit is 1."' in html
    assert "Free to move only with Python: Window." in plain


def test_nothing_in_it_points_to_a_network(html: str) -> None:
    assert "default-src 'none'" in html
    addresses = set(re.findall(r"\b(?:https?|wss?):[^\s\"'`)]*", html))
    # The name of a language, not an address to ask.
    assert addresses <= {"http://www.w3.org/2000/svg"}


def test_states_are_the_figure_s_own(html: str) -> None:
    live = everything(axis="limit")
    states, start = states_of(data_of(html)), dict(live.values)
    assert 400 < len(states) <= 500
    for values, _, words, frame in states[::97]:
        live.set(**{**start, **values})
        alike(live.frame(RATIO), frame)
        assert words == json.loads(json.dumps(live.description.words()))


def test_what_no_state_changes_is_not_shown_and_has_no_handle(html: str) -> None:
    setup = data_of(html)["layouts"][0]["setup"]
    assert "train" not in {c["name"] for c in setup["controls"]}
    assert [c["name"] for c in setup["controls"] if c.get("fixed")] == ["window"]
    assert setup["fixed"] is True


def test_every_preset_is_kept() -> None:
    live = clipped(
        axis="limit", presets=[Preset("Low", {"limit": 0.012345}), Preset("Late", {"phase": 5.0})]
    )
    data = data_of(page_html(live, most=12))
    assert [preset["label"] for preset in data["layouts"][0]["setup"]["presets"]] == ["Low", "Late"]
    found = [values for values, *_ in states_of(data)]
    assert {"limit": 0.012345} in found and {"phase": 5.0} in found


def test_a_state_that_cannot_be_shown_is_left_out() -> None:
    states = states_of(data_of(page_html(clipped(), most=3)))
    assert [values for values, *_ in states] == [{}, {"rule": "ada"}]


def test_a_page_has_as_many_states_as_fit() -> None:
    whole, part = saved.page_html(clipped(axis="limit"))
    assert part.states > 300 and part.bytes == sum(
        map(len, re.findall('"(?:states|masks)": "([^"]*)"', whole))
    )
    room = len(whole) - part.bytes // 2
    half, fewer = saved.page_html(clipped(axis="limit"), bytes_most=room)
    assert 0.9 * room < len(half.encode()) <= room and 60 < fewer.states < part.states
    assert len(states_of(data_of(page_html(clipped(axis="limit"), bytes_most=1)))) <= 5


def test_a_goal_that_no_state_reaches_is_left_out() -> None:
    for where, reached in ((50.0, True), (2000.0, False)):
        live = clipped(axis="limit")
        update = live._state._update
        live._state._update = lambda values, update=update, where=where: Description(
            update(values).alt, "x", goal="Target", met=values["limit"] > where
        )
        html, part = saved.page_html(live, most=20)
        assert part.reached is reached
        assert {words["goal"] for *_, words, _ in states_of(data_of(html))} == (
            {"Target"} if reached else {""}
        )


def test_a_figure_that_can_be_arranged_has_a_narrow_layout() -> None:
    def arrange(narrow: bool) -> None:
        live._state.scene.figure.set_size_inches((3, 5) if narrow else (4, 2.5))

    live = clipped(axis="limit", arrange=arrange)
    wide, narrow = (layout["setup"]["size"] for layout in data_of(page_html(live))["layouts"])
    assert (wide, narrow) == ([400, 250], [300, 500])


def test_whatever_a_figure_says_stays_text() -> None:
    evil = "</script><script>window.evil = 1</script><!--"
    figure = Figure(figsize=(2, 1))
    (line,) = figure.add_subplot().plot([0, 1], animated=True)

    def update(values: dict[str, Any]) -> Description:
        line.set_ydata([0, values["x"]])
        return Description(evil, evil, ((evil, evil),), goal=evil)

    live = LiveFigure(figure, [Slider("x", evil, 0, 1, 1)], update, label=evil)
    html = page_html(live, code=evil)
    assert html.count("<script") == html.count("</script") == 2
    assert "<!--" not in html
