"""The picture of an accumulator: chips where gradients arrived, slots that fill, a queue, and what the mean is of."""

import numpy as np

from gradlab.figures.accumulator import _BUCKET, AccumulatorView, Arrivals, Inside, _slots

ZERO = np.zeros(4, np.float32)
PAST = Arrivals([0, 2, 1], [0, 0, 1], [0, 1, 1], [True, False, True], [1, 0, 1], ["A", "", ""], [1, 0, 0], [ZERO] * 3)


def inside(**changes: object) -> Inside:
    now = Inside(1, 1, [("A", 2), ("B", 1)], ZERO + 1, ZERO + 3, ZERO + 1.5, 1, (2,), (1,))
    return now._replace(**changes)


def drawn(now: Inside, past: Arrivals = PAST) -> AccumulatorView:
    view = AccumulatorView(3, 8)
    view.draw(len(past.worker), past, now)
    return view


def boxes(shape) -> int:  # type: ignore[no-untyped-def]
    return int(np.isfinite(shape.get_path().vertices[:, 0]).sum()) // 5


def said(texts) -> list[str]:  # type: ignore[no-untyped-def]
    return [words.get_text() for words in texts if words.get_text()]


def test_dropped_gradients_are_hatched_and_lower_and_takes_are_lines() -> None:
    view = drawn(inside())
    strip = view._chips[0]
    assert said(strip._numbers) == ["1", "3", "2"]
    assert [boxes(shape) for shape in strip._shapes] == [1, 1, 0] and boxes(strip._dropped) == 1
    assert strip._dropped.get_path().vertices[0, 1] > strip._shapes[0].get_path().vertices[2, 1]
    assert view._takes.get_xdata()[:2].tolist() == [1, 1]
    assert said(view._served) == ["A 1"]
    assert view._title.get_text().endswith(": 1 of 3 dropped")


def test_the_bucket_holds_its_members_and_has_slots_for_the_rest() -> None:
    view = drawn(inside())
    assert said(view._chips[1]._numbers) == ["2", "3"]  # in it, and fallen out
    assert boxes(view._slots) == 1 and view._more.get_text() == "one more"
    assert said(view._verdict) == ["noted step 1,", "bucket at step 1:", "accepted"]
    assert len(view._path.get_xdata()) and not len(view._out.get_xdata())
    taken = drawn(inside(members=(0,), lost=(), step=1), Arrivals(*(column[:1] for column in PAST)))
    assert taken._bucket.get_text() == "Taken: the step is now 1"
    assert said(taken._said)[0] == "asked for 1, gets 1"


def test_slots_stay_in_the_bucket_and_apart_however_many_there_are() -> None:
    left, right, top, bottom = _BUCKET
    for count in range(1, 16):
        x0, x1, y, high = _slots(count)
        assert (x0 > left).all() and (x1 < right).all() and (y > top).all() and (y + high < bottom).all()
        assert len({*zip(x0, y, strict=True)}) == count and high > 20


def test_the_queue_has_a_row_for_everybody_in_line() -> None:
    view = drawn(inside())
    assert said(view._who) == ["A", "B"]
    assert said(view._said) == ["needs 2, has 1", "needs 1, waits for A"]
    assert (boxes(view._has), boxes(view._needs)) == (1, 2)
    assert said(drawn(inside(queue=[]))._said) == ["nobody waits"]


def test_the_mean_has_a_dot_for_each_gradient_in_the_mark_of_its_worker() -> None:
    view = drawn(inside())
    assert [len(dots.get_xdata()) for dots in view._dots] == [0, 4, 0, 0]
    assert said(view._numbers) == ["1.5"] * 4
    empty = drawn(inside(of=0, members=()))
    assert not said(empty._numbers) and empty._gets.get_text() == "Empty: no mean"
