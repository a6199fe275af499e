"""Which lab a cell shows, and what of a notebook it takes to make it."""

from __future__ import annotations

from typing import Any

import pytest

import gradlab as gl
from notebooks.site.shown import Shown, labs_in, program


def cell(source: str, said: str = "", html: str = "") -> dict[str, Any]:
    data = {"text/plain": said} | ({"text/html": html} if html else {})
    return {"cell_type": "code", "source": source, "outputs": [{"data": data}] if said else []}


def test_a_lab_is_made_from_what_it_depends_on() -> None:
    said = repr(gl.labs.clip_arrows(limit=3.0))
    cells = [
        cell("import gradlab as gl\nlimit = 2"),
        cell("raise SystemExit"),
        cell("limit = limit + 1"),
        cell("lab = gl.labs.clip_arrows()\nlab.set(limit=limit)"),
        cell("gl.labs.clipping().description", "'Clipping a recorded run'", "<p>"),
        cell("lab", said, "<figure>"),
    ]
    (shown,) = labs_in(cells)
    assert (shown.cell, shown.said, shown.make().params["limit"]) == (5, said, 3.0)


def test_what_a_loop_or_a_call_changes_belongs_to_it() -> None:
    sources = [
        "import numpy as np",
        "def fill(x):\n    x[0] = 1",
        "a = np.zeros(2)",
        "b = a * 2",
        "fill(a)",
        "a",
    ]
    assert "fill(a)" in program(sources)
    assert "b = a * 2" in program(sources)  # it might be a view
    assert "fill" not in program([*sources[:-1], "np.ones(1)"])


def test_lines_for_ipython_are_left_out() -> None:
    assert program(["try:\n    import x\nexcept ImportError:\n    %pip install x", "!ls\n1"]) == "1"


def test_a_notebook_that_shows_something_else_is_refused() -> None:
    with pytest.raises(ValueError, match="save it anew"):
        Shown(0, "Four ways: other words", "import gradlab as gl\ngl.labs.clip_arrows()").make()
