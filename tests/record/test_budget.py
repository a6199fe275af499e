"""Every how many steps a recorder looks at more than norms."""

from __future__ import annotations

import numpy as np
import pytest

import gradlab as gl
from gradlab.record.budget import sample_every


def test_it_follows_from_sizes_alone_and_can_be_fixed() -> None:
    found = [sample_every([size] * 10) for size in (1, 10**4, 10**5, 10**6, 10**9)]
    assert found == sorted(found) and found[0] == 64 and found[-1] == 128
    rec = gl.Recorder()
    assert rec.sample_every is None
    rec.prepare({"w": (1000, 1000)})
    assert rec.sample_every == sample_every([10**6])
    fixed = gl.Recorder(sample_every=3)
    fixed.prepare({"w": (2,)})
    assert fixed.sample_every == 3
    with pytest.raises(ValueError, match="sample_every must be >= 1, got 0"):
        gl.Recorder(sample_every=0)


def test_a_state_says_how_often() -> None:
    rec, later = gl.Recorder(sample_every=5), gl.Recorder()
    rec.record([np.ones(3)])
    later.load_state_dict(rec.state_dict())
    assert later.sample_every == 5
    with pytest.raises(ValueError, match="made with"):
        gl.Recorder(sample_every=4).load_state_dict(rec.state_dict())
