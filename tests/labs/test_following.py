"""Labs that follow a recorder: new steps appear, at no more than their share of the time, until
nobody looks.
"""

import gc
import threading
import time
import weakref
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import gradlab as gl
from gradlab._base.time_share import Pace
from gradlab.labs import _following
from gradlab.labs._following import AxesRoom, turns
from gradlab.live.scheduling import attention
from tests.browser.lab import until

LABS = [gl.labs.clipping, gl.labs.run_layers]
OTHERS = [gl.labs.run_adagrad, gl.labs.run_staleness]


def go_on(rec: gl.Recorder, until: int, scale: float = 1.0) -> None:
    for k in range(rec.seen, until):
        g = scale * np.random.default_rng(k).normal(size=5)
        rec.record({"a": g, "b": g[:2] / 10}, loss=1 / (k + 1))


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Every step is drawn where it is recorded; nothing is left for other tests."""
    monkeypatch.setattr(turns, "pace", Pace(1.0, 0.0))
    yield
    with turns._guard:
        turns._waiting.clear()
        turns._growing.clear()


def shown(lab: Any) -> list[dict[str, Any]]:
    """What a page gets from here on; it is open."""
    told: list[dict[str, Any]] = []
    lab.live._state.send = lambda content, buffers=(): told.append(content)
    lab.live._inbox.receive({"kind": "open", "view": "v", "ratio": 1.0, "dark": False})
    told.clear()
    return told


@pytest.mark.parametrize("make", LABS)
def test_new_steps_appear(make: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    rec = gl.Recorder(40)
    go_on(rec, 5)
    lab = make(rec)
    told = shown(lab)
    go_on(rec, 6)
    assert [m["kind"] for m in told if m["kind"] != "status"] == ["controls", "still"]
    assert "6 steps" in told[-1]["summary"] and lab.live.changing
    told.clear()
    go_on(rec, 12)
    kinds = [m["kind"] for m in told]
    # Mostly there is room, and only what moves is drawn.
    assert len(kinds) == 12 and kinds.count("frame") >= 4
    assert "12 steps" in told[-1]["summary"]
    before = lab.live._state.controls["limit"]
    go_on(rec, 13, scale=1e6)
    after = lab.live._state.controls["limit"]
    assert after.maximum > 1e5 > before.maximum and lab.params["limit"] <= before.maximum
    lab.set(limit=after.maximum)  # the slider reaches as far as the norms
    monkeypatch.setattr(turns, "pace", Pace(1.0, 3600.0))
    go_on(rec, 99)
    assert "14 steps" in told[-1]["summary"]
    monkeypatch.setattr(turns, "pace", Pace(1.0, 0.0))
    go_on(rec, 100)
    assert "100 steps" in told[-1]["summary"]
    as_a_new_one = make(rec, **lab.params)
    assert lab.description == as_a_new_one.description
    assert lab.presets.keys() == as_a_new_one.presets.keys()


def signs(figure: Any) -> int:
    """How often a figure says that it waits."""
    return sum(
        text.get_text() == "Waiting for the first step"
        for axes in figure.axes
        for text in axes.texts
    )


@pytest.mark.exhaustive
@pytest.mark.parametrize("make", [*LABS, *OTHERS])
def test_a_lab_waits_for_the_first_step(make: Any) -> None:
    rec = gl.Recorder(40)
    with pytest.raises(
        ValueError,
        match=r"nothing is recorded yet.*when the recorder knows its tensors.*rec\.prepare",
    ):
        make(rec)
    rec.prepare({"a": (5,), "b": (2,)}, ["loss"])
    lab = make(rec)
    assert "Waiting for the first step" in lab.description.alt and signs(lab.figure()) == 1
    with pytest.raises(ValueError, match="nothing to save yet"):
        lab.save("never.png")
    told = shown(lab)
    go_on(rec, 2)
    until(
        lambda: lab.description == make(rec, **lab.params).description,
        saying="the last step is shown",
    )
    assert "still" in [m["kind"] for m in told] and signs(lab.live._state.scene.figure) == 0
    if make in LABS:  # it stands where it would have begun with the first step
        first = gl.Recorder()
        go_on(first, 2)
        assert lab.params["limit"] == pytest.approx(make(first).params["limit"], rel=0.5)


@pytest.mark.parametrize("make", OTHERS)
def test_the_other_labs_of_a_run_follow_too(make: Any) -> None:
    rec = gl.Recorder(40)
    go_on(rec, 5)
    lab = make(rec)
    told = shown(lab)
    go_on(rec, 7)
    until(
        lambda: lab.description == make(rec, **lab.params).description,
        saying="the last step is shown",
    )
    assert "still" in [m["kind"] for m in told]
    # At the end of the run it stays there, and where somebody looks it stays as well.
    if make is gl.labs.run_adagrad:
        assert lab.params["step"] == 7 and "7 steps" in lab.description.summary
        lab.set(step=3)
        go_on(rec, 8)
        assert lab.params["step"] == 3


def test_a_lab_that_nobody_sees_costs_nothing_and_is_right_when_it_is_shown() -> None:
    rec = gl.Recorder()
    go_on(rec, 5)
    lab = gl.labs.run_layers(rec)
    go_on(rec, 10)
    assert turns.pace.spent == 0
    assert "10 steps" in lab.description.alt
    go_on(rec, 15)
    assert "15 steps" in lab.live.description.alt
    lab.close()
    spent = turns.pace.spent
    go_on(rec, 20)
    assert turns.pace.spent == spent
    assert "20 steps" in lab.live.description.alt


@pytest.mark.exhaustive
def test_no_lab_is_kept_by_its_recorder() -> None:
    rec = gl.Recorder()
    go_on(rec, 5)
    lab = gl.labs.clipping(rec)
    follower = weakref.ref(lab._follower)
    shown(lab)
    go_on(rec, 8)
    lab.close()
    gone = weakref.ref(lab)
    del lab
    with turns._guard:
        turns._waiting.clear()
    until(
        lambda: gc.collect() >= 0 and gone() is None,
        saying="the thread that drew ahead has let go of it",
    )
    assert follower() is None and not len(rec.listeners)


@pytest.mark.exhaustive
def test_in_a_thread_it_waits_for_the_cell_and_the_last_steps_come(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(_following, "QUIET", 0.2)
    rec = gl.Recorder()
    go_on(rec, 5)
    lab = gl.labs.clipping(rec)
    told = shown(lab)
    monkeypatch.setattr(attention, "_running", 1)
    training = threading.Thread(target=go_on, args=(rec, 30))
    training.start()
    training.join()
    assert not told  # another thread may be drawing by itself
    monkeypatch.setattr(attention, "_running", 0)
    end = time.monotonic() + 60
    while lab.live.changing or not told:
        assert time.monotonic() < end
        time.sleep(0.01)
    assert "30 steps" in told[-1]["summary"] and lab._room is None  # as it would be drawn now


@pytest.mark.exhaustive
def test_labs_take_turns_and_keep_to_their_share(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr(turns, "pace", Pace(0.02, 0.3, clock=lambda: now))
    rec, order = gl.Recorder(), []
    go_on(rec, 5)
    labs = [make(rec) for make in LABS]

    def take(lab: Any) -> Any:
        def taken(rec: gl.Recorder, growing: bool) -> None:
            nonlocal now
            now += 0.1
            order.append(lab)

        return taken

    for lab in labs:
        shown(lab)
        monkeypatch.setattr(lab, "take", take(lab))
    for _ in range(400):
        now += 0.1
        go_on(rec, rec.seen + 1)
    assert order[:4] in ([*labs, *labs], [*labs[::-1], *labs[::-1]])
    assert turns.pace.spent <= 0.02 * now + 0.1


def test_a_lab_that_cannot_be_drawn_ends_no_training(monkeypatch: pytest.MonkeyPatch) -> None:
    rec = gl.Recorder()
    go_on(rec, 5)
    lab = gl.labs.clipping(rec)
    told = shown(lab)
    monkeypatch.setattr(lab, "renewed", lambda rec: 1 / 0)
    go_on(rec, 8)
    assert rec.seen == 8
    assert [m["text"] for m in told if m["kind"] == "status"] == [
        "It follows the recorder no longer: ZeroDivisionError: division by zero"
    ]


def test_what_fits_is_drawn_the_fast_way() -> None:
    room = AxesRoom(100, 1, ((0.1, 10.0), (np.nan, np.nan)))
    assert room.holds(room) and room.to_grow().holds(room)
    assert not room.holds(room.to_grow())
    assert not room.holds(room._replace(stride=2))
    assert not room.holds(room._replace(ranges=((0.1, 10.0), (1.0, 2.0))))
