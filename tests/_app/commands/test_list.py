"""`gradlab list`: every lab, control and notebook."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import gradlab
from gradlab import __main__ as command


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


def test_list_names_every_lab_control_and_notebook(wheel_notebooks: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["list"]) == 0
    said = capsys.readouterr().out
    for name, make in gradlab.labs.catalog().items():
        assert f"\n  {name}: {make.__doc__.splitlines()[0]}\n" in said
    for part in ("limit   0.001 to 1000\n", "method  one of global, norm, value\n", "  02_clipping.ipynb: Clipping\n"):
        assert part in said
    assert "record" not in said.split("clip_arrows")[0].replace("recorded", "")  # buttons cannot be set
