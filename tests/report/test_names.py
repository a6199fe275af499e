"""Tensors and files with names that would be formulas, HTML or commands: all is saved, and a name
stays a name.
"""

from __future__ import annotations

import warnings
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

import gradlab as gl
from gradlab import __main__ as command
from tests.hostile import NAMES


def recorded(*names: str) -> gl.Recorder:
    """A short run of tensors, and scalars, with these names; the first tensor overflows once."""
    rng, rec = np.random.default_rng(0), gl.Recorder()
    for k in range(12):
        gradients = {name: rng.normal(size=3) for name in names}
        if k == 5:
            gradients[names[0]] = np.array([np.inf, 0.0, 1.0])
        rec.record(gradients, loss=1.0 / (k + 1), **{f"{name}!": float(k) for name in names})
    return rec


class Page(HTMLParser):
    """Notes the elements of a page and what they load or do by themselves."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.scripts, self.found = 0, []
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list) -> None:
        self.scripts += tag == "script"
        self.found += [f"<{tag} {name}>" for name, _ in attributes if name.startswith("on")]
        self.found += [f"<{tag}>"] * (tag in ("iframe", "object", "embed", "base"))
        self.found += [
            f"{tag} {value}" for name, value in attributes
            if name in ("src", "href") and not (value or "").startswith(("data:", "#"))
        ]  # fmt: skip


@pytest.fixture(autouse=True)
def _letters_that_are_in_no_font() -> None:
    warnings.filterwarnings("ignore", "Glyph .* missing from")


@pytest.mark.exhaustive
@pytest.mark.parametrize("first", [0, 1])
def test_reports_and_labs_are_saved(first: int, tmp_path: Path) -> None:
    names = list(NAMES.values())[first::2]  # a picture has room for half of them
    rec = recorded(*names)
    gl.Report(rec, labs=False, title="; ".join(names)).save(tmp_path / "still.html")
    page = Page((tmp_path / "still.html").read_text("utf-8"))
    assert (page.found, page.scripts) == ([], 1)
    lab = gl.labs.run_layers(rec)
    for file in ("x.png", "x.svg", "x.csv"):
        lab.save(tmp_path / file)
        assert (tmp_path / file).stat().st_size > 0
    for name in rec.names[::4]:
        lab.save(tmp_path / "one.png", tensor=name)


@pytest.mark.exhaustive
def test_a_page_that_moves_holds_names_as_text(tmp_path: Path) -> None:
    rec = recorded(*(name for name in NAMES.values() if len(name) < 100))
    gl.labs.run_layers(rec).save(tmp_path / "x.html")
    page = Page((tmp_path / "x.html").read_text("utf-8"))
    assert (page.found, page.scripts) == ([], 2)


def test_names_are_no_formulas_in_pictures() -> None:
    lab = gl.labs.run_layers(recorded(NAMES["formula"], "other"), tensor=NAMES["formula"])
    assert r"a\$\frac{a}{\$" in {
        text.get_text() for text in lab.figure().findobj(lambda x: hasattr(x, "get_text"))
    }


@pytest.mark.exhaustive
def test_a_file_may_have_such_a_name_and_a_terminal_shows_names_and_obeys_none(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name = " ".join(NAMES[each] for each in ("script", "quotes", "lines", "template"))
    path = tmp_path / f"{name.replace('/', '_')}.npz"
    recorded(NAMES["terminal"], NAMES["half a character"]).save(path)
    assert command.main(["report", str(path), "--still"]) == 0
    page = Page(path.with_suffix(".html").read_text("utf-8"))
    assert (page.found, page.scripts) == ([], 1)
    assert command.main(["report", str(tmp_path / "no\x1b[2J.npz")]) == 2
    said = capsys.readouterr()
    assert not set(said.out + said.err) & {"\x1b", "\x07", "\x00", "\ud800"}
