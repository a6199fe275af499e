"""Fewer rows of a recording: as the recorder itself would have merged them."""

import numpy as np

from gradlab import Recorder
from gradlab.record.condensed import condensed


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
