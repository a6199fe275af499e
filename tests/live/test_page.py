"""A saved page: what is in the file, and what a reader can do with it in a browser that has nothing else."""

import json
import re
import struct
import zlib
from base64 import b64decode
from collections.abc import Callable, Iterator
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.figure import Figure

from gradlab.live import Description, LiveFigure, Preset, Slider, page
from gradlab.live.page import BLOCK, RATIO, blocks, page_html

from ..browser.axe import violations
from .everything import everything
from .examples import clipped

CODE = 'lab("a < b")'


def data_of(html: str) -> dict[str, Any]:
    """The data in a page."""
    return json.loads(re.search(r'<script id="data" type="application/json">(.*?)</script>', html, re.DOTALL)[1])


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


# What is in the file


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
        position = live._controls["limit"].position(values["limit"])
        assert frame == live.frame(RATIO)
        assert words == json.loads(json.dumps(live.description.words()))
        assert key is not None and key.startswith(f"{position},5-20,")


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
        live._scene.figure.set_size_inches((3, 5) if narrow else (4, 2.5))

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


# What a reader can do with it

Opened = Callable[..., Any]


@pytest.fixture(scope="module")
def saved(html: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("pages") / "everything.html"
    path.write_text(html, "utf-8")
    return path


@pytest.fixture
def opened(chromium: Any) -> Iterator[Opened]:
    """Opens files; none of them may ask for anything or log an error."""
    pages, troubles = [], []

    def is_asked(request: Any) -> None:
        if not request.url.startswith(("file:", "blob:", "data:")):
            troubles.append(request.url)

    def open_page(path: Path, link: str = "", **options: Any) -> Any:
        page = chromium.new_page(**{"viewport": {"width": 1000, "height": 900}} | options)
        pages.append(page)
        page.on("request", is_asked)
        page.on("pageerror", lambda error: troubles.append(str(error)))
        page.on("console", lambda message: troubles.append(message.text) if message.type == "error" else None)
        page.goto(f"{path.as_uri()}{link}")
        return page

    yield open_page
    for one in pages:
        one.close()
    assert not troubles


def ready(page: Any) -> Any:
    page.locator(".gl-live[data-frame]").wait_for()
    return page


def picture(page: Any) -> str:
    return page.locator(".gl-moving").evaluate("(canvas) => canvas.toDataURL()")


def slider(page: Any) -> Any:
    return page.get_by_role("slider", name="Limit", exact=True)


browser = pytest.mark.browser


@browser
def test_it_shows_the_saved_state(saved: Path, opened: Opened) -> None:
    page = ready(opened(saved))
    assert page.title() == "Everything"
    assert page.get_by_role("img", name="The limit is 1.").count() == 1
    assert slider(page).get_attribute("aria-valuetext") == "1 N"
    assert page.locator("noscript figure").count() == 0
    assert page.locator("code").inner_text() == CODE


@browser
def test_keys_scrub_picture_words_and_values(saved: Path, opened: Opened) -> None:
    page = ready(opened(saved))
    seen = {picture(page)}
    for key, limit in (("End", "10"), ("Home", "0.1"), ("ArrowRight", "0.105"), ("ArrowRight", "0.11")):
        slider(page).press(key)
        page.get_by_role("img", name=f"The limit is {limit}.").wait_for()
        seen.add(picture(page))
        assert page.locator(".gl-readout").inner_text().startswith(f"limit {limit}, mean")
    assert len(seen) == 5
    page.get_by_text("Values").click()
    assert page.locator("td").inner_text() == "0.11"


@browser
def test_the_pointer_scrubs_too(saved: Path, opened: Opened) -> None:
    page = ready(opened(saved))
    before, box = picture(page), slider(page).bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] - 2, box["y"] + box["height"] / 2, steps=8)
    page.mouse.up()
    page.get_by_role("img", name="The limit is 10.").wait_for()
    assert picture(page) != before
    line = page.get_by_role("slider", name="Limit line").bounding_box()
    page.mouse.move(line["x"] + line["width"] / 2, line["y"] + line["height"] / 2)
    page.mouse.down()
    page.mouse.move(line["x"] + line["width"] / 2, line["y"] + 1000, steps=8)
    page.mouse.up()
    page.get_by_role("img", name="The limit is 0.1.").wait_for()


@browser
def test_menus_move_and_what_is_fixed_does_not(saved: Path, opened: Opened) -> None:
    page = ready(opened(saved))
    page.get_by_role("combobox", name="Rule").select_option("none")
    slider(page).press("End")
    page.get_by_role("img", name="The limit is 10.").wait_for()
    assert page.get_by_role("combobox", name="Rule").evaluate("(menu) => menu.selectedOptions[0].label") == "none"
    for role, name in (("slider", "Window, from"), ("slider", "Window, to"), ("switch", "Clip"), ("button", "Train")):
        assert page.get_by_role(role, name=name).is_disabled(), name
    assert page.get_by_role("button", name="Zoom").count() == 0


