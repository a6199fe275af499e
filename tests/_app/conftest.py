"""What commands find in these tests: notebooks as a wheel has them, a JupyterLab that does not
start, one lab.
"""

from __future__ import annotations

import json
import sys
import types
from pathlib import Path
from typing import Any, ClassVar

import pytest

import gradlab
from gradlab._app import commands
from gradlab._base import notebooks
from gradlab._base.addresses import PROMPT
from gradlab.live import Button, Description, Menu, Range, Slider, Toggle


def _notebook(text: str, code: str) -> str:
    cells = [{"cell_type": "markdown", "source": [text]}, {"cell_type": "code", "source": code}]
    return json.dumps({"cells": cells})


@pytest.fixture
def wheel_notebooks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Notebooks as a wheel has them: in a folder that is not beside a pyproject.toml."""
    folder = tmp_path / "site-packages" / "notebooks"
    folder.mkdir(parents=True)
    for name, title in ((notebooks.START, "# Start here"), ("02_clipping.ipynb", "# Clipping")):
        (folder / name).write_text(
            _notebook(f"{title}\n\nWords.", "gl.labs.clipping(limit=1.0)"), encoding="utf-8"
        )
    monkeypatch.setattr(notebooks, "find_folder", lambda: folder)
    return folder


@pytest.fixture
def launched(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """A JupyterLab that only notes what it was started with."""
    calls: list[list[str]] = []
    fake = types.SimpleNamespace(LabApp=types.SimpleNamespace(launch_instance=calls.append))
    monkeypatch.setitem(sys.modules, "jupyterlab.labapp", fake)
    monkeypatch.setitem(sys.modules, "ipykernel", types.SimpleNamespace())
    monkeypatch.setenv(PROMPT, "")  # is set, and gone after the test
    return calls


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

    monkeypatch.setattr(commands, "catalog", lambda: {"everything": everything})
    return seen
