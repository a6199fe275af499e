"""How far something long has come: what is said, when, and that nothing is said where nobody looks
on.
"""

import io
import sys
import types
from typing import Any

import pytest

from gradlab.live import progress
from gradlab.live.progress import shown, told


class Terminal(io.StringIO):
    """A terminal that keeps what was written."""

    encoding = "utf-8"  # type: ignore[assignment]

    def isatty(self) -> bool:
        return True


class Display:
    """What a notebook is shown in place of IPython's own."""

    def __init__(self) -> None:
        self.said: list[str] = []

    def __call__(self, data: dict[str, str], **_: Any) -> Any:
        self.said.append(data["text/plain"])
        return types.SimpleNamespace(update=self)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The time, in seconds."""
    now = [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    return now


def work(clock: list[float], seconds: float) -> None:
    """Two parts of five steps each, one of which ends in a loop that is left early."""
    with shown("run.mp4"), shown("something within"):
        for _ in told(range(2), 2):
            for _ in told(range(5), 5):
                clock[0] += seconds / 10
            next(told([1], 1))


def test_a_terminal_is_told_after_two_seconds_and_left_as_it_was(
    clock: list[float], monkeypatch: Any
) -> None:
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    work(clock, 1.9)
    assert terminal.getvalue() == ""
    work(clock, 10.0)
    first, *others = terminal.getvalue().split("\r")[1:]
    assert first.rstrip() == "run.mp4  ████░░░░░░░░░░░░░░░░  20%, 8 s left"
    assert [line.split("  ")[-1].split("%")[0] for line in others[:-2]] == [
        "30",
        "40",
        "50",
        "60",
        "70",
        "80",
        "90",
        "100",
    ]
    assert [line.strip() for line in others[-2:]] == ["", ""]
    work(clock, 10.0)  # each time anew
    assert terminal.getvalue().count(" 20%") == 2


def test_a_notebook_is_told_in_one_place(clock: list[float], monkeypatch: Any) -> None:
    import IPython.display

    monkeypatch.setattr(IPython.display, "display", display := Display())
    monkeypatch.setattr(progress, "shell", lambda: types.SimpleNamespace(kernel=object()))
    work(clock, 1.0)
    assert display.said == []
    work(clock, 10.0)
    assert display.said[0].endswith(" 20%, 8 s left")
    assert display.said[-1] == ""


def test_nothing_is_said_where_nobody_looks_on(
    clock: list[float], capfd: Any, monkeypatch: Any
) -> None:
    work(clock, 100.0)
    monkeypatch.setattr(sys, "stderr", None)
    work(clock, 100.0)
    assert capfd.readouterr() == ("", "")


def test_a_loop_of_its_own_is_a_plain_loop(clock: list[float], monkeypatch: Any) -> None:
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    for _ in told(range(3), 3):
        clock[0] += 10.0
    assert terminal.getvalue() == ""


def test_an_error_leaves_nothing_behind(clock: list[float], monkeypatch: Any) -> None:
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())

    def fail() -> None:
        with shown("x"):
            for k in told(range(4), 4):
                clock[0] += 3.0
                if k == 2:
                    raise MemoryError

    with pytest.raises(MemoryError):
        fail()
    assert terminal.getvalue().endswith("\r")
    assert progress._loops.line is None
    assert progress._loops.levels == []
