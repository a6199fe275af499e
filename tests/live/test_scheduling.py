"""One at a time draws, and where a cell runs it is the cell."""

import sys
import threading
import time
from types import SimpleNamespace

import matplotlib.figure
import pytest
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

from gradlab.live import Description, LiveFigure, Slider, scheduling
from gradlab.live.scheduling import Attention, drawing, hear_at_any_time


def test_while_a_cell_runs_nothing_is_done_ahead() -> None:
    attention, shell = (
        Attention(),
        InteractiveShell(config=Config({"HistoryManager": {"enabled": False}})),
    )
    attention.watch(shell)
    attention.watch(shell)  # registers once
    shell.user_ns["attention"] = attention
    shell.run_cell("during = attention.busy")
    assert shell.user_ns["during"] and not attention.busy
    shell.run_cell("1 / 0")
    assert not attention.busy
    shell.run_cell("during = attention.busy", silent=True)  # what a page asks is not a cell
    assert not shell.user_ns["during"]
    shell.run_cell("get_ipython().run_cell('1')\nafter = attention.busy")
    assert shell.user_ns["after"] and not attention.busy
    attention.end()  # of a cell that began before anybody watched
    assert not attention.busy


def test_where_there_is_no_shell_there_are_no_cells(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: None))
    assert scheduling.shell() is None
    monkeypatch.delitem(sys.modules, "IPython")
    assert scheduling.shell() is None
    attention = Attention()
    attention.watch(None)
    assert not attention.busy


def test_a_cell_begins_when_the_picture_under_way_is_done() -> None:
    attention, begun = Attention(), threading.Event()
    with drawing:
        thread = threading.Thread(target=lambda: (attention.begin(), begun.set()))
        thread.start()
        assert not begun.wait(0.1)
        assert attention.busy  # so that no other picture is begun
    assert begun.wait(20)
    thread.join()


def test_what_was_asked_is_attended_to_for_a_moment() -> None:
    attention = Attention()
    attention.asked()
    assert attention.busy
    end = time.monotonic() + 20
    while attention.busy:
        assert time.monotonic() < end
        time.sleep(0.05)


def test_two_figures_never_draw_at_once() -> None:
    at_work, most = [], []

    def figure() -> LiveFigure:
        def update(values: dict[str, float]) -> Description:
            at_work.append(1)
            most.append(len(at_work))
            time.sleep(0.005)
            at_work.pop()
            return Description("alt", "summary")

        mpl = matplotlib.figure.Figure()
        return LiveFigure(mpl, [Slider("x", "x", 0, 9, 0, scale="integer")], update, label="")

    figures = [figure(), figure()]
    threads = [threading.Thread(target=lambda f=f: [f.set(x=k) for k in range(9)]) for f in figures]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(most) == 2 * 10 and max(most) == 1


def test_pages_reach_a_comm_while_a_cell_runs() -> None:
    comm = SimpleNamespace(_reply_subshell_for=lambda data, asked: "the loop of the cell")
    hear_at_any_time(comm)
    assert comm._reply_subshell_for({}, "a subshell") == "a subshell"
    for other in (None, SimpleNamespace()):  # closed, or of a kernel that does not choose
        hear_at_any_time(other)
        assert not hasattr(other, "_reply_subshell_for")
