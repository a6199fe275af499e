"""A saved page: what is in the file."""

import json
import re
import struct
import zlib
from base64 import b64decode
from html import unescape
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.figure import Figure

from gradlab.live import Description, LiveFigure, Preset, Slider, page
from gradlab.live.page import BLOCK, RATIO, blocks, page_html
from tests.live.everything import everything
from tests.live.examples import clipped

CODE = 'lab("a < b")'


def data_of(html: str) -> dict[str, Any]:
    """The data in a page."""
    return json.loads(re.search(r'<script type="application/json">(.*?)</script>', html, re.DOTALL)[1])


def states_of(layout: dict[str, Any]) -> list[tuple[dict[str, Any], str | None, dict[str, Any], bytes]]:
    """The states in a layout, each with its display list."""
    plain = zlib.decompress(b64decode(layout["states"]))
    (size,) = struct.unpack_from("<I", plain)
    contents, at, parts = json.loads(plain[4 : 4 + size]), 4 + size, []
    for length in contents["lengths"]:
        parts.append(plain[at : at + length])
        at += length
    return [(values, key, words, b"".join(parts[k] for k in ks)) for values, key, words, ks in contents["states"]]


@pytest.fixture(scope="module")
def html() -> str:
    return page_html(everything(axis="limit"), CODE)


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
    assert "Fixed in this page, free to move in a notebook: Window, Clip, Knot 0, Knot 1, Knot 2, Train." in plain


def test_nothing_in_it_points_to_a_network(html: str) -> None:
    assert "default-src 'none'" in html
    addresses = set(re.findall(r"\b(?:https?|wss?):[^\s\"'`)]*", html))
    assert addresses <= {"http://www.w3.org/2000/svg"}  # the name of a language, not an address to ask


def test_states_are_the_figure_s_own(html: str) -> None:
    live = everything(axis="limit")
    states = states_of(data_of(html)["layouts"][0])
    assert len(states) == 102 * 4  # 101 positions, and where a preset is
    for values, key, words, frame in states[::97]:
        live.set(**values)
        position = live._state.controls["limit"].position(values["limit"])
        assert frame == live.frame(RATIO)
        assert words == json.loads(json.dumps(live.description.words()))
        assert key.startswith(f"{position},5-20,")


def test_what_does_not_move_here_is_fixed_and_has_no_handle(html: str) -> None:
    setup = data_of(html)["layouts"][0]["setup"]
    assert [c["name"] for c in setup["controls"] if not c.get("fixed")] == ["limit", "rule"]
    assert [area["label"] for area in setup["areas"]] == ["Limit line"]
    assert setup["fixed"] is True
    assert setup["presets"] == []


def test_presets_that_the_page_can_show_are_kept() -> None:
    live = everything(axis="limit", arrange=lambda narrow: None)
    assert page_html(live)
    live = clipped(axis="limit", presets=[Preset("Low", {"limit": 0.012345}), Preset("Late", {"phase": 5.0})])
    setup = data_of(page_html(live))["layouts"][0]["setup"]
    assert setup["presets"] == [{"label": "Low", "values": {"limit": 0.012345}}]


def test_a_state_that_cannot_be_shown_is_left_out() -> None:
    states = states_of(data_of(page_html(clipped()))["layouts"][0])
    assert [values for values, *_ in states] == [{"rule": "sgd"}, {"rule": "ada"}]


def test_a_page_that_would_be_too_large_has_fewer_states(monkeypatch: pytest.MonkeyPatch) -> None:
    large = len(page_html(clipped(axis="limit")).encode())
    monkeypatch.setattr(page, "MOST_BYTES", large - 1)
    html = page_html(clipped(axis="limit"))
    assert len(html.encode()) < large
    assert len(states_of(data_of(html)["layouts"][0])) < 201 * 2
    monkeypatch.setattr(page, "MOST_BYTES", 1)
    assert 1 <= len(states_of(data_of(page_html(clipped(axis="limit")))["layouts"][0])) <= 5


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


@given(st.lists(st.integers(0, 900), max_size=8), st.sampled_from([4, 64, BLOCK]))
def test_blocks_make_up_the_list_and_belong_to_one_operation(sizes: list[int], most: int) -> None:
    frame = b"".join(struct.pack("<II", 3, size + 2) + bytes(4 * size) for size in sizes)
    cut = list(blocks(frame, most))
    assert b"".join(block for _, block in cut) == frame
    assert all(0 < len(block) <= most and len(block) % 4 == 0 for _, block in cut)
    assert len({place for place, _ in cut}) == len(cut)
    assert {number for (number, _), _ in cut} == set(range(len(sizes)))
