"""What a recording says of its steps as a whole: durations, and fewer buckets, as the recorder
itself would merge.
"""

import numpy as np
import pytest

from gradlab import Recorder
from gradlab.record.buckets import condensed
from gradlab.workers import Speeds


def recorded(steps: int) -> Recorder:
    rec, rng = Recorder(steps=steps, entries=4, sample_every=2), np.random.default_rng(0)
    for _ in range(37):
        rec.record({"a": rng.normal(size=6), "b": rng.normal(size=3)}, loss=rng.random())
    return rec


def test_it_is_what_a_smaller_recorder_would_hold() -> None:
    fewer, small = condensed(recorded(64), 10), recorded(10)
    assert (len(fewer), fewer.stride, fewer.seen) == (len(small), small.stride, 37)
    for column in (
        "norm",
        "norm_low",
        "largest",
        "nonfinite",
        "square",
        "entry",
        "loss",
        "global_norm",
        "peak",
    ):
        np.testing.assert_allclose(fewer[column], small[column], rtol=1e-5, err_msg=column)
    one, other = (rec.what_if(clip_norm=2.0).share_by_tensor for rec in (fewer, small))
    np.testing.assert_allclose(one, other)
    assert np.isfinite(fewer.what_if(clip_value=1.0).norm_after).all()


def test_what_is_small_enough_stays_itself() -> None:
    rec = recorded(64)
    assert condensed(rec, 37) is rec
    before = rec["norm"].copy()
    condensed(rec, 5)
    np.testing.assert_array_equal(rec["norm"], before)


def test_fewer_buckets_can_be_recorded_into() -> None:
    whole = recorded(64)
    fewer = condensed(whole, 10)
    assert fewer.stride == 4
    rng = np.random.default_rng(1)
    for _ in range(300):
        step = {"a": rng.normal(size=6), "b": rng.normal(size=3)}
        whole.record(step, loss=1.0)
        fewer.record(step, loss=1.0)
    assert (fewer.seen, fewer.stride) == (whole.seen, whole.stride)
    for column in ("norm", "norm_low", "largest", "square", "entry", "histogram", "peak"):
        np.testing.assert_allclose(fewer[column], whole[column], rtol=1e-5, err_msg=column)


def test_fewer_buckets_count_no_entry_twice() -> None:
    """Rows of the histogram that are free after a merge still hold old counts."""
    rec = Recorder(steps=8, entries=0, sample_every=1)
    for _ in range(9):
        rec.record({"w": np.ones(3)})
    assert (rec.stride, len(rec)) == (2, 5)
    assert rec["histogram"].sum() == condensed(rec, 3)["histogram"].sum() == 9 * 3


def test_queued_steps_are_condensed_too() -> None:
    rec = recorded(64)
    rec.record({"a": np.ones(6), "b": np.ones(3)}, loss=1.0)
    assert (rec.store.seen, rec.store.next_step) == (37, 38)
    assert rec.store.condense(10).seen == 38


def test_unknown_durations_and_the_first_are_left_out() -> None:
    rec = Recorder(steps=10, entries=0)
    rec.prepare({"w": (2,)})
    ones = np.ones((5, 1))
    rec.extend(
        {
            "norm": ones,
            "largest": ones,
            "nonfinite": 0 * ones,
            "seconds": [9.0, 0.25, np.nan, 0.5, 0.25],
        }
    )
    assert rec.durations().tolist() == [0.25, 0.5, 0.25]
    assert set(Speeds(median=10, measured=rec.durations()).ticks(0, 1, 100)[0]) == {10, 20}


def test_a_run_without_times_has_none() -> None:
    rec = Recorder(steps=10, entries=0)
    rec.prepare({"w": (2,)})
    ones = np.ones((5, 1))
    rec.extend({"norm": ones, "largest": ones, "nonfinite": 0 * ones})
    assert rec.durations().size == 0


def with_nan_at(bad: dict[int, str], steps: int, buckets: int) -> Recorder:
    rec = Recorder(steps=buckets)
    for k in range(steps):
        rec.record({name: np.array([np.nan if bad.get(k) == name else 1.0]) for name in "ab"})
    return rec


def test_the_first_step_with_nan_is_known_however_many_share_a_bucket() -> None:
    rec = with_nan_at({701: "b", 730: "a", 731: "b"}, 1200, 100)
    assert rec.stride == 16
    assert rec.first_nonfinite_step == 701
    assert rec.first_nonfinite("b") == (701, 701)
    assert rec.first_nonfinite("a") == (730, 731), "one bucket, in which it is one of two steps"


def test_where_nothing_is_nan_there_is_no_first_step() -> None:
    rec = with_nan_at({}, 5, 2)
    assert rec.first_nonfinite_step is None and rec.first_nonfinite("a") is None
    with pytest.raises(KeyError, match="no tensor 'c'; there are a and b"):
        rec.first_nonfinite("c")
