"""What a recording says of its steps as a whole: durations, and fewer buckets, as the recorder itself would merge."""

import numpy as np

from gradlab import Recorder
from gradlab.record.recording import condensed
from gradlab.workers import Speeds


def recorded(steps: int) -> Recorder:
    rec, rng = Recorder(steps=steps, entries=4, histogram_every=2), np.random.default_rng(0)
    for _ in range(37):
        rec.record({"a": rng.normal(size=6), "b": rng.normal(size=3)}, loss=rng.random())
    return rec


def test_it_is_what_a_smaller_recorder_would_hold() -> None:
    fewer, small = condensed(recorded(64), 10), recorded(10)
    assert (len(fewer), fewer.stride, fewer.seen) == (len(small), small.stride, 37)
    for column in ("norm", "norm_low", "largest", "nonfinite", "square", "entry", "loss", "global_norm", "peak"):
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


def test_unknown_durations_and_the_first_are_left_out() -> None:
    rec = Recorder(steps=10, entries=0)
    rec.prepare({"w": (2,)})
    ones = np.ones((5, 1))
    rec.extend({"norm": ones, "largest": ones, "nonfinite": 0 * ones, "seconds": [9.0, 0.25, np.nan, 0.5, 0.25]})
    assert rec.durations().tolist() == [0.25, 0.5, 0.25]
    assert set(Speeds(median=10, measured=rec.durations()).ticks(0, 1, 100)[0]) == {10, 20}


def test_a_run_without_times_has_none() -> None:
    rec = Recorder(steps=10, entries=0)
    rec.prepare({"w": (2,)})
    ones = np.ones((5, 1))
    rec.extend({"norm": ones, "largest": ones, "nonfinite": 0 * ones})
    assert rec.durations().size == 0
