"""Pictures made ahead: which, in which order, how many, and that nobody waits for them."""

import time
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradlab.live import frame_cache
from gradlab.live.description import Description
from gradlab.live.frame_cache import PIECE, outward, pack, stride, unpack
from tests.live.conftest import Wire
from tests.live.examples import clipped


@given(st.integers(1, 300), st.data())
def test_the_nearest_come_first_and_none_is_missing(count: int, data: st.DataObject) -> None:
    here = data.draw(st.integers(0, count - 1))
    places = outward(count, here)
    assert sorted(places) == list(range(count))
    assert places[0] == here
    distances = [abs(place - here) for place in places]
    assert distances == sorted(distances)


@given(st.integers(1, 2000), st.floats(1, 1e5), st.integers(10_000, 2_000_000))
def test_what_is_sent_ahead_fits(count: int, each: float, most: int) -> None:
    step = stride(count, each, most)
    assert count / step * each <= most
    assert step == 1 or count / (step // 2) * each > most


@pytest.mark.exhaustive
@given(
    st.lists(
        st.tuples(
            st.text(max_size=9), st.text(max_size=30), st.binary(max_size=20).map(lambda b: b * 4)
        )
    )
)
def test_packing_loses_nothing(entries: list[tuple[str, str, bytes]]) -> None:
    described = [(key, Description(alt, key), frame) for key, alt, frame in entries]
    assert [(key, words["alt"], frame) for key, words, frame in unpack(pack(described))] == entries


def test_frames_that_differ_little_are_hardly_larger_than_one() -> None:
    """Also where one alone is longer than what deflate looks back over."""
    noise = np.random.default_rng(0).integers(0, 256, 10 * PIECE, np.uint8)
    frames = [bytes(np.append(noise, [k] * k).astype(np.uint8)) for k in range(5)]
    packed = pack([(str(k), Description("x", "x"), frame) for k, frame in enumerate(frames)])
    assert [frame for _, _, frame in unpack(packed)] == frames
    assert len(packed) < 1.1 * len(noise)


def opened(**more: Any) -> tuple[Any, Wire]:
    live = clipped(axis="limit", **more)
    wire = Wire(live)
    live._inbox.receive({"kind": "open", "view": "a", "ratio": 1})
    return live, wire


def finished(live: Any) -> None:
    end = time.monotonic() + 20
    while live._stage.preloader._thread is not None:
        assert time.monotonic() < end
        time.sleep(0.01)


def sent(wire: Wire) -> list[tuple[str, dict[str, Any], bytes]]:
    reels = [buffers[0] for content, buffers in list(wire.replies) if content["kind"] == "reel"]
    return [entry for data in reels for entry in unpack(data)]


@pytest.mark.exhaustive
def test_every_position_of_the_axis_is_sent_once_nearest_first() -> None:
    live, wire = opened()
    finished(live)
    keys = [key for key, _, _ in sent(wire)]
    slider = live._state.controls["limit"]
    assert len(keys) == len(set(keys)) == slider.count + 1
    here = slider.position(1.0)
    assert keys[0] == f"{here},0,2,0"
    assert {keys[1], keys[2]} == {f"{here + 1},0,2,0", f"{here - 1},0,2,0"}


@pytest.mark.exhaustive
def test_what_is_sent_is_what_the_kernel_would_show() -> None:
    live, wire = opened()
    finished(live)
    slider = live._state.controls["limit"]
    for key, words, frame in sent(wire)[::37]:
        live.set(limit=slider.at(int(key.split(",")[0])))
        assert (words["alt"], frame) == (live.description.alt, live.frame())


@pytest.mark.exhaustive
def test_recording_ahead_leaves_the_state_alone() -> None:
    live, _ = opened()
    before = live.values, live.description
    finished(live)
    assert (live.values, live.description) == before
    assert live.frame() == clipped().frame()
    assert live.png() == clipped().png()


@pytest.mark.exhaustive
def test_another_setting_is_recorded_anew_and_a_scrub_is_not() -> None:
    live, wire = opened()
    finished(live)
    wire.replies.clear()
    live._inbox.receive(
        {"kind": "set", "view": "a", "id": 1, "values": {"limit": 2.0}, "have": True}
    )
    finished(live)
    assert [content["kind"] for content, _ in wire.replies] == ["answer"]
    live.set(rule="ada")
    finished(live)
    assert {key.split(",", 1)[1] for key, _, _ in sent(wire)} == {"0,2,1"}


@pytest.mark.exhaustive
def test_another_control_between_two_positions_changes_nothing() -> None:
    live, wire = opened()
    finished(live)
    wire.replies.clear()
    live.set(phase=1.25)
    finished(live)
    slider = live._state.controls["limit"]
    assert {key for key, _, _ in sent(wire)} == {
        f"{place},=3ff4000000000000,2,0" for place in range(slider.count + 1)
    }


@pytest.mark.exhaustive
def test_beyond_the_limit_every_second_picture_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    live, wire = opened()
    finished(live)
    whole = len(sent(wire))
    monkeypatch.setattr(frame_cache, "MOST_BYTES", live._stage.preloader._bytes // 2)
    live, wire = opened()
    finished(live)
    assert whole / 5 < len(sent(wire)) <= whole / 2 + frame_cache.BATCH + 2


def test_pictures_of_unequal_size_keep_to_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frame_cache, "MOST_BYTES", 60_000)
    live = clipped(axis="limit")
    small, noise = live._state.scene.frame, np.random.default_rng(0)
    far = lambda: abs(np.log(live.line.get_ydata().max())) > 1  # noqa: E731
    live._state.scene.frame = lambda *args: small(*args) + (noise.bytes(30_000) if far() else b"")
    wire = Wire(live)
    live._inbox.receive({"kind": "open", "view": "a", "ratio": 1})
    finished(live)
    assert (
        0
        < sum(len(buffers[0]) for content, buffers in wire.replies if content["kind"] == "reel")
        <= 60_000
    )


@pytest.mark.exhaustive
def test_every_view_gets_all_pictures() -> None:
    live, wire = opened()
    finished(live)
    wire.replies.clear()
    live._inbox.receive({"kind": "open", "view": "b", "ratio": 1})
    finished(live)
    assert len(sent(wire)) == live._state.controls["limit"].count + 1


@pytest.mark.exhaustive
def test_after_an_error_the_next_setting_is_recorded_again(
    caplog: pytest.LogCaptureFixture,
) -> None:
    live, wire = opened()
    send, calls = live.send, []

    def fail_once(content: dict[str, Any], buffers: Any = None) -> None:
        if content["kind"] == "reel" and not calls:
            calls.append(content)
            raise OSError("no more room")
        send(content, buffers)

    live.send = fail_once
    with caplog.at_level("CRITICAL", "gradlab.live"):
        finished(live)
    assert sent(wire) == []
    live.set(rule="ada")
    finished(live)
    assert len(sent(wire)) == live._state.controls["limit"].count + 1


def test_nothing_is_recorded_for_nobody() -> None:
    live = clipped(axis="limit")
    live.set(limit=2.0)
    assert live._stage.preloader._thread is None
    live, wire = opened()
    live._inbox.receive({"kind": "close", "view": "a"})
    finished(live)
    assert len(sent(wire)) <= frame_cache.BATCH


def test_a_state_that_cannot_be_drawn_is_passed_over() -> None:
    live = clipped(axis="rule")
    wire = Wire(live)
    live._inbox.receive({"kind": "open", "view": "a", "ratio": 1})
    finished(live)
    assert {key.split(",")[-1] for key, _, _ in sent(wire)} == {"0", "1"}
    assert live.values["rule"] == "sgd"


def test_the_axis_must_be_a_control_with_positions() -> None:
    for wrong in ("train", "nothing"):
        with pytest.raises(
            ValueError, match=f"axis must name a slider, a menu or a toggle, got '{wrong}'"
        ):
            clipped(axis=wrong)
