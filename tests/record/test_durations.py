"""How long steps took: what is known of it, without the first row."""

import numpy as np

from gradlab import Recorder
from gradlab.workers import Speeds


def test_unknown_durations_and_the_first_row_are_left_out() -> None:
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
