import logging
import threading
from typing import Any

import pytest
from matplotlib.figure import Figure

from gradlab.live import Description, LiveFigure, Slider, messages
from tests.live.conftest import Wire
from tests.live.examples import clipped


@pytest.fixture
def wire() -> Wire:
    wire = Wire(clipped())
    wire.live._inbox.receive({"kind": "open", "view": "a", "ratio": 1})
    wire.replies.clear()
    return wire


def ask(wire: Wire, values: Any, number: int = 1) -> list[dict[str, Any]]:
    wire.replies.clear()
    wire.live._inbox.receive({"kind": "set", "view": "a", "id": number, "values": values})
    return [content for content, _ in wire.replies]


def test_one_change_is_one_message(wire: Wire) -> None:
    (frame,) = ask(wire, {"limit": 2.0, "rule": "ada"}, 7)
    assert (frame["kind"], frame["answer"], frame["ratio"]) == ("frame", ["a", 7], 1.0)
    assert frame["values"] == {"limit": 2.0, "phase": 0.0, "steps": 3, "rule": "ada"}
    assert (frame["alt"], frame["summary"], frame["table"][0]) == (
        "The limit is 2.",
        "limit 2",
        ("limit", "2"),
    )
    assert wire.replies[0][1] == [wire.live.frame()]
    assert wire.live.values["rule"] == "ada"


def test_frames_are_numbered_upwards(wire: Wire) -> None:
    numbers = [ask(wire, {"limit": k})[0]["number"] for k in (1.0, 2.0, 3.0)]
    assert numbers == sorted(set(numbers))


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({"limit": 1e9}, {"limit": 100.0}),
        ({"limit": -5}, {"limit": 0.01}),
        ({"steps": 4.4}, {"steps": 4}),
        ({"limit": float("nan"), "steps": 2}, {"steps": 2}),
        ({"limit": None}, {}),
        ({"limit": "9"}, {}),
        ({"limit": [1]}, {}),
        ({"nothing": 1}, {}),
        ({"train": 1}, {}),
        ({"rule": 99}, {}),
        ({"rule": -1}, {}),
        ({"rule": "adam"}, {}),
        ({"rule": 1}, {}),
        (None, {}),
        ([1, 2], {}),
    ],
)
def test_bad_values_do_no_harm_and_are_answered(
    wire: Wire, values: Any, expected: dict[str, Any]
) -> None:
    before = wire.live.values
    (frame,) = ask(wire, values)
    assert frame["answer"] == ["a", 1]
    assert wire.live.values == {**before, **expected}


@pytest.mark.parametrize(
    "message", [None, 3, "open", {}, {"kind": "dance"}, {"kind": []}, {"kind": "press"}]
)
def test_messages_without_meaning_are_ignored(wire: Wire, message: Any) -> None:
    wire.live._inbox.receive(message)
    assert wire.replies == []


def test_an_error_in_update_is_shown_and_the_view_may_go_on(
    wire: Wire, caplog: pytest.LogCaptureFixture
) -> None:
    before = wire.live.values, wire.live.frame()
    with caplog.at_level(logging.CRITICAL, "gradlab.live"):
        answer, status = ask(wire, {"rule": "broken"})
    assert (answer["kind"], answer["answer"], answer["values"]["rule"]) == (
        "answer",
        ["a", 1],
        "sgd",
    )
    assert status == {"kind": "status", "text": "RuntimeError: no such rule", "error": True}
    assert (wire.live.values, wire.live.frame()) == before
    assert ask(wire, {"limit": 3.0})[0]["kind"] == "frame"


