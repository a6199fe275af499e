"""The picture of an accumulator: chips where gradients arrived, slots that fill, a queue, and what the mean is of."""

import numpy as np
import pytest

from gradlab.figures._style import BLACK, BLUE, OTHER
from gradlab.figures.accumulator import AccumulatorView
from gradlab.figures.bucket import _BOTTOM, _NARROW, _SLOT, _TALL, _TOP, _WIDE, Arrivals, Inside, _Place, _slots

ZERO = np.zeros(4, np.float32)
PAST = Arrivals([0, 2, 1], [0, 0, 1], [0, 1, 1], [True, False, True], [1, 0, 1], ["A", "", ""], [1, 0, 0], [ZERO] * 3)


def inside(**changes: object) -> Inside:
    now = Inside(1, 1, [("A", 2), ("B", 1)], ZERO + 1, ZERO + 3, ZERO + 1.5, 1, (2,), (1,))
    return now._replace(**changes)


def drawn(now: Inside, past: Arrivals = PAST) -> AccumulatorView:
    view = AccumulatorView(3, 8)
    view.draw(len(past.worker), past, now)
    return view


def first(n: int) -> Arrivals:
    return Arrivals(*(column[:n] for column in PAST))


def boxes(shape) -> int:  # type: ignore[no-untyped-def]
    return int(np.isfinite(shape.get_path().vertices[:, 0]).sum()) // 5


def said(texts) -> list[str]:  # type: ignore[no-untyped-def]
    return [words.get_text() for words in texts if words.get_text()]


def test_dropped_gradients_are_hatched_and_lower_and_takes_are_lines() -> None:
    strip = drawn(inside()).strip
    chips = strip.chips
    assert said(chips._numbers) == ["1", "3", "2"]
    assert [boxes(shape) for shape in chips._shapes] == [1, 1, 0] and boxes(chips._dropped) == 1
    assert chips._dropped.get_path().vertices[0, 1] > chips._shapes[0].get_path().vertices[2, 1]
    assert strip.takes.get_xdata()[:2].tolist() == [1, 1]
    assert said(strip.served) == ["A 1"]
    assert strip._lost.get_text() == "1 of 3 too old: dropped"
    assert boxes(strip._ahead) == 5  # of eight
    assert strip._now.get_visible()
    assert not drawn(inside(members=(0,), lost=()), first(1)).strip._now.get_visible()


def test_the_bucket_holds_its_members_and_has_slots_for_the_rest() -> None:
    scene = drawn(inside()).scene
    assert said(scene.chips._numbers) == ["2", "3"]  # in it, and fallen out
    assert scene._lost.get_text() == "1 fell out: below step 1"
    assert boxes(scene.slots) == 1 and scene.more.get_text() == "one more"
    assert boxes(scene._newest) == 1
    taken = drawn(inside(members=(0,), lost=(), step=1), first(1))
    assert drawn(inside(members=(0,), lost=(0,)), first(1)).scene._lost.get_text() == "1 fell out: below step 0"
    assert taken.scene.title.get_text() == "Taken: the step is now 1"
    assert said(taken.queue.said)[0] == "asked for 1, gets 1"


def test_the_way_of_the_latest_gradient_says_why_it_is_in_or_out() -> None:
    scene = drawn(inside()).scene
    assert said(scene.verdict) == ["noted step 1,", "as the bucket: in"]
    assert len(scene.way.get_xdata()) and not len(scene.out.get_xdata())
    assert [name.get_weight() for name in scene._names] == ["normal", "bold", "normal"]
    scene = drawn(inside(members=()), first(2)).scene
    assert said(scene.verdict) == ["noted step 0, bucket at 1:", "falls out"]
    assert len(scene.out.get_xdata()) and not len(scene.way.get_xdata()) and not boxes(scene._newest)
    ahead = drawn(inside(), PAST._replace(local_step=[0, 0, 1000])).scene
    assert said(ahead.verdict) == ["noted step 1,000,", "ahead of it: in"]


@pytest.mark.parametrize("place", [_WIDE, _NARROW])
def test_slots_are_of_one_height_in_the_bucket_and_apart_however_many_there_are(place: _Place) -> None:
    for count in range(1, 17):
        left, right, top = _slots(count, place)
        assert (left > place.left).all() and (right < place.right).all() and (right > left).all()
        assert (top > _TOP - 6).all() and (top + _SLOT < _BOTTOM).all()
        assert len({*zip(left, top, strict=True)}) == count
        assert (np.diff(top) < -_SLOT).all() or count > _TALL


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
    many = Arrivals([0, 1] * 3, *([column[0]] * 6 for column in PAST[1:5]), [""] * 6, [0] * 6, [ZERO] * 6)
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
        assert frame.get_edgecolor()[:3] == tuple(int(BLACK[k : k + 2], 16) / 255 for k in (1, 3, 5))
