"""The page of every lab, in the browser that the tests of this folder share."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import gradlab as gl
from gradlab.live.page import MOST_BYTES, page_html

# The axis of one is a menu, that of the other a slider; pages of all other labs take minutes.
OPENED = ("clip_libraries", "sync_replicas")


@pytest.fixture(scope="module")
def phone(chromium: Any) -> Iterator[tuple[Any, list[str]]]:
    """One page for all labs, for to open another takes as long as to show a lab; and what it asked
    for or said.
    """
    page, asked = chromium.new_page(viewport={"width": 390, "height": 844}), []
    page.on("request", lambda request: asked.append(request.url.partition(":")[0]))
    page.on("pageerror", lambda error: asked.append(str(error)))
    yield page, asked
    page.close()


@pytest.mark.browser
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.exhaustive] * (name not in OPENED))
        for name in gl.labs.catalog()
    ],
)
def test_a_page_of_every_lab_is_small_and_moves(
    name: str, tmp_path: Path, phone: tuple[Any, list[str]]
) -> None:
    """With few states: a page is made with ever fewer of them until it is small, so one with more
    is small as well.
    """
    lab = gl.labs.catalog()[name]()
    (tmp_path / "x.html").write_text(
        page_html(lab.live, most=24 if name in OPENED else 4)[0], "utf-8"
    )
    assert (tmp_path / "x.html").stat().st_size <= MOST_BYTES
    page, asked = phone
    asked.clear()
    page.goto((tmp_path / "x.html").as_uri())
    page.locator(".gl-live[data-frame]").wait_for()
    assert page.get_by_role("img", name=lab.description.alt, exact=True).count() == 1
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    control = page.locator("input:enabled:visible, select:enabled:visible").first
    control.press("Home")
    page.wait_for_timeout(300)
    alt = page.locator(".gl-moving").get_attribute("aria-label")
    control.press("End")
    page.locator(f".gl-moving:not([aria-label={json.dumps(alt)}])").wait_for()
    assert set(asked) <= {"file", "blob"}
