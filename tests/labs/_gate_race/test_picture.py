"""The picture of a race: boxes in order, lanes that turn new, arrows that say what was read, marks,
no collisions.
"""

import itertools

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.text import Text

from gradlab import labs
from gradlab.labs._gate_race.lab import SCHEDULES
from gradlab.labs._gate_race.picture import _TASKS, PALE_ORANGE, GateRaceTrace, GateView, Side
from gradlab.live.drawing.style import GREEN, ORANGE, ORANGE_TEXT, PALE_BLUE, QUIET, SMALL

START = np.array([[[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0], [7.0, 8.0]]])
ORDER = ("gradient b", "update b", "gradient a", "update a")


def side(
    done: int, *, raced: bool = False, waits: str | None = None, gate: int | None = None
) -> Side:
    numbers = np.full((2, 3, 2, 2), np.nan)
    numbers[:, 0] = START
    reads = {"b": ("a", False)} if done else {}
    if done > 2:
        numbers[0, 1], reads["a"] = 10.2 if raced else 11.0, ("b", raced)
    return Side(
        "GATE",
        "a rule",
        ORDER,
        done,
        waits,
        gate,
        reads,
        numbers,
        "it is -1 * 2",
        "an outcome",
        raced,
    )


def race(first: Side, second: Side) -> GateRaceTrace:
    there = ~np.isnan(first.numbers) & ~np.isnan(second.numbers)
    return GateRaceTrace(first.done, first, second, there & (first.numbers != second.numbers))


def drawn(first: Side, second: Side) -> GateView:
    view = GateView(START, 0.1)
    view.draw(race(first, second))
    return view


def test_boxes_stand_in_the_order_of_the_tasks_and_show_how_far_it_is() -> None:
    panel = drawn(side(2), side(2))._panels[0]
    assert [name.get_text() for name in panel._names] == list(ORDER)
    assert [box.get_x() for box in panel._boxes] == list(_TASKS)
    assert [box.get_linestyle() for box in panel._boxes] == ["-", "-", "--", "--"]
    widths = [box.get_linewidth() for box in panel._boxes]
    assert max(widths) == widths[1] > widths[0]


def test_a_lane_is_new_from_the_update_on() -> None:
    panel = drawn(side(3), side(1))._panels[0]
    assert list(panel._new["b"].get_xdata()) == [_TASKS[1] + 40, _TASKS[2] + 80]
    assert np.ptp(panel._new["a"].get_xdata()) == 0


def test_an_arrow_says_which_value_a_gradient_read() -> None:
    view = drawn(side(3, raced=True), side(3))
    for panel, word, color, old in zip(
        view._panels, ("new b", "old b"), (ORANGE_TEXT, QUIET), (False, True), strict=True
    ):
        assert (panel._read["a"].get_text(), panel._read["a"].get_color()) == (word, color)
        assert (panel._arrows["a"].get_linewidth() < 2) is old
    assert not drawn(side(0), side(0))._panels[0]._arrows["a"].get_visible()


def test_what_differs_is_bold_in_a_frame_of_a_color() -> None:
    view = drawn(side(3, raced=True), side(3))
    first, second = view._panels
    marked = [key for key, text in first._entries.items() if text.get_weight() == "bold"]
    assert {key[:2] for key in marked} == {(0, 1)}
    assert {key for key, fill in first._fills.items() if fill.get_visible()} == set(marked)
    assert first._entries[0, 1, 0, 0].get_text() == "10.2"
    assert second._entries[0, 1, 0, 0].get_text() == "11"
    assert first._entries[0, 2, 0, 0].get_text() == "·"
    assert first._fills[0, 1, 0, 0].get_edgecolor() == pytest.approx(_rgba(ORANGE))
    assert view._key.get_text() and not drawn(side(2), side(2))._key.get_text().strip()
    for panel, color in ((first, PALE_ORANGE), (second, PALE_BLUE)):
        assert panel._fills[0, 1, 0, 0].get_facecolor() == pytest.approx(_rgba(color))


def _rgba(color: str) -> tuple[float, ...]:
    return (*(int(color[k : k + 2], 16) / 255 for k in (1, 3, 5)), 1.0)


@pytest.mark.exhaustive
def test_the_gate_is_shut_until_it_opens_and_absent_where_there_is_none() -> None:
    texts = [
        drawn(side(done, gate=2), side(done))._panels[0]._gate_text.get_text() for done in range(4)
    ]
    assert texts == ["gate closed", "gate closed", "gate open", "gate open"]
    free = drawn(side(1), side(1))._panels[0]
    assert (free._gate_text.get_text(), len(free._gate.get_xdata())) == ("", 0)
    waiting = drawn(side(1, gate=2, waits="update b"), side(1))._panels[0]
    assert waiting._names[1].get_text() == "update b\nwaits"


def test_only_the_end_has_a_verdict() -> None:
    first, second = drawn(side(4, raced=True), side(4))._panels
    assert (first._outcome.get_text(), first._outcome.get_color()) == ("✗ an outcome", ORANGE_TEXT)
    assert (second._outcome.get_text(), second._outcome.get_color()) == ("✓ an outcome", GREEN)
    assert first._boxes[3].get_edgecolor() == pytest.approx(_rgba(ORANGE))
    assert first._told.get_text() == "it is −1 × 2"
    assert drawn(side(3), side(3))._panels[0]._outcome.get_text() == "an outcome"


@pytest.mark.exhaustive
@pytest.mark.parametrize("narrow", [False, True], ids=["wide", "narrow"])
@pytest.mark.parametrize(("first", "second"), list(itertools.pairwise([*SCHEDULES, "none_b"])))
def test_no_text_touches_another_or_leaves_its_panel(first: str, second: str, narrow: bool) -> None:
    lab = labs.gate_race(first=first, second=second)
    view = lab.make_view()
    view.arrange(narrow)
    canvas = FigureCanvasAgg(view.figure)
    for step in range(5):
        lab.draw(view, lab.compute({**lab.params, "step": step}))
        canvas.draw()
        texts = [
            t for t in view.figure.findobj(Text) if t.get_visible() and t.get_text() and _placed(t)
        ]
        assert len(texts) > 40
        assert min(t.get_fontsize() for t in texts) >= SMALL
        boxes = [(t, t.get_window_extent(canvas.get_renderer())) for t in texts]
        for text, box in boxes:
            around = view.figure.bbox if text.axes is None else text.axes.bbox
            assert around.padded(1).containsx(box.x0) and around.padded(1).containsx(box.x1), text
            assert around.padded(1).containsy(box.y0) and around.padded(1).containsy(box.y1), text
        for (one, a), (other, b) in itertools.combinations(boxes, 2):
            assert not a.overlaps(b), f"{one} touches {other}"


def _placed(text: Text) -> bool:
    """Whether a text is drawn at all: the axes are off, so their ticks and titles are not."""
    axes = text.axes
    return axes is None or text in axes.texts


def test_a_narrow_page_has_the_panels_one_above_the_other() -> None:
    view = GateView(START, 0.1)
    for narrow, together in ((True, "x0"), (False, "y0"), (True, "x0")):
        view.arrange(narrow)
        FigureCanvasAgg(view.figure).draw()
        first, second = (panel.axes.get_position() for panel in view._panels)
        assert getattr(first, together) == pytest.approx(getattr(second, together))
        assert first.y0 > second.y0 or first.x0 < second.x0
