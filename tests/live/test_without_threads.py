"""The kernel's half where no thread can start, as in a browser tab: everything happens in slices of
the event loop.
"""

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import pytest

import gradlab as gl
from gradlab.live import scheduling
from gradlab.live.frame_cache import unpack
from tests.live.conftest import Wire
from tests.live.examples import clipped


def refuse(thread: threading.Thread) -> None:
    raise RuntimeError("can't start new thread")


@pytest.fixture(autouse=True)
def without_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threading.Thread, "start", refuse)
    monkeypatch.setattr(scheduling.attention, "_asked", -1e9)
    monkeypatch.setattr("gradlab.live.frame_cache.IDLE_SECONDS", 0.004)
    monkeypatch.setattr("gradlab.live.scheduling.IDLE_SECONDS", 0.001)


async def until(done: Callable[[], Any]) -> int:
    """How often the event loop had a turn of its own meanwhile."""
    for turns in range(10_000):
        if done():
            return turns
        await asyncio.sleep(0.001)
    raise AssertionError("it takes for ever")


@pytest.mark.exhaustive
def test_pictures_ahead_come_while_the_event_loop_serves_others() -> None:
    async def session() -> tuple[Any, list[Any], int]:
        live = clipped(axis="limit")
        wire = Wire(live)
        live._inbox.receive({"kind": "open", "view": "a", "ratio": 1})
        turns = await until(lambda: live._stage.preloader._thread is None)
        return live, wire.replies, turns

    live, replies, turns = asyncio.run(session())
    reels = [unpack(buffers[0]) for content, buffers in replies if content["kind"] == "reel"]
    keys = [key for reel in reels for key, _, _ in reel]
    assert len(keys) == len(set(keys)) == len(live._state.controls["limit"].values())
    assert max(map(len, reels)) == 1
    assert turns > 1


def test_a_button_is_pressed_in_the_event_loop_and_where_there_is_none_at_once() -> None:
    pressed: list[str] = []

    def press(name: str) -> Wire:
        live = clipped(press=lambda: pressed.append(name))
        wire = Wire(live)
        live._inbox.receive({"kind": "open", "view": "a", "ratio": 1})
        live._inbox.receive({"kind": "press", "view": "a", "name": "train"})
        return wire

    async def session() -> Wire:
        wire = press("loop")
        assert pressed == []  # the kernel answers first
        await until(lambda: pressed)
        return wire

    for wire in (asyncio.run(session()), press("none")):
        assert [content["busy"] for content, _ in wire.replies if content["kind"] == "busy"] == [
            True,
            False,
        ]
    assert pressed == ["loop", "none"]


def test_threads_as_an_engine_say_what_to_use() -> None:
    experiment = gl.workers.Experiment(gl.workers.Bowl(), gradients=4)
    with pytest.raises(RuntimeError, match='use engine="simulated"'):
        gl.workers.run(experiment, engine="threads")
    assert len(gl.workers.run(experiment)) == 4
