"""A saved page as a reader uses it, in a browser that has nothing else."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from gradlab.live.page import page_html
from tests.browser.axe import violations
from tests.live.everything import everything
from tests.live.examples import clipped

CODE = 'lab("a < b")'
Opened = Callable[..., Any]

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("pages") / "everything.html"
    path.write_text(page_html(everything(axis="limit"), CODE)[0], "utf-8")
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
        page.on(
            "console",
            lambda message: troubles.append(message.text) if message.type == "error" else None,
        )
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


def another_picture(page: Any, before: str) -> None:
    page.wait_for_function(
        "(old) => document.querySelector('.gl-moving').toDataURL() !== old", arg=before
    )


def slider(page: Any) -> Any:
    return page.get_by_role("slider", name="Limit", exact=True)


def test_it_shows_the_saved_state(saved: Path, opened: Opened) -> None:
    page = ready(opened(saved))
    assert page.title() == "Everything"
    assert page.get_by_role("img", name="The limit is 1.").count() == 1
    assert slider(page).get_attribute("aria-valuetext") == "1 N"
    assert page.locator("noscript figure").count() == 0
    assert page.locator("code").inner_text() == CODE


def test_keys_scrub_picture_words_and_values(saved: Path, opened: Opened) -> None:
    page = ready(opened(saved))
    seen = {picture(page)}
    for key, limit in (
        ("End", "10"),
        ("Home", "0.1"),
        ("ArrowRight", "0.105"),
        ("ArrowRight", "0.11"),
    ):
        slider(page).press(key)
        page.get_by_role("img", name=f"The limit is {limit}.").wait_for()
        seen.add(picture(page))
        assert page.locator(".gl-readout").inner_text().startswith(f"limit {limit}, mean")
    assert len(seen) == 5
    page.get_by_text("Values").click()
    assert page.locator("td").inner_text() == "0.11"


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


def test_menus_move_and_what_is_fixed_does_not(saved: Path, opened: Opened) -> None:
    page = ready(opened(saved))
    page.get_by_role("combobox", name="Rule").select_option("none")
    slider(page).press("End")
    page.get_by_role("img", name="The limit is 10.").wait_for()
    assert (
        page.get_by_role("combobox", name="Rule").evaluate(
            "(menu) => menu.selectedOptions[0].label"
        )
        == "none"
    )
    for end in ("from", "to"):
        assert page.get_by_role("slider", name=f"Window, {end}").is_disabled(), (
            "no state has another window"
        )
    assert page.get_by_role("button", name="Train").count() == 0
    assert page.get_by_role("button", name="Zoom").count() == 0


def test_it_plays_and_goes_back(saved: Path, opened: Opened) -> None:
    page = ready(opened(saved))
    page.get_by_role("button", name="Step forward").click()
    page.get_by_role("img", name="The limit is 1.05.").wait_for()
    page.get_by_role("combobox", name="Speed").select_option("0.25×")
    page.get_by_role("button", name="Play", exact=True).click()
    page.wait_for_function(
        "() => parseFloat(document.querySelector('.gl-slider input').ariaValueText) > 1.1"
    )
    page.get_by_role("button", name="Pause").click()
    page.get_by_role("button", name="Reset").click()
    page.get_by_role("img", name="The limit is 1.", exact=True).wait_for()


def test_a_link_opens_the_nearest_state_and_moves_nothing_that_is_fixed(
    saved: Path, opened: Opened
) -> None:
    page = ready(opened(saved, "#gl=1&lab=everything&limit=3.3333&rule=ada&window=0~39"))
    page.locator(".gl-moving:not([aria-label='The limit is 1.'])").wait_for()
    assert 2 < float(slider(page).get_attribute("aria-valuetext").split()[0]) < 5
    assert (
        page.get_by_role("combobox", name="Rule").evaluate(
            "(menu) => menu.selectedOptions[0].label"
        )
        == "Adagrad"
    )
    assert page.get_by_role("switch", name="Clip").is_checked()
    assert (
        page.get_by_role("slider", name="Window, from").get_attribute("aria-valuetext") == "5 steps"
    )


def test_the_saved_state_may_lie_between_positions(opened: Opened, tmp_path: Path) -> None:
    live = clipped(axis="limit")
    live.set(limit=7.654321)
    (tmp_path / "x.html").write_text(page_html(live)[0], "utf-8")
    page = ready(opened(tmp_path / "x.html"))
    page.get_by_role("img", name="The limit is 7.65432.").wait_for()
    slider(page).press("Home")
    page.get_by_role("img", name="The limit is 0.01.").wait_for()
    page.get_by_role("button", name="Reset").click()
    page.get_by_role("img", name="The limit is 7.65432.").wait_for()


@pytest.mark.parametrize("first", ["light", "dark"])
def test_it_is_as_dark_as_the_screen_and_a_button_turns_it(
    saved: Path, opened: Opened, first: str
) -> None:
    page = ready(opened(saved, color_scheme=first))
    background = "getComputedStyle(document.body).backgroundColor"
    dark, light = "rgb(17, 17, 17)", "rgb(255, 255, 255)"
    assert page.evaluate(background) == (dark if first == "dark" else light)
    before = picture(page)
    other = {"light": "Dark page", "dark": "Light page"}
    page.get_by_role("button", name=other[first]).click()
    page.locator(".gl-live.gl-dark" if first == "light" else ".gl-live:not(.gl-dark)").wait_for()
    assert page.evaluate(background) == (light if first == "dark" else dark)
    another_picture(page, before)
    back = {"light": "Light page", "dark": "Dark page"}
    page.get_by_role("button", name=back[first]).wait_for()
    slider(page).press("End")
    page.get_by_role("img", name="The limit is 10.").wait_for()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_what_is_printed_is_what_can_be_read_on_paper(
    saved: Path, opened: Opened, theme: str
) -> None:
    page = ready(opened(saved, color_scheme=theme))
    page.emulate_media(media="print")
    for part in (
        ".gl-readout",
        ".gl-picture",
        ".gl-main label",
        ".gl-main .gl-value",
        ".gl-controls select",
    ):
        assert page.locator(part).first.is_visible(), part
    for part in (
        "header button",
        ".gl-main input",
        ".gl-presets",
        ".gl-tools",
        ".gl-player",
        "#code",
    ):
        assert not page.locator(part).first.is_visible(), part
    turned = page.evaluate("getComputedStyle(document.querySelector('.gl-live')).filter")
    assert turned.startswith("invert(1)") == (theme == "dark")


def test_the_theme_follows_the_screen_while_it_is_open(saved: Path, opened: Opened) -> None:
    page = ready(opened(saved))
    before = picture(page)
    page.emulate_media(color_scheme="dark")
    page.locator(".gl-live.gl-dark").wait_for()
    another_picture(page, before)


def test_a_phone_shows_all_of_it_and_the_layout_for_it(opened: Opened, tmp_path: Path) -> None:
    def arrange(narrow: bool) -> None:
        live._state.scene.figure.set_size_inches((3, 5) if narrow else (4, 2.5))

    live = clipped(axis="limit", arrange=arrange)
    (tmp_path / "x.html").write_text(page_html(live, "x = " + "1 + " * 60)[0], "utf-8")
    page = ready(opened(tmp_path / "x.html", viewport={"width": 390, "height": 844}))
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    tall = page.locator(".gl-picture").bounding_box()
    assert tall["height"] > tall["width"]
    slider(page).press("End")
    page.get_by_role("img", name="The limit is 100.").wait_for()
    page.set_viewport_size({"width": 900, "height": 700})
    page.wait_for_function("""() => {
      const box = document.querySelector(".gl-picture").getBoundingClientRect();
      return box.width > box.height }""")
    assert slider(page).get_attribute("aria-valuetext") == "100 N"
    slider(page).press("Home")
    page.get_by_role("img", name="The limit is 0.01.").wait_for()


def test_axe_finds_nothing(saved: Path, opened: Opened) -> None:
    page = ready(opened(saved, color_scheme="light", bypass_csp=True))  # axe adds a script
    page.locator("summary").click()
    for color_scheme, theme in (("light", ".gl-live:not(.gl-dark)"), ("dark", ".gl-live.gl-dark")):
        page.emulate_media(color_scheme=color_scheme)
        page.locator(theme).wait_for()
        for width in (1000, 390):
            page.set_viewport_size({"width": width, "height": 844})
            assert violations(page, "html") == [], (color_scheme, width)


def test_without_scripts_the_picture_and_the_values_are_there(saved: Path, opened: Opened) -> None:
    page = opened(saved, java_script_enabled=False)
    assert page.get_by_role("img", name="The limit is 1.").bounding_box()["width"] > 400
    assert page.locator("figcaption").inner_text().startswith("limit 1, mean")
    page.locator("summary").click()
    assert page.locator("td").inner_text() == "1"
    assert not page.get_by_role("button", name="Dark page").is_visible()
