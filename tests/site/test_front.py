"""The first pages of the site, with a repository and without one, and the buttons above a notebook."""

from __future__ import annotations

from pathlib import Path

import pytest

from gradlab._base import addresses
from notebooks import repository
from notebooks.site.pages import Notebook, write_texts

ROOT = Path(__file__).parents[2]
NOTEBOOK = Notebook(ROOT / "notebooks/02_clipping.ipynb")


def pages(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str) -> dict[str, str]:
    """The pages that say where else the course is, as a checkout with this repository builds them."""
    checkout, out = tmp_path / "checkout", tmp_path / "out"
    for path in ("gradlab/_base/addresses.py", *{place.path for place in repository.PLACES}):
        copy = checkout / path
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text((ROOT / path).read_text("utf-8"), "utf-8")
    repository.rename(name, checkout)
    monkeypatch.setattr(addresses, "REPOSITORY", name)
    out.mkdir()
    write_texts(out, [NOTEBOOK], checkout)
    texts = {
        name: (out / f"{name}.md").read_text("utf-8")
        for name in ("index", "install", "readme", "cite")
    }
    return texts | {"notebook": NOTEBOOK.page({})["cells"][0]["source"]}


def test_without_a_repository_no_page_leads_to_one(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name, text in pages(monkeypatch, tmp_path, "").items():
        for elsewhere in ("mybinder.org/v2", "colab.research", "github.io", "Open on", 'href=""'):
            assert elsewhere not in text, name


def test_with_a_repository_each_page_leads_there(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    found = pages(monkeypatch, tmp_path, "me/it")
    for name in ("index", "install", "readme", "notebook"):
        assert "https://mybinder.org/v2/gh/me/it/binder?" in found[name], name
    assert "url = {https://github.com/me/it}" in found["cite"]
    assert "Open on Colab" in found["notebook"]


@pytest.mark.parametrize("name", ["", "me/it"])
def test_the_first_page_keeps_the_film_of_the_readme(
    name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert "![The clipping lab" in pages(monkeypatch, tmp_path, name)["index"]
