import gc
import threading
import weakref
from html.parser import HTMLParser
from typing import Any

import ipywidgets
import pytest
from anywidget import AnyWidget
from matplotlib.figure import Figure

from gradlab.live import Description, LiveFigure, Preset, Range, Slider, Toggle, figure
from gradlab.live.figure import DEFERRED_SECONDS
from tests.live.conftest import Wire
from tests.live.examples import clipped


def test_values_can_be_set_and_read() -> None:
    live = clipped()
    assert live.values == {"limit": 1.0, "phase": 0.0, "steps": 3, "rule": "sgd"}
    before = live.frame()
    live.set(limit=2, rule="ada")
    assert live.values == {"limit": 2.0, "phase": 0.0, "steps": 3, "rule": "ada"}
    assert live.description.alt == "The limit is 2."
    assert live.frame() != before
    live.values["limit"] = 7  # a copy
    assert live.values["limit"] == 2.0


@pytest.mark.parametrize(
    ("wrong", "error", "message"),
    [
        (
            {"limt": 1},
            ValueError,
            "Clipping & more has no control 'limt'; allowed are limit, phase, steps, rule",
        ),
        ({"train": 1}, ValueError, "has no control 'train'"),
        ({"phase": 1, "limit": -1}, ValueError, "limit must be from 0.01 to 100, got -1"),
        ({"phase": 1, "limit": "1"}, TypeError, "limit must be a number"),
        (
            {"phase": 1, "rule": "adam"},
            ValueError,
            "rule must be one of 'sgd', 'ada', 'broken', got 'adam'",
        ),
        ({"phase": 1, "rule": "broken"}, RuntimeError, "no such rule"),
    ],
)
def test_an_error_leaves_everything_as_it_was(
    wrong: dict, error: type[Exception], message: str
) -> None:
    live = clipped()
    wire = Wire(live)
    live._inbox.receive({"kind": "open", "view": "a", "ratio": 1})
    wire.replies.clear()
    state = live.values, live.description, live.frame(), live.png()
    with pytest.raises(error, match=message):
        live.set(**wrong)
    assert (live.values, live.description, live.frame(), live.png()) == state
    assert not wire.replies
    live.set(limit=5)
    assert live.values["limit"] == 5


def test_a_figure_that_was_closed_is_held_by_nobody() -> None:
    live = clipped()
    kept = weakref.ref(live)
    live.close()
    del live
    gc.collect()
    assert kept() is None


def test_update_must_describe_the_state() -> None:
    with pytest.raises(TypeError, match="update must return a Description, got NoneType"):
        LiveFigure(Figure(), [], lambda values: None, label="x")  # type: ignore[arg-type,return-value]


def test_presets_hold_what_the_controls_allow() -> None:
    with pytest.raises(ValueError, match="Tiny has no control 'limt'"):
        clipped(presets=[Preset("Tiny", {"limt": 0.01})])
    live = clipped(presets=[Preset("Tiny", {"limit": 0.01})])
    assert live._state.setup(1.0, False)[0]["presets"] == [
        {"label": "Tiny", "values": {"limit": 0.01}}
    ]


def test_the_view_that_spoke_last_decides_between_wide_and_narrow() -> None:
    calls: list[bool] = []
    live = clipped(arrange=calls.append)
    wire = Wire(live)
    for view, narrow in (("a", False), ("b", True), ("c", True)):
        live._inbox.receive({"kind": "open", "view": view, "ratio": 1, "narrow": narrow})
    kinds = [(content["kind"], content["narrow"]) for content, _ in wire.replies]
    assert kinds == [("setup", False), ("still", True), ("setup", True), ("setup", True)]
    for view in "cb":
        live._inbox.receive({"kind": "close", "view": view})
    assert calls == [True, False]
    assert (wire.replies[-1][0]["kind"], wire.replies[-1][0]["narrow"]) == ("still", False)


def test_refresh_shows_what_changed_behind_the_figure() -> None:
    figure = Figure(figsize=(2, 1))
    (line,) = figure.add_subplot().plot([0, 1], [0, 1], animated=True)
    data = [1.0]

    def update(values: dict) -> Description:
        line.set_ydata([0, data[0]])
        return Description(f"It is {data[0]:g}.", "")

    live = LiveFigure(figure, [], update, label="x")
    before = live.frame()
    data[0] = 0.5
    live.refresh()
    assert live.description.alt == "It is 0.5."
    assert live.frame() != before


def test_the_bundle_is_the_same_each_time_but_for_the_model() -> None:
    bundles = [clipped()._repr_mimebundle_(include=None, exclude=None)[0] for _ in range(2)]
    view = "application/vnd.jupyter.widget-view+json"
    assert bundles[0].pop(view) != bundles[1].pop(view)
    assert bundles[0] == bundles[1]
    assert bundles[0]["text/plain"] == repr(clipped()) == "Clipping & more: limit 1"