@browser
def test_it_plays_and_goes_back(saved: Path, opened: Opened) -> None:
    page = ready(opened(saved))
    page.get_by_role("button", name="Step forward").click()
    page.get_by_role("img", name="The limit is 1.05.").wait_for()
    page.get_by_role("button", name="Play", exact=True).click()
    page.wait_for_timeout(400)
    page.get_by_role("button", name="Pause").click()
    assert float(slider(page).get_attribute("aria-valuetext").split()[0]) > 1.1
    page.get_by_role("button", name="Reset").click()
    page.get_by_role("img", name="The limit is 1.", exact=True).wait_for()


@browser
def test_a_link_opens_the_nearest_state_and_moves_nothing_that_is_fixed(saved: Path, opened: Opened) -> None:
    page = ready(opened(saved, "#gl=1&lab=everything&limit=3.3333&rule=ada&on=0&window=0~39"))
    page.get_by_role("img", name="The limit is 3.31.").wait_for()
    assert slider(page).get_attribute("aria-valuetext") == "3.31 N"
    assert page.get_by_role("combobox", name="Rule").evaluate("(menu) => menu.selectedOptions[0].label") == "Adagrad"
    assert page.get_by_role("switch", name="Clip").is_checked()
    assert page.get_by_role("slider", name="Window, from").get_attribute("aria-valuetext") == "5 steps"


@browser
def test_the_saved_state_may_lie_between_positions(opened: Opened, tmp_path: Path) -> None:
    live = clipped(axis="limit")
    live.set(limit=7.654321)
    (tmp_path / "x.html").write_text(page_html(live), "utf-8")
    page = ready(opened(tmp_path / "x.html"))
    page.get_by_role("img", name="The limit is 7.65432.").wait_for()
    slider(page).press("Home")
    page.get_by_role("img", name="The limit is 0.01.").wait_for()
    page.get_by_role("button", name="Reset").click()
    page.get_by_role("img", name="The limit is 7.65432.").wait_for()


@browser
@pytest.mark.parametrize("first", ["light", "dark"])
def test_it_is_as_dark_as_the_screen_and_a_button_turns_it(saved: Path, opened: Opened, first: str) -> None:
    page = ready(opened(saved, color_scheme=first))
    background = "getComputedStyle(document.body).backgroundColor"
    dark, light = "rgb(17, 17, 17)", "rgb(255, 255, 255)"
    assert page.evaluate(background) == (dark if first == "dark" else light)
    before = picture(page)
    page.get_by_role("button", name="Dark page").click()
    page.locator(".gl-live.gl-dark" if first == "light" else ".gl-live:not(.gl-dark)").wait_for()
    assert page.evaluate(background) == (light if first == "dark" else dark)
    page.wait_for_timeout(200)
    assert picture(page) != before
    assert page.get_by_role("button", name="Dark page").get_attribute("aria-pressed") == str(first == "light").lower()
    slider(page).press("End")
    page.get_by_role("img", name="The limit is 10.").wait_for()


@browser
def test_the_theme_follows_the_screen_while_it_is_open(saved: Path, opened: Opened) -> None:
    page = ready(opened(saved))
    before = picture(page)
    page.emulate_media(color_scheme="dark")
    page.locator(".gl-live.gl-dark").wait_for()
    page.wait_for_timeout(200)
    assert picture(page) != before


@browser
def test_a_phone_shows_all_of_it_and_the_layout_for_it(opened: Opened, tmp_path: Path) -> None:
    def arrange(narrow: bool) -> None:
        live._scene.figure.set_size_inches((3, 5) if narrow else (4, 2.5))

    live = clipped(axis="limit", arrange=arrange)
    (tmp_path / "x.html").write_text(page_html(live, "x = " + "1 + " * 60), "utf-8")
    page = ready(opened(tmp_path / "x.html", viewport={"width": 390, "height": 844}))
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    tall = page.locator(".gl-picture").bounding_box()
    assert tall["height"] > tall["width"]
    slider(page).press("End")
    page.get_by_role("img", name="The limit is 100.").wait_for()
    page.set_viewport_size({"width": 900, "height": 700})
    page.wait_for_timeout(300)
    wide = page.locator(".gl-picture").bounding_box()
    assert wide["width"] > wide["height"]
    assert slider(page).get_attribute("aria-valuetext") == "100 N"
    slider(page).press("Home")
    page.get_by_role("img", name="The limit is 0.01.").wait_for()


@browser
@pytest.mark.parametrize("color_scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1000, 390])
def test_axe_finds_nothing(saved: Path, opened: Opened, color_scheme: str, width: int) -> None:
    size = {"width": width, "height": 844}
    page = ready(opened(saved, viewport=size, color_scheme=color_scheme, bypass_csp=True))  # axe adds a script
    page.locator("summary").click()
    assert violations(page, "body") == []


@browser
def test_without_scripts_the_picture_and_the_values_are_there(saved: Path, opened: Opened) -> None:
    page = opened(saved, java_script_enabled=False)
    assert page.get_by_role("img", name="The limit is 1.").bounding_box()["width"] > 400
    assert page.locator("figcaption").inner_text().startswith("limit 1, mean")
    page.locator("summary").click()
    assert page.locator("td").inner_text() == "1"
    assert not page.get_by_role("button", name="Dark page").is_visible()