def test_who_shows_the_picture_already_is_only_answered(wire: Wire) -> None:
    message = {"kind": "set", "view": "a", "id": 3, "values": {"limit": 2.0}, "have": True}
    wire.live._inbox.receive(message)
    ((answer, buffers),) = wire.replies
    assert (answer["kind"], answer["answer"], answer["values"]["limit"], buffers) == (
        "answer",
        ["a", 3],
        2.0,
        [],
    )
    assert wire.live.description.alt == "The limit is 2."
    wire.live._inbox.receive({"kind": "open", "view": "b", "ratio": 1})
    wire.replies.clear()
    wire.live._inbox.receive(message)
    # The other view does not show it.
    assert [content["kind"] for content, _ in wire.replies] == ["frame"]


def test_a_picture_has_a_key_also_where_a_value_lies_between_two_positions(wire: Wire) -> None:
    assert ask(wire, {"limit": 100.0})[0]["key"] == "200,0,2,0"
    assert ask(wire, {"limit": 1.2345678})[0]["key"] == "=3ff3c0ca2a5b1d5d,0,2,0"


def test_zooming_shows_a_part_and_all_again(wire: Wire) -> None:
    axes = wire.live._state.scene.figure.axes[0]
    start, edition = axes.get_xlim(), wire.live._state.edition
    wire.live._inbox.receive(
        {"kind": "zoom", "view": "a", "panel": 0, "x": [0.25, 0.5], "y": [0.0, 1.0]}
    )
    assert wire.replies[-1][0]["kind"] == "still" and wire.replies[-1][0]["zoomed"]
    assert wire.replies[-1][0]["edition"] > edition
    assert axes.get_xlim() == pytest.approx((2.5, 5.0))
    wire.live._inbox.receive({"kind": "zoom", "view": "a", "panel": None})
    assert axes.get_xlim() == start and not wire.replies[-1][0]["zoomed"]


@pytest.mark.parametrize("part", [None, [1, 0], [0], ["0", 1], [0, float("nan")], [0, 1e9], 3])
def test_a_zoom_without_meaning_is_ignored(wire: Wire, part: Any) -> None:
    wire.live._inbox.receive({"kind": "zoom", "view": "a", "panel": 0, "x": part, "y": [0, 1]})
    wire.live._inbox.receive({"kind": "zoom", "view": "a", "panel": "0", "x": [0, 1], "y": [0, 1]})
    assert wire.replies == []


def test_a_dark_page_and_a_light_one_get_their_own_still(wire: Wire) -> None:
    wire.live._inbox.receive({"kind": "open", "view": "b", "ratio": 1, "dark": True})
    dark = wire.replies[-1][1][0]
    assert wire.replies[-1][0]["dark"] is True
    wire.live._inbox.receive({"kind": "open", "view": "b", "ratio": 1, "dark": False})
    assert wire.replies[-1][1][0] != dark


def open_again(wire: Wire, **screen: Any) -> list[str]:
    wire.replies.clear()
    wire.live._inbox.receive({"kind": "open", "view": "a", "ratio": 1, "again": True, **screen})
    return [content["kind"] for content, _ in wire.replies]