def test_the_fallback_is_well_formed_and_escaped() -> None:
    live = clipped()
    html = live.fallback_html()
    stack, seen = [], []

    class Reader(HTMLParser):
        def handle_starttag(self, tag: str, attrs: list) -> None:
            seen.append((tag, dict(attrs)))
            if tag != "img":
                stack.append(tag)

        def handle_endtag(self, tag: str) -> None:
            assert stack.pop() == tag

    Reader().feed(html)
    assert stack == []
    images = [attributes for tag, attributes in seen if tag == "img"]
    assert images[0]["alt"] == "The limit is 1."
    assert images[0]["src"].startswith("data:image/png;base64,")
    assert "max-width:100%" in images[0]["style"]
    assert seen[0] == (
        "figure",
        {"role": "group", "aria-label": "Clipping & more", "style": "margin:0"},
    )
    assert "<td>&lt;sgd&gt;</td>" in html
    assert len(html) < 60_000


def test_only_the_controls_are_kept_as_state() -> None:
    live = clipped()
    own = {key for key in live.get_state() if not key.startswith("_")}
    assert own == {"layout", "tabbable", "tooltip", "selected", *live.values}


def test_still_parts_are_painted_again_on_request() -> None:
    live = clipped()
    wire = Wire(live)
    for view, ratio in (("a", 1), ("b", 2), ("c", 1)):
        live._inbox.receive({"kind": "open", "view": view, "ratio": ratio})
    setups = [(m["kind"], m["view"], m["ratio"]) for m, _ in wire.replies]
    assert setups == [("setup", "a", 1.0), ("setup", "b", 2.0), ("setup", "c", 1.0)]
    before = {m["ratio"]: b[0] for m, b in wire.replies}
    wire.replies.clear()
    live._state.scene.figure.axes[0].set_title("new")
    live.redraw_still()
    assert [(m["kind"], m["ratio"]) for m, _ in wire.replies] == [("still", 1.0), ("still", 2.0)]
    assert all(b[0] != before[m["ratio"]] for m, b in wire.replies)


def test_saying_something_works_from_another_thread() -> None:
    live = clipped()
    wire = Wire(live)
    thread = threading.Thread(target=live.say, args=("step 3",))
    thread.start()
    thread.join()
    assert wire.replies == [({"kind": "status", "text": "step 3", "error": False}, [])]
    live._inbox.receive({"kind": "open", "view": "late", "ratio": 1})
    assert wire.replies[-1][0]["status"] == {"text": "step 3", "error": False}
    live.set(limit=2)
    live._inbox.receive({"kind": "open", "view": "later", "ratio": 1})
    assert wire.replies[-1][0]["status"]["text"] == ""


def test_setting_a_trait_moves_the_control_and_back() -> None:
    live, seen = clipped(), []
    live.observe(lambda change: seen.append((change.name, change.new)), ["limit", "rule"])
    live.limit = 2
    assert live.values["limit"] == 2.0
    live.set(limit=3, rule="ada")
    assert (live.limit, live.rule) == (3.0, "ada")
    assert seen == [("limit", 2.0), ("limit", 3.0), ("rule", "ada")]


def test_what_a_control_refuses_a_trait_refuses() -> None:
    live = clipped()
    with pytest.raises(ValueError, match="limit must be from"):
        live.limit = -1
    with pytest.raises(RuntimeError, match="no such rule"):
        live.rule = "broken"
    assert (live.limit, live.rule, live.values["rule"]) == (1.0, "sgd", "sgd")


def test_a_figure_without_controls_may_have_a_selected_item_and_be_closed() -> None:
    live = LiveFigure(Figure(), [], lambda values: Description("Nothing moves.", ""), label="x")
    live.selected = 3
    live.close()
    assert (live.selected, live.values) == (3, {})


def test_a_link_couples_two_figures_and_ordinary_widgets() -> None:
    first, second, slider = clipped(), clipped(), ipywidgets.FloatSlider(min=0.01, max=100.0)
    ipywidgets.link((first, "limit"), (second, "limit"))
    ipywidgets.link((first, "limit"), (slider, "value"))
    slider.value = 7.0
    assert first.values["limit"] == second.values["limit"] == 7.0
    second.set(limit=9.0)
    assert slider.value == 9.0


