"""Which entries are followed, repeatable, spread over all tensors, and named; how often costly
numbers are measured.
"""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gradlab as gl
from gradlab.record.columns import sample_every_for


def prepared(entries: int, **shapes: tuple[int, ...]) -> gl.Recorder:
    rec = gl.Recorder(1, entries=entries)
    rec.prepare(shapes)
    return rec


@given(st.integers(1, 60), st.lists(st.integers(0, 50), min_size=1, max_size=8))
def test_entries_differ_and_reach_every_tensor(entries: int, sizes: list[int]) -> None:
    rec = prepared(entries, **{f"w{k}": (size,) for k, size in enumerate(sizes)})
    tensor, place = rec.sampled
    assert (place < np.array(sizes)[tensor]).all() and len(
        {*zip(tensor, place, strict=True)}
    ) == len(place)
    assert set(tensor) == {k for k, size in enumerate(sizes) if size}
    full = sum(sizes) if entries >= sum(sizes) else max(entries, sum(size > 0 for size in sizes))
    assert len(place) == full


def test_the_same_shapes_have_the_same_entries_and_names() -> None:
    one, two = (prepared(7, w=(40, 30), b=(3,), s=()) for _ in range(2))
    np.testing.assert_array_equal(one.sampled, two.sampled)
    names = [one.entry_name(k) for k in range(7)]
    assert names[-3:] == ["b[0]", "b[1]", "s"] or names[-1] == "s"
    assert len({name.partition(",")[0] for name in names[:3]}) == 3, "in different rows"


def test_none_are_followed_if_none_are_asked_for() -> None:
    rec = prepared(0, w=(4,))
    rec.record({"w": np.ones(4)})
    assert len(rec.sampled[0]) == 0
    with pytest.raises(ValueError, match="holds no single entries"):
        rec["entry"]


def test_sample_every_follows_from_sizes_alone_and_can_be_fixed() -> None:
    found = [sample_every_for([size] * 10) for size in (1, 10**4, 10**5, 10**6, 10**9)]
    assert found == sorted(found) and found[0] == 64 and found[-1] == 128
    rec = gl.Recorder()
    assert rec.sample_every is None
    rec.prepare({"w": (1000, 1000)})
    assert rec.sample_every == sample_every_for([10**6])
    fixed = gl.Recorder(sample_every=3)
    fixed.prepare({"w": (2,)})
    assert fixed.sample_every == 3
    with pytest.raises(ValueError, match="sample_every must be >= 1, got 0"):
        gl.Recorder(sample_every=0)


def test_a_state_says_how_often_it_was_sampled() -> None:
    rec, later = gl.Recorder(sample_every=5), gl.Recorder()
    rec.record([np.ones(3)])
    later.load_state_dict(rec.state_dict())
    assert later.sample_every == 5
    with pytest.raises(ValueError, match="made with"):
        gl.Recorder(sample_every=4).load_state_dict(rec.state_dict())
