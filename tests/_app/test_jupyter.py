"""`gradlab lab`: what it copies, leaves alone, opens and refuses."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import pytest

from gradlab import __main__ as command
from gradlab._app.jupyter import SEND_AT_ONCE
from gradlab._base import addresses, extras, notebooks
from gradlab._base.addresses import PROMPT

ROOT = Path(__file__).parents[2]


def test_lab_copies_and_opens_the_first_notebook(
    wheel_notebooks: Path, launched: list[list[str]], tmp_path: Path, monkeypatch: Any, capsys: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    assert command.main(["lab", "--", "--port=9999", "--no-browser"]) == 0
    folder = tmp_path / "gradlab-notebooks"
    assert sorted(p.name for p in folder.iterdir()) == [notebooks.START, "02_clipping.ipynb"]
    (arguments,) = launched
    assert f"--ServerApp.root_dir={folder}" in arguments
    assert f"--LabApp.default_url=/lab/tree/{notebooks.START}" in arguments
    assert arguments[-2:] == ["--port=9999", "--no-browser"]
    assert (SEND_AT_ONCE in arguments, os.environ[PROMPT]) == (True, "1")
    assert capsys.readouterr().out.splitlines()[0] == "copied 2 notebooks to gradlab-notebooks"


def test_what_the_reader_wrote_is_never_overwritten(
    wheel_notebooks: Path,
    launched: list[list[str]],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    mine = tmp_path / "mine"
    command.main(["lab", str(mine)])
    (mine / "02_clipping.ipynb").write_text("my answers", encoding="utf-8")
    (mine / "own.ipynb").write_text("my own", encoding="utf-8")
    (wheel_notebooks / "03_new.ipynb").write_text("{}", encoding="utf-8")
    capsys.readouterr()
    assert command.main(["lab", str(mine)]) == 0
    assert (mine / "02_clipping.ipynb").read_text("utf-8") == "my answers"
    assert (mine / "own.ipynb").read_text("utf-8") == "my own"
    assert (mine / "03_new.ipynb").is_file()
    copied, kept = capsys.readouterr().out.splitlines()[:2]
    assert copied == f"copied 1 notebook to {mine}"
    assert kept.startswith(f"kept your own 02_clipping.ipynb in {mine}")


def test_a_file_in_the_way_is_refused(
    wheel_notebooks: Path, launched: list[list[str]], tmp_path: Path, capsys: Any
) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    assert command.main(["lab", str(tmp_path / "file")]) == 2
    assert "cannot put notebooks into" in capsys.readouterr().err


def test_in_a_clone_copies_are_opened(
    launched: list[list[str]], tmp_path: Path, monkeypatch: Any, capsys: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    assert notebooks.find_folder().resolve() == ROOT / "notebooks"
    assert command.main(["lab"]) == 0
    assert f"--ServerApp.root_dir={tmp_path / 'gradlab-notebooks'}" in launched[0]
    assert len(list(tmp_path.glob("gradlab-notebooks/*.ipynb"))) == len(
        list(ROOT.glob("notebooks/*.ipynb"))
    )
    assert capsys.readouterr().out.startswith("copied ")


def test_a_clones_own_notebooks_are_opened_in_place_and_that_is_said(
    launched: list[list[str]], monkeypatch: Any, capsys: Any
) -> None:
    monkeypatch.chdir(ROOT)
    assert command.main(["lab", "notebooks"]) == 0
    assert f"--ServerApp.root_dir={ROOT / 'notebooks'}" in launched[0]
    assert "notebooks holds the tracked notebooks of your clone" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("user", "arguments", "said"),
    [(0, [], True), (0, ["--allow-root"], False), (1000, [], False), (None, [], False)],
)
def test_root_is_told_how_after_jupyter_has_refused(
    user: int | None,
    arguments: list[str],
    said: bool,
    launched: list[list[str]],
    tmp_path: Path,
    monkeypatch: Any,
    wheel_notebooks: Path,
    capsys: Any,
) -> None:
    if user is None:  # Windows
        monkeypatch.delattr(os, "geteuid", raising=False)
    else:
        monkeypatch.setattr(os, "geteuid", lambda: user, raising=False)

    def refuse(settings: list[str]) -> None:
        print("Running as root is not recommended.")
        raise SystemExit(1)

    monkeypatch.setattr(sys.modules["jupyterlab.labapp"].LabApp, "launch_instance", refuse)
    with pytest.raises(SystemExit):
        command.main(["lab", str(tmp_path / "mine"), "--", *arguments])
    last = capsys.readouterr().out.splitlines()[-1]
    assert ("gradlab lab -- --allow-root" in last) == said


STATE = "#gl=1&lab=clipping&limit=0.3"


@pytest.mark.parametrize(
    ("link", "notebook"),
    [
        (STATE, "02_clipping.ipynb"),
        (STATE[1:], "02_clipping.ipynb"),
        (f"http://localhost:8888/lab/tree/{notebooks.START}{STATE}", notebooks.START),
        (f"http://localhost:8888/lab/tree/my%20copy.ipynb{STATE}", "02_clipping.ipynb"),
        (addresses.on_binder(notebooks.START, STATE, "me/it"), notebooks.START),
    ],
)
@pytest.mark.parametrize("folder", [(), ("mine",)], ids=["", "mine"])
def test_a_link_opens_its_notebook_at_its_state(
    folder: tuple[str, ...],
    link: str,
    notebook: str,
    wheel_notebooks: Path,
    launched: Any,
    tmp_path: Path,
    monkeypatch: Any,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert command.main(["lab", *folder, link]) == 0
    assert f"--LabApp.default_url=/lab/tree/{notebook}{STATE}" in launched[0]
    assert f"--ServerApp.root_dir={tmp_path / (*folder, 'gradlab-notebooks')[0]}" in launched[0]


@pytest.mark.parametrize(
    ("link", "message"),
    [
        (
            "#gl=1&lab=cliping",
            "cannot open the link: the link names a lab 'cliping'; there are descent, clipping, ",
        ),
        ("#gl=2&lab=clipping", "cannot open the link: this link was made by another version"),
        (
            "#gl=1&lab=gate_race",
            "no notebook shows the lab gate_race; `gradlab run gate_race --link LINK --save FILE`",
        ),
    ],
)
def test_a_link_that_leads_nowhere_is_refused(
    link: str,
    message: str,
    wheel_notebooks: Path,
    launched: list[list[str]],
    tmp_path: Path,
    capsys: Any,
) -> None:
    assert command.main(["lab", str(tmp_path / "mine"), link]) == 2
    assert message in capsys.readouterr().err
    assert not launched
    assert not (tmp_path / "mine").exists()


@pytest.mark.parametrize("missing", ["jupyterlab", "jupyterlab.labapp", "ipykernel"])
def test_a_missing_extra_is_named(
    missing: str, wheel_notebooks: Path, tmp_path: Path, monkeypatch: Any, capsys: Any
) -> None:
    monkeypatch.delitem(sys.modules, "jupyterlab.labapp", raising=False)
    monkeypatch.setitem(sys.modules, missing, None)
    assert command.main(["lab", str(tmp_path / "mine")]) == 2
    library = missing.split(".")[0]
    assert (
        capsys.readouterr().err == f"gradlab: {extras.missing('`gradlab lab`', library, 'lab')}\n"
    )
    assert not (tmp_path / "mine").exists()
