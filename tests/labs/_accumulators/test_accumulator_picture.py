"""The picture of an accumulator: chips where gradients arrived, a queue, and what the mean is of."""

import pytest

from gradlab.labs import accumulators
from gradlab.labs._accumulators.bucket_picture import Arrivals
from gradlab.live.drawing.style import BLACK, BLUE, OTHER
from tests.labs.arrivals import PAST, ZERO, boxes, drawn, first, inside, said


def test_dropped_gradients_are_hatched_and_lower_and_takes_are_lines() -> None:
    strip = drawn(inside()).strip
    chips = strip.chips
    assert said(chips._numbers) == ["1", "3", "2"]
    assert [boxes(shape) for shape in chips._shapes] == [1, 1, 0] and boxes(chips._dropped) == 1
    assert chips._dropped.get_path().vertices[0, 1] > chips._shapes[0].get_path().vertices[2, 1]
    assert strip.takes.get_xdata()[:2].tolist() == [1, 1]
    assert said(strip.served) == ["A 1"]
    assert strip._lost.get_text() == "1 of 3 dropped"
    assert boxes(strip._ahead) == 5  # of eight
    assert strip._now.get_visible()
    assert not drawn(inside(members=(0,), lost=()), first(1)).strip._now.get_visible()


def test_the_queue_has_a_row_for_everybody_in_line_and_the_first_is_heavy() -> None:
    queue = drawn(inside()).queue
    assert said(queue.who) == ["A", "B"]
    assert said(queue.said) == ["needs 2, has 1", "needs 1, waits behind A"]
    assert [boxes(shape) for shape in (queue.has, queue.needs, queue.later)] == [1, 1, 1]
    assert [words.get_weight() for words in queue.said[:2]] == ["bold", "normal"]
    assert [len(line.get_xdata()) for line in queue._takers] == [1, 1]
    assert [line.get_markeredgecolor() for line in queue._takers] == [BLUE, OTHER]
    assert said(drawn(inside(queue=[])).queue.said) == ["nobody waits"]


def test_the_mean_has_a_dot_for_each_gradient_with_the_number_of_its_worker() -> None:
    mean = drawn(inside()).mean
    assert [len(dots.get_xdata()) for dots in mean.dots] == [0, 4, 0, 0]
    assert said(mean._worker) == ["2"] * 4 and said(mean.numbers) == ["1.5"] * 4
    assert mean.title.get_text() == "A would get the mean of 1"
    empty = drawn(inside(of=0, members=()))
    assert not said(empty.mean.numbers) and empty.mean.title.get_text() == "Empty: no mean"


def test_many_dots_have_marks_in_place_of_numbers() -> None:
    many = Arrivals(
        [0, 1] * 3, *([column[0]] * 6 for column in PAST[1:5]), [""] * 6, [0] * 6, [ZERO] * 6
    )
    mean = drawn(inside(members=range(6), of=6), many).mean
    assert not said(mean._worker)
    assert len({dots.get_marker() for dots in mean.dots}) == 4


@pytest.mark.parametrize(("value", "end"), [(1.5, "4"), (4.5, "8"), (16.0, "20"), (30.0, "40")])
def test_the_axis_of_the_mean_holds_what_is_drawn(value: float, end: str) -> None:
    mean = drawn(inside(value=ZERO + value)).mean
    assert said(mean._ticks)[-1] == end
    assert mean.value.get_path().vertices[:, 1].max() == pytest.approx(value / float(end))


def test_the_newest_is_framed_in_black() -> None:
    view = drawn(inside())
    for frame in (view.strip._newest, view.scene._newest):
        assert frame.get_edgecolor()[:3] == tuple(
            int(BLACK[k : k + 2], 16) / 255 for k in (1, 3, 5)
        )


def test_now_is_not_written_where_the_words_of_a_take_end() -> None:
    for event, shown in ((31, False), (32, False), (30, True)):
        lab = accumulators(event=event)
        view, trace = lab.make_view(), lab.compute(lab.params)
        lab.draw(view, trace)
        assert view.strip._now.get_visible() == shown, event
