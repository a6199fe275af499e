"""Many steps at once: what `extend` refuses.

That it records what single steps do is in test_traced.py.
"""

from typing import Any

import numpy as np
import pytest

import gradlab as gl

GOOD = {
    "norm": np.ones((2, 1)),
    "largest": np.ones((2, 1)),
    "nonfinite": np.zeros((2, 1)),
    "entry": np.ones((2, 3)),
}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"norm": np.ones(2)}, r"norm must have shape \(2, 1\), one row for each step, got \(2,\)"),
        ({"entry": np.ones((2, 4))}, r"entry must have shape \(2, 3\)"),
        ({"loss": np.ones((2, 1))}, r"loss must have shape \(2,\)"),
        (
            {"accuracy": np.ones(2)},
            "extend knows the columns norm, .*, loss, scale, skipped, not accuracy",
        ),
    ],
    ids=["norm", "entry", "loss", "unknown"],
)
def test_a_column_that_does_not_fit_is_refused(change: dict[str, Any], message: str) -> None:
    rec = gl.Recorder(4, entries=3)
    rec.prepare({"w": (5,)}, ["loss"])
    with pytest.raises(ValueError, match=message):
        rec.extend(GOOD | change)
    assert len(rec) == 0
    rec.extend(GOOD)
    assert len(rec) == 2 and np.isnan(rec["loss"]).all() and np.isnan(rec["seconds"]).all()


def test_all_columns_are_needed_and_tensors_come_first() -> None:
    rec = gl.Recorder(4, entries=3)
    with pytest.raises(ValueError, match="nothing is recorded yet"):
        rec.extend(GOOD)
    rec.prepare({"w": (5,)})
    with pytest.raises(
        ValueError,
        match="extend needs the columns norm, largest, nonfinite, entry; entry is not there",
    ):
        rec.extend({name: GOOD[name] for name in ("norm", "largest", "nonfinite")})
