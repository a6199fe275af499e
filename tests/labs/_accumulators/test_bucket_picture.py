"""The bucket of an accumulator: what is in it, what it waits for, what falls out, and why."""

import numpy as np
import pytest

from gradlab.labs._accumulators.bucket_picture import (
    _BOTTOM,
    _NARROW,
    _SLOT,
    _TALL,
    _TOP,
    _WIDE,
    _Place,
    _slots,
)
from tests.labs.arrivals import PAST, boxes, drawn, first, inside, said


def test_the_bucket_holds_its_members_and_has_slots_for_the_rest() -> None:
    scene = drawn(inside()).scene
    assert said(scene.chips._numbers) == ["2", "3"]  # in it, and fallen out
    assert scene._lost.get_text() == "1 fell out: below step 1"
    assert boxes(scene.slots) == 1 and scene.more.get_text() == "one more"
    assert boxes(scene._newest) == 1
    taken = drawn(inside(members=(0,), lost=(), step=1), first(1))
    assert (
        drawn(inside(members=(0,), lost=(0,)), first(1)).scene._lost.get_text()
        == "1 fell out: below step 0"
    )
    assert taken.scene.title.get_text() == "Taken: the step is now 1"
    assert said(taken.queue.said)[0] == "asked for 1, gets 1"


def test_the_way_of_the_latest_gradient_says_why_it_is_in_or_out() -> None:
    scene = drawn(inside()).scene
    assert said(scene.verdict) == ["noted step 1,", "as the bucket: in"]
    assert len(scene.way.get_xdata()) and not len(scene.out.get_xdata())
    assert [name.get_weight() for name in scene._names] == ["normal", "bold", "normal"]
    scene = drawn(inside(members=()), first(2)).scene
    assert said(scene.verdict) == ["noted step 0, bucket at 1:", "falls out"]
    assert (
        len(scene.out.get_xdata()) and not len(scene.way.get_xdata()) and not boxes(scene._newest)
    )
    ahead = drawn(inside(), PAST._replace(local_step=[0, 0, 1000])).scene
    assert said(ahead.verdict) == ["noted step 1,000,", "ahead of it: in"]


@pytest.mark.parametrize("place", [_WIDE, _NARROW])
def test_slots_are_of_one_height_in_the_bucket_and_apart_however_many_there_are(
    place: _Place,
) -> None:
    for count in range(1, 17):
        left, right, top = _slots(count, place)
        assert (left > place.left).all() and (right < place.right).all() and (right > left).all()
        assert (top > _TOP - 6).all() and (top + _SLOT < _BOTTOM).all()
        assert len({*zip(left, top, strict=True)}) == count
        assert (np.diff(top) < -_SLOT).all() or count > _TALL