def test_what_a_message_moves_the_traits_of_the_page_follow() -> None:
    live, sent = clipped(), []
    live.send_state = lambda key=None: sent.append(sorted([key] if isinstance(key, str) else key))
    live._inbox.receive({"kind": "open", "view": "a", "ratio": 1})
    live._inbox.receive(
        {"kind": "set", "view": "a", "id": 1, "values": {"limit": 4.0, "rule": "ada"}}
    )
    assert (live.limit, live.rule) == (4.0, "ada")
    assert sent == [["limit", "rule"]]  # in one message


def test_pages_hear_of_traits_that_a_page_moves_once_its_pictures_are_there(
    monkeypatch: Any,
) -> None:
    live, sent, turns = clipped(), [], []
    monkeypatch.setattr(AnyWidget, "send_state", lambda _, key=None: sent.append(sorted(key)))
    monkeypatch.setattr(figure, "in_background", lambda some: turns.append(some) or some)
    live._inbox.receive({"kind": "open", "view": "a", "ratio": 1})
    for number, values in enumerate([{"limit": 4.0}, {"limit": 5.0, "rule": "ada"}]):
        live._inbox.receive({"kind": "set", "view": "a", "id": number, "values": values})
    assert (live.limit, live.rule, sent) == (5.0, "ada", [])
    live.set(phase=1.0)  # from Python
    assert sent == [["phase"]]
    (some,) = turns
    assert list(some) == [DEFERRED_SECONDS]
    assert sent[1:] == [["limit", "rule"]]


def test_without_a_thread_or_a_loop_pages_hear_of_traits_at_once(monkeypatch: Any) -> None:
    live, sent = clipped(), []
    monkeypatch.setattr(AnyWidget, "send_state", lambda _, key=None: sent.append(sorted(key)))
    monkeypatch.setattr(figure, "in_background", lambda some: None)
    live._inbox.receive({"kind": "set", "view": "a", "id": 1, "values": {"limit": 4.0}})
    assert sent == [["limit"]]


def test_an_observer_sees_all_controls_at_their_new_values() -> None:
    live, seen = clipped(), []
    live.observe(lambda change: seen.append((live.limit, live.rule)), ["limit", "rule"])
    live.set(limit=3, rule="ada")
    assert seen == [(3.0, "ada")] * 2


def test_an_observer_that_fails_leaves_controls_and_traits_agreeing() -> None:
    live = clipped()

    def fail(_: Any) -> None:
        raise KeyError("observer")

    live.observe(fail, "limit")
    with pytest.raises(KeyError, match="observer"):
        live.set(limit=3, rule="ada")
    assert (live.limit, live.rule) == (3.0, "ada") == (live.values["limit"], live.values["rule"])


def test_state_from_the_front_end_is_checked_like_any_other() -> None:
    live = clipped()
    live.set_state({"limit": 6})
    assert live.values["limit"] == 6.0


def picture(*controls: Any) -> LiveFigure:
    return LiveFigure(Figure(), controls, lambda values: Description("a", "b"), label="x")


def test_every_kind_of_value_is_mirrored() -> None:
    live = picture(Range("steps", "Steps", 0, 9, (1, 3), scale="integer"), Toggle("on", "On", True))
    live.set_state({"steps": [2, 4], "on": False})
    assert live.values == {"steps": (2, 4), "on": False}
    assert {"steps", "on", "selected"} <= set(live.keys)


@pytest.mark.parametrize("name", ["values", "layout", "selected", "comm", "set"])
def test_a_control_cannot_take_the_name_of_something_else(name: str) -> None:
    with pytest.raises(ValueError, match=f"a control cannot be called '{name}'"):
        picture(Slider(name, "A", 0.0, 1.0, 0.5))


def test_a_closed_figure_keeps_its_state_opens_when_shown_and_leaves_a_shared_layout_alone() -> (
    None
):
    live, other = clipped(), clipped()
    live.layout = other.layout
    live.set(limit=2.0)
    live.close()
    live.close()
    assert live.comm is None
    assert other.layout.comm is not None
    assert live.values["limit"] == 2.0
    data, _ = live._repr_mimebundle_()
    assert live.comm is not None
    assert data["application/vnd.jupyter.widget-view+json"]["model_id"] == live.model_id


def test_what_no_page_shows_is_displayed_to_be_presented(monkeypatch: pytest.MonkeyPatch) -> None:
    import IPython.display

    live, shown, sent = clipped(), [], []
    monkeypatch.setattr(IPython.display, "display", shown.append)
    monkeypatch.setattr(live, "send", lambda content, buffers=None: sent.append(content))
    live.present()
    assert shown == [live]
    for view in "ab":
        live._inbox.receive({"kind": "open", "view": view, "ratio": 1, "dark": False})
    live.present()
    assert [(one["kind"], one["view"], one.get("present")) for one in sent] == [
        ("setup", "a", True), ("setup", "b", False), ("present", "b", None),
    ]  # fmt: skip
    assert shown == [live]
