"""`gradlab dashboard`: the pages it writes, what it shows first, and what it refuses."""

from __future__ import annotations

import json
import re
import shutil
import sys
import types
from pathlib import Path
from typing import Any

import pytest

import gradlab as gl
from gradlab import __main__ as command
from gradlab._app import dashboard
from gradlab._base import addresses, notebooks
from gradlab._base.extras import missing

STATE = "#gl=1&lab=clipping&limit=0.3"


@pytest.mark.parametrize(
    ("arguments", "page"),
    [
        ([], "index.ipynb"),
        (["clipping"], "clipping.ipynb"),
        ([f"http://x/{STATE}"], f"clipping.ipynb{STATE}"),
    ],
    ids=["all", "name", "link"],
)
def test_it_serves_all_pages_and_shows_the_one_asked_for(
    arguments: list[str], page: str, monkeypatch: Any
) -> None:
    served: list[Any] = []

    def serve(folder: Path, page: str, extra: list[str]) -> None:
        served.append((sorted(path.stem for path in folder.glob("*.ipynb")), page, extra))

    monkeypatch.setitem(
        sys.modules, "gradlab._app.voila_server", types.SimpleNamespace(serve=serve)
    )
    assert command.main(["dashboard", *arguments, "--", "--port=9999"]) == 0
    assert served == [(sorted([*gl.labs.catalog(), "index"]), page, ["--port=9999"])]


@pytest.mark.exhaustive
def test_pages_for_a_jupyterlab_lead_to_its_own_notebooks(
    tmp_path: Path, monkeypatch: Any, capsys: Any
) -> None:
    checkout = tmp_path / "course" / "notebooks"
    checkout.mkdir(parents=True)
    for path in notebooks.find_folder().glob("*.ipynb"):
        shutil.copy(path, checkout)
    monkeypatch.setattr(notebooks, "find_folder", lambda: checkout)
    assert command.main(["dashboard", "--write", str(tmp_path / "pages")]) == 0
    assert (
        capsys.readouterr().out
        == f"wrote {len(gl.labs.catalog()) + 1} pages to {tmp_path / 'pages'}\n"
    )
    for name, make in gl.labs.catalog().items():
        cells = json.loads((tmp_path / "pages" / f"{name}.ipynb").read_text("utf-8"))["cells"]
        code = [cell["source"] for cell in cells if cell["cell_type"] == "code"]
        assert code == [f"import gradlab as gl\n\ngl.labs.{name}()"]
        assert cells[0]["source"].startswith(f"# {make().label}\n")
    cells = json.loads((tmp_path / "pages" / "clipping.ipynb").read_text("utf-8"))["cells"]
    assert cells[0]["source"].startswith(f"# {gl.labs.clipping().label}\n\nDrag a limit")
    assert cells[1]["source"] == "import gradlab as gl\n\ngl.labs.clipping()"
    assert "(../../../lab/tree/course/notebooks/02_clipping.ipynb)" in cells[2]["source"]


@pytest.mark.parametrize("repository", ["", "me/it"])
def test_every_link_leads_to_a_page_that_is_there_or_to_the_repositorys_binder(
    repository: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Voila refuses to serve what isn't a notebook, such as the glossary that the notebooks link
    to.
    """
    monkeypatch.setattr(addresses, "REPOSITORY", repository)
    dashboard.write_pages(tmp_path)
    texts = [
        cell["source"]
        for path in tmp_path.iterdir()
        for cell in json.loads(path.read_text("utf-8"))["cells"]
    ]
    links = {
        link for text in texts for link in re.findall(r'(?<=\]\()[^)]+|(?<=href=")[^"]+', text)
    }
    assert len(links) > len(gl.labs.catalog())
    elsewhere = {link for link in links if not (tmp_path / link).is_file()}
    held = {name for lab in gl.labs.catalog() for name in notebooks.find_with_lab(lab)[:1]}
    assert elsewhere == {addresses.on_binder(name) for name in held} - {""}
    named = f"Its notebook is {dict(notebooks.titles())['02_clipping.ipynb']}, `02_clipping.ipynb`."
    assert any(named in text for text in texts) == (not repository)


def test_the_page_that_leads_to_all_is_there_when_they_are(
    tmp_path: Path, monkeypatch: Any
) -> None:
    written = dashboard._notebook

    def stopped(name: str, cells: Any) -> str:
        if name == last:
            raise KeyboardInterrupt
        return written(name, cells)

    *_, last = gl.labs.catalog()
    monkeypatch.setattr(dashboard, "_notebook", stopped)
    with pytest.raises(KeyboardInterrupt):
        dashboard.write_pages(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {
        f"{lab}.ipynb" for lab in gl.labs.catalog() if lab != last
    }


def test_pages_that_could_not_lead_to_notebooks_are_not_written(
    tmp_path: Path, capsys: Any
) -> None:
    assert command.main(["dashboard", "--write", str(tmp_path / "pages")]) == 2
    assert (
        "the folder above DIR must be above the notebooks, too, which are in "
        in capsys.readouterr().err
    )
    assert not (tmp_path / "pages").exists()


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ("cliping", "unknown lab 'cliping': did you mean clipping?"),
        ("#gl=1&lab=cliping", "cannot open the link: the link names a lab 'cliping'"),
    ],
)
def test_what_is_not_there_is_not_shown(asked: str, message: str, capsys: Any) -> None:
    assert command.main(["dashboard", asked]) == 2
    assert message in capsys.readouterr().err


def test_a_missing_voila_is_named(monkeypatch: Any, capsys: Any) -> None:
    monkeypatch.delitem(sys.modules, "gradlab._app.voila_server", raising=False)
    monkeypatch.setitem(sys.modules, "voila.app", None)
    assert command.main(["dashboard"]) == 2
    assert (
        capsys.readouterr().err
        == f"gradlab: {missing('`gradlab dashboard`', 'voila', 'dashboard')}\n"
    )
