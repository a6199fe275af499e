"""KEY=VALUE: every kind of control reads its own, and what it does not take is refused."""

from __future__ import annotations

from typing import Any

import pytest

from gradlab import __main__ as command


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
