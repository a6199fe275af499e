"""The page that leads to all labs: what stands on its cards, in which order, and where pictures
come from.
"""

import io
import re
from base64 import b64decode
from collections.abc import Iterator
from html.parser import HTMLParser
from typing import Any

import pytest
from PIL import Image

import gradlab as gl
from gradlab._app import cards
from gradlab._base import notebooks
from gradlab.labs._clip_arrows.lab import ClipArrowsLab


@pytest.fixture(scope="module")
def page() -> str:
    return cards.page(gl.labs.catalog(), lambda notebook: f"beside/{notebook}")


def test_every_lab_has_a_card_under_its_notebook(page: str) -> None:
    groups = dict(group.split("\n", 1) for group in page.split("\n## ")[1:])
    others = groups.pop("More labs", "")
    assert not any(
        notebooks.find_with_lab(name) for name in re.findall(r'href="(\w+)\.ipynb"', others)
    )
    assert [*groups] == [title for _, title in notebooks.titles() if title in groups]
    for title, rest in groups.items():
        (file,) = (file for file, known in notebooks.titles() if known == title)
        assert re.search(
            rf"\[Its notebook\]\(beside/{file}\) \(\d\d minutes\) teaches you to \w", rest
        )
        assert all(
            notebooks.find_with_lab(name)[0] == file
            for name in re.findall(r'href="(\w+)\.ipynb"', rest)
        )
    assert sorted(re.findall(r'href="(\w+)\.ipynb"', page)) == sorted(gl.labs.catalog())
    assert all(f"<b>{make().label}</b>" in page for make in gl.labs.catalog().values())


def test_without_an_address_a_notebook_is_named_and_not_linked() -> None:
    alone = cards.page({"clipping": gl.labs.clipping}, lambda notebook: "")
    assert "\nIts notebook `02_clipping.ipynb` (" in alone
    assert "](" not in alone


def test_pictures_are_small_and_those_that_the_notebooks_were_saved_with(page: str) -> None:
    found = [b64decode(data) for data in re.findall(r'src="data:image/\w+;base64,([^"]+)"', page)]
    assert len(found) == len(gl.labs.catalog())
    assert sum(map(len, found)) < 600_000
    for data in found:
        width, height = Image.open(io.BytesIO(data)).size
        assert width <= cards.SIZE[0] and height <= cards.SIZE[1] and max(width, height) > 300


def test_a_lab_that_no_notebook_shows_is_painted_and_html_stays_html(page: str) -> None:
    class Mine(ClipArrowsLab):
        """Compare a < b."""

        function = ""
        label = "Mine & yours"

    alone = cards.page({"mine": Mine}, str)
    assert "## More labs" in alone
    assert "<b>Mine &amp; yours</b></a><p>Compare a &lt; b.</p>" in alone
    for html in (alone, page):
        assert list(balanced(html[html.index("<ul") :])) == []


def balanced(html: str) -> Iterator[str]:
    """The elements that are not closed, or closed twice."""
    stack: list[str] = []

    class Reader(HTMLParser):
        def handle_starttag(self, tag: str, _: Any) -> None:
            if tag != "img":
                stack.append(tag)

        def handle_endtag(self, tag: str) -> None:
            assert stack.pop() == tag

    Reader().feed(html)
    yield from stack