def test_who_asks_again_is_answered_again_unless_the_answer_is_on_its_way(
    wire: Wire, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert open_again(wire) == []
    assert open_again(wire, dark=True) == ["setup"]  # it asks for something else
    wire.live._inbox._told["a"] -= 100
    assert open_again(wire, dark=True) == ["setup"]
    assert open_again(wire, dark=True) == []
    monkeypatch.setattr(messages, "AGAIN_SECONDS", 0.0)
    assert open_again(wire, dark=True) == ["setup"]


def test_who_asks_again_has_not_spoken_last(wire: Wire, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(messages, "AGAIN_SECONDS", 0.0)
    wire.live._inbox.receive({"kind": "open", "view": "b", "ratio": 1, "narrow": True})
    assert open_again(wire) == ["setup"]
    assert wire.live._state.views.narrow


def test_a_view_that_cannot_be_opened_hears_of_it_alone(
    wire: Wire, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    with monkeypatch.context() as broken, caplog.at_level(logging.CRITICAL, "gradlab.live"):
        broken.setattr(wire.live._state.scene, "still", lambda ratio, dark: 1 / 0)
        wire.live._inbox.receive({"kind": "open", "view": "b", "ratio": 1})
    ((said, _),) = wire.replies
    assert said == {
        "kind": "status",
        "text": "ZeroDivisionError: division by zero",
        "error": True,
        "view": "b",
    }
    wire.replies.clear()
    wire.live._inbox.receive({"kind": "open", "view": "b", "ratio": 1, "again": True})
    assert [(content["kind"], content["status"]["text"]) for content, _ in wire.replies] == [
        ("setup", "")
    ]


def test_each_resolution_gets_its_own_frame(wire: Wire) -> None:
    for view, ratio in (("b", 2), ("c", 2)):
        wire.live._inbox.receive({"kind": "open", "view": view, "ratio": ratio})
    assert [frame["ratio"] for frame in ask(wire, {"limit": 2.0})] == [1.0, 2.0]
    for view in "bc":
        wire.live._inbox.receive({"kind": "close", "view": view})
    assert [frame["ratio"] for frame in ask(wire, {"limit": 3.0})] == [1.0]


def test_forgotten_views_do_not_pile_up(wire: Wire) -> None:
    for number in range(50):
        wire.live._inbox.receive({"kind": "open", "view": number, "ratio": 1})
    assert len(wire.live._state.views) == 8
    assert "49" in wire.live._state.views


def press(wire: Wire) -> None:
    wire.live._inbox.receive({"kind": "press", "view": "a", "name": "train"})


def test_a_button_works_in_its_own_thread_and_only_once_at_a_time() -> None:
    go, done, calls = threading.Event(), threading.Event(), []

    def work() -> None:
        calls.append(threading.current_thread())
        go.wait(5)
        live.set(limit=4.0)

    live = clipped(press=work)
    wire = Wire(live)
    tell = live.send
    live.send = lambda content, buffers=None: (
        tell(content, buffers),
        content.get("busy") is False and done.set(),
    )
    press(wire)
    press(wire)
    ask(wire, {"limit": 2.0})
    assert live.values["limit"] == 2.0  # controls go on working meanwhile
    go.set()
    assert done.wait(5)
    assert len(calls) == 1
    assert calls[0] is not threading.main_thread()
    assert live.values["limit"] == 4.0
    assert not live._state.busy


def test_an_error_in_a_button_is_shown_and_frees_the_button(
    caplog: pytest.LogCaptureFixture,
) -> None:
    done = threading.Event()

    def fail() -> None:
        raise OSError("disk <full>")

    wire = Wire(clipped(press=fail))
    tell = wire.live.send
    wire.live.send = lambda content, buffers=None: (
        tell(content),
        content.get("busy") is False and done.set(),
    )
    with caplog.at_level(logging.CRITICAL, "gradlab.live"):
        press(wire)
        assert done.wait(5)
    contents = [content for content, _ in wire.replies]
    assert [c["kind"] for c in contents] == ["busy", "status", "busy"]
    assert contents[1]["text"] == "OSError: disk <full>"


def test_the_layout_of_a_narrow_page_is_that_of_the_state_it_shows() -> None:
    def panels(drawn_before: float) -> list[dict[str, Any]]:
        figure = Figure(figsize=(6, 3), dpi=100, layout="constrained")
        axes = figure.add_subplot()

        def update(values: dict[str, Any]) -> Description:
            axes.set_ylabel("two\nlines" if values["x"] > 1 else "one")
            return Description("", "")

        live = LiveFigure(
            figure, [Slider("x", "x", 0.0, 5.0, 1.0)], update, label="Label",
            arrange=lambda narrow: figure.set_size_inches(3 if narrow else 6, 3),
        )  # fmt: skip
        live._state.describe({"x": drawn_before})  # as for a picture made ahead
        live._inbox.receive({"kind": "open", "view": "a", "ratio": 1, "narrow": True})
        return live._state.scene.panels()

    assert panels(5.0) == panels(1.0)
