"""The command: what it prints, refuses and leaves alone; and that a wheel brings what it needs."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import types
import zipfile
from pathlib import Path
from typing import Any, ClassVar

import pytest

import gradlab
from gradlab import __main__ as command
from gradlab import _jupyter
from gradlab.live import Button, Description, Menu, Range, Slider, Toggle

ROOT = Path(__file__).parents[1]
LIMIT = "limit (0.001 to 1000)"


def text_notebook(text: str) -> str:
    return json.dumps({"cells": [{"cell_type": "markdown", "source": [text]}]})


@pytest.fixture
def wheel_notebooks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Notebooks as a wheel has them: in a folder that is not beside a pyproject.toml."""
    folder = tmp_path / "site-packages" / "notebooks"
    folder.mkdir(parents=True)
    for name, title in ((_jupyter.START, "# Start here"), ("02_clipping.ipynb", "# Clipping")):
        (folder / name).write_text(text_notebook(f"{title}\n\nWords."), encoding="utf-8")
    monkeypatch.setattr(_jupyter, "shipped", lambda: folder)
    return folder


@pytest.fixture
def launched(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """A JupyterLab that only notes what it was started with."""
    calls: list[list[str]] = []
    fake = types.SimpleNamespace(LabApp=types.SimpleNamespace(launch_instance=calls.append))
    monkeypatch.setitem(sys.modules, "jupyterlab.labapp", fake)
    monkeypatch.setitem(sys.modules, "ipykernel", types.SimpleNamespace())
    return calls


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "nope"], "unknown lab 'nope': the labs are clipping, clip_arrows, clip_libraries"),
        (["run", "clipping", "--set", "lr=1"], f"unknown key 'lr': the keys are {LIMIT}; method (one of"),
        (["run", "clipping", "--set", "record=1"], f"unknown key 'record': the keys are {LIMIT}; method (one of"),
        (["run", "clipping", "--set", "limit"], f"--set takes KEY=VALUE, got 'limit'; the keys are {LIMIT}"),
        (["run", "clipping", "--set", "limit=1e9"], "limit is 0.001 to 1000; got '1e9'"),
        (["run", "clipping", "--set", "limit=nan"], "limit is 0.001 to 1000; got 'nan'"),
        (["run", "clipping", "--set", "limit=much"], "limit is 0.001 to 1000; got 'much'"),
        (["run", "clipping", "--set", "method=best"], "method is one of global, norm, value; got 'best'"),
        (["run", "clipping", "--save", "x.bmp"], "cannot save 'x.bmp': allowed are .png, .svg, .pdf, .csv, .html"),
        (["run", "clipping", "--save", "no/such/folder/x.png"], "cannot write no/such/folder/x.png:"),
        (["run", "clipping", "--save", "no/such/folder/x.html"], "cannot write no/such/folder/x.html:"),
        (["run", "clipping", "--link", "limit=1"], "cannot open the link: a link to a lab ends in #gl=1&lab=NAME"),
        (["run", "clipping", "--link", "#gl=1&lab=nope"], "cannot open the link: the link names a lab 'nope'"),
        (["run", "clipping", "--link", "#gl=1&lab=clip_arrows"], "the link shows clip_arrows, not clipping"),
        (["list", "--", "--no-browser"], "only `gradlab lab` takes them, got --no-browser"),
    ],
)
def test_a_command_that_cannot_be_carried_out_says_so_in_one_line(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    assert command.main(arguments) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("gradlab: ")
    assert message in said.err
    assert said.err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_run_prints_what_the_lab_says_at_these_values(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["run", "clipping", "--set", "limit=0.5", "--set", "run=0.3", "--set", "method=norm"]) == 0
    words = gradlab.labs.clipping(limit=0.5, run="0.3", method="norm").description
    printed = capsys.readouterr().out.splitlines()
    assert printed[:2] == [words.alt, words.summary]
    assert [line.split() for line in printed[2:]] == [f"{name} {value}".split() for name, value in words.table]


def test_a_menu_takes_the_label_as_well(capsys: pytest.CaptureFixture[str]) -> None:
    command.main(["run", "clipping", "--set", "run=no limit"])
    by_label = capsys.readouterr().out
    command.main(["run", "clipping", "--set", "run=none"])
    assert capsys.readouterr().out == by_label


def test_run_opens_a_link_and_settings_come_after_it(capsys: pytest.CaptureFixture[str]) -> None:
    link = gradlab.labs.clip_arrows(method="norm", limit=2.5).link()
    assert command.main(["run", "clip_arrows", "--link", f"https://example.org/x.ipynb{link}", "--set", "g1=1"]) == 0
    expected = gradlab.labs.clip_arrows(method="norm", limit=2.5, g1=1).description
    assert capsys.readouterr().out.splitlines()[:2] == [expected.alt, expected.summary]


@pytest.fixture
def every_control(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """A lab with every kind of control in place of the others, and what it computes."""
    seen: list[dict[str, Any]] = []

    class everything(gradlab.labs.Lab):
        """Has them all."""

        label = "Everything"
        presets: ClassVar = {"Fast": {"rate": 1.0}, "Slow, but sure": {"rate": 0.1}}

        def make_controls(self) -> list[Any]:
            return [
                Slider("rate", "Rate", 0.0, 1.0, 0.5, unit="1/s"),
                Slider("steps", "Steps", 1, 9, 3, scale="integer"),
                Range("span", "Span", 0, 300, (10, 50), scale="integer", unit="steps"),
                Toggle("ahead", "Look ahead", False),
                Menu("mode", "Mode", ((1, "one"), (None, "nothing")), 1),
                Menu("letter", "Letter", tuple("abcdefghijklm"), "a"),
                Menu("second", "Second letter", tuple("abcdefghijklm"), "a"),
                Menu("third", "Third letter", tuple("-abcdefghijklm"), "a"),
                Button("press", "Press", lambda: None),
            ]

        def compute(self, values: dict[str, Any]) -> dict[str, Any]:
            seen.append(values)
            return values

        def describe(self, trace: dict[str, Any]) -> Description:
            return Description("All.", "all")

    monkeypatch.setattr(command, "_catalogue", lambda: {"everything": everything})
    return seen


def test_list_says_what_every_control_takes(every_control: Any, capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["list"]) == 0
    assert capsys.readouterr().out.partition("Notebooks")[0].splitlines()[1:] == [
        "  everything: Has them all.",
        "      rate    0 to 1 1/s",
        "      steps   a whole number from 1 to 9",
        "      span    two whole numbers LOW~HIGH from 0 to 300 steps",
        "      ahead   true or false",
        "      mode    one of 1, None",
        "      letter  one of a, b, c, d, e, f, g, h, i, j, k, l, m",
        "      second  as letter",
        "      third   one of -, or as letter",
        "      presets, one press in a notebook: Fast; Slow, but sure",
    ]


def test_set_reads_every_control(every_control: list[dict[str, Any]], capsys: pytest.CaptureFixture[str]) -> None:
    settings = ["rate=0.25", "steps=7", "span=5~20", "ahead=true", "mode=nothing"]
    assert command.main(["run", "everything", *(part for text in settings for part in ("--set", text))]) == 0
    assert every_control == [
        {"rate": 0.25, "steps": 7, "span": (5, 20), "ahead": True, "mode": None}
        | dict.fromkeys(("letter", "second", "third"), "a")
    ]


@pytest.mark.parametrize("text", ["steps=2.5", "span=5", "span=20~5", "ahead=maybe", "mode=two", "rate="])
def test_what_a_control_does_not_take_is_refused(text: str, every_control: Any, capsys: Any) -> None:
    assert command.main(["run", "everything", "--set", text]) == 2
    said = capsys.readouterr().err
    assert said.startswith(f"gradlab: {text.partition('=')[0]} is ")
    assert said.endswith(f"; got {text.partition('=')[2]!r}\n")
    assert every_control == []


@pytest.mark.parametrize(
    ("suffix", "start"),
    [
        (".png", b"\x89PNG"),
        (".svg", b"<?xml"),
        (".pdf", b"%PDF"),
        (".csv", b"norm_before,"),
        (".html", b"<!doctype html>"),
        (".gif", b"GIF89a"),
        (".mp4", b"\0\0\0"),
    ],
)
def test_run_saves_what_the_suffix_asks_for(suffix: str, start: bytes, tmp_path: Path, capsys: Any) -> None:
    path = tmp_path / f"clip{suffix}"
    assert command.main(["run", "clip_arrows", "--set", "limit=2", "--save", str(path)]) == 0
    assert path.read_bytes().startswith(start)
    assert capsys.readouterr().out.endswith(f"wrote {path}\n")


def test_run_brings_neither_jax_nor_pyplot() -> None:
    program = "import sys; from gradlab.__main__ import main; main(['run', 'clipping']); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    loaded = set(done.stdout.splitlines()[-1].split())
    assert "matplotlib.figure" in loaded or "gradlab.labs" in loaded  # the list is the right one
    assert not loaded & {"jax", "matplotlib.pyplot"}


def test_list_names_every_lab_control_and_notebook(wheel_notebooks: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["list"]) == 0
    said = capsys.readouterr().out
    for name, make in gradlab.labs.catalogue().items():
        assert f"\n  {name}: {make.__doc__.splitlines()[0]}\n" in said
    for part in ("limit   0.001 to 1000\n", "method  one of global, norm, value\n", "  02_clipping.ipynb: Clipping\n"):
        assert part in said
    assert "record" not in said.split("clip_arrows")[0].replace("recorded", "")  # buttons cannot be set


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        command.main(["--version"])
    assert (stop.value.code, capsys.readouterr().out) == (0, f"gradlab {gradlab.__version__}\n")


def test_python_dash_m_is_the_same_command() -> None:
    done = subprocess.run([sys.executable, "-m", "gradlab", "run", "nope"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr.startswith("gradlab: unknown lab 'nope'")


def test_a_reader_who_stops_reading_is_no_error() -> None:
    program = [sys.executable, "-m", "gradlab", "list"]
    with subprocess.Popen(program, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.close()
        assert process.stderr is not None
        assert process.stderr.read() == b""


# gradlab lab


def test_lab_copies_and_opens_the_first_notebook(
    wheel_notebooks: Path, launched: list[list[str]], tmp_path: Path, monkeypatch: Any, capsys: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    assert command.main(["lab", "--", "--port=9999", "--no-browser"]) == 0
    folder = tmp_path / "gradlab-notebooks"
    assert sorted(p.name for p in folder.iterdir()) == [_jupyter.START, "02_clipping.ipynb"]
    (arguments,) = launched
    assert f"--ServerApp.root_dir={folder}" in arguments
    assert f"--LabApp.default_url=/lab/tree/{_jupyter.START}" in arguments
    assert arguments[-2:] == ["--port=9999", "--no-browser"]
    assert capsys.readouterr().out == "copied 2 notebooks to gradlab-notebooks\n"


def test_what_the_reader_wrote_is_never_overwritten(
    wheel_notebooks: Path, launched: list[list[str]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mine = tmp_path / "mine"
    command.main(["lab", str(mine)])
    (mine / "02_clipping.ipynb").write_text("my answers", encoding="utf-8")
    (mine / "own.ipynb").write_text("my own", encoding="utf-8")
    (wheel_notebooks / "03_new.ipynb").write_text(text_notebook("# New"), encoding="utf-8")
    capsys.readouterr()
    assert command.main(["lab", str(mine)]) == 0
    assert (mine / "02_clipping.ipynb").read_text("utf-8") == "my answers"
    assert (mine / "own.ipynb").read_text("utf-8") == "my own"
    assert (mine / "03_new.ipynb").is_file()
    copied, kept = capsys.readouterr().out.splitlines()
    assert copied == f"copied 1 notebook to {mine}"
    assert kept.startswith(f"kept your own 02_clipping.ipynb in {mine}")


def test_a_file_in_the_way_is_refused(wheel_notebooks: Path, tmp_path: Path, capsys: Any) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    assert command.main(["lab", str(tmp_path / "file")]) == 2
    assert "cannot put notebooks into" in capsys.readouterr().err


def test_a_checkout_is_opened_in_place(launched: list[list[str]], tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    assert _jupyter.shipped().resolve() == ROOT / "notebooks"
    assert command.main(["lab"]) == 0
    assert f"--ServerApp.root_dir={ROOT / 'notebooks'}" in launched[0]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("missing", ["jupyterlab", "jupyterlab.labapp", "ipykernel"])
def test_a_missing_extra_is_named(
    missing: str, wheel_notebooks: Path, tmp_path: Path, monkeypatch: Any, capsys: Any
) -> None:
    monkeypatch.setitem(sys.modules, missing, None)
    assert command.main(["lab", str(tmp_path / "mine")]) == 2
    expected = f"gradlab: {missing.split('.')[0]} is missing; install with: pip install 'gradlab[lab]'\n"
    assert capsys.readouterr().err == expected


# The wheel


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The content of a wheel, built from a copy so that nothing is left in the checkout."""
    folder = tmp_path_factory.mktemp("wheel")
    source = folder / "source"
    for name in ("gradlab", "notebooks"):
        shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__", ".*"))
    for name in ("pyproject.toml", "README.md"):
        shutil.copy(ROOT / name, source)
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(folder), str(source)]
    done = subprocess.run([*command, *_isolation()], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (built,) = folder.glob("*.whl")
    zipfile.ZipFile(built).extractall(folder / "content")
    return folder / "content"


def _isolation() -> list[str]:
    """Without a network the build works only if the build tool is here already."""
    try:
        import setuptools
    except ImportError:
        return []
    return ["--no-build-isolation"] if int(setuptools.__version__.partition(".")[0]) >= 77 else []


def files(folder: Path, pattern: str) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob(pattern) if ".ipynb_checkpoints" not in path.parts}


@pytest.mark.parametrize("pattern", ["*.py", "*.js", "*.css", "*.html", "*.npz", "py.typed"])
def test_the_wheel_holds_every_file_of_the_package(wheel: Path, pattern: str) -> None:
    assert files(wheel / "gradlab", pattern) == files(ROOT / "gradlab", pattern) != set()


def test_the_wheel_holds_the_notebooks_and_copies_them(wheel: Path, tmp_path: Path) -> None:
    notebooks = files(ROOT / "notebooks", "*.ipynb")
    assert files(wheel / "gradlab" / "notebooks", "*.ipynb") == notebooks
    program = "import sys; from gradlab import _jupyter; print(_jupyter.folder_to_open(None)[0])"
    environment = os.environ | {"PYTHONPATH": str(wheel)}
    done = subprocess.run(
        [sys.executable, "-P", "-c", program], cwd=tmp_path, env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout == "gradlab-notebooks\n"
    assert files(tmp_path / "gradlab-notebooks", "*.ipynb") == notebooks
