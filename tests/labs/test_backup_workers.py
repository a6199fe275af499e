"""The lab of spare workers shows what was recorded, and its target needs neither all nor one."""

import numpy as np

import gradlab as gl
from gradlab.workers.spare_workers import WORKERS, recorded, time_to_collect


def test_the_curves_are_medians_of_the_recording() -> None:
    lab = gl.labs.backup_workers(aggregate=5)
    trace = lab.compute(lab.params)
    np.testing.assert_array_equal(trace.curve, 100 * np.median(recorded()[4], axis=0))
    np.testing.assert_array_equal(trace.everybody, 100 * np.median(recorded()[15], axis=0))
    assert trace.round == time_to_collect()[4]
    assert set(lab.columns(trace)) == {"ticks", "right", "right_all"}


def test_the_target_is_reached_with_some_to_spare_but_not_at_the_ends() -> None:
    lab, measure = gl.labs.backup_workers(), gl.labs.backup_workers.targets["faster"].measure
    reached = [measure(lab.compute({"aggregate": k}))[0] for k in range(1, WORKERS + 1)]
    assert sum(reached) >= 3
    assert not any(reached[:3] + reached[14:])


def test_what_never_gets_there_says_so() -> None:
    assert "not within 40000 ticks" in gl.labs.backup_workers(aggregate=1).description.summary
