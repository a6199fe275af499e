"""Links to a place within a page: GitHub and JupyterLab name a heading differently, and both must
find it.
"""

import re
from pathlib import Path

import pytest

from tests.notebooks import save
from tests.notebooks.test_course import cells

PAGES = sorted(path for path in save.FOLDER.iterdir() if path.suffix in (".ipynb", ".md"))
LINK = re.compile(r"\]\(([^)#\s]*)#([^)\s]+)\)")


def text_of(path: Path) -> str:
    text = (
        "\n".join(cells(path, "markdown")) if path.suffix == ".ipynb" else path.read_text("utf-8")
    )
    return re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)


def headings(text: str) -> list[str]:
    """What a reader sees of each heading."""
    found = re.findall(r"^#{1,6} +(.+?) *$", text, flags=re.M)
    return [re.sub(r"\[([^\]]*)\]\([^)]*\)|[*`]", r"\1", heading) for heading in found]


def of_github(heading: str) -> str:
    """Give the anchor of a heading on GitHub; MyST makes the same for the site."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def of_jupyterlab(heading: str) -> str:
    """Give the anchor of a heading as `createHeaderId` of JupyterLab does, which keeps capitals and
    punctuation.
    """
    return heading.replace(" ", "-")


def lost(text: str, page: str, folder: Path) -> list[str]:
    """The links of a text that one of the two doesn't find; `page` is its own name, for links
    within it.
    """
    found = []
    for name, anchor in LINK.findall(text):
        if "://" in name:
            continue
        known = headings(text if name in ("", page) else text_of(folder / name))
        if not any(of_github(heading) == of_jupyterlab(heading) == anchor for heading in known):
            found.append(f"{name}#{anchor}")
    return found


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_github_and_jupyterlab_find_the_place_of_every_link(path: Path) -> None:
    assert lost(text_of(path), path.name, save.FOLDER) == []


def test_a_place_that_one_of_them_misses_is_seen(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# Title\n\n## loss scale\n\n## Norm\n\n## what if?\n", "utf-8")
    text = (
        "[a](a.md#loss-scale) [b](a.md#norm) [c](a.md#Norm) "
        "[d](a.md#what-if) [e](#here)\n\n## here\n"
    )
    assert lost(text, "b.md", tmp_path) == ["a.md#norm", "a.md#Norm", "a.md#what-if"]


def test_the_notebooks_have_such_links() -> None:
    assert sum(len(LINK.findall(text_of(path))) for path in PAGES) > 20
