"""Running means, exact at the ends, and running medians, of what is known."""

import numpy as np

from gradlab.live.drawing.curves import running_median, smoothed


def test_smoothing_is_a_mean_and_keeps_the_ends() -> None:
    curve = np.array([1.0, 9, 1, 9, 1, 9, 4])
    smooth = smoothed(curve)
    assert smooth[0] == 1 and smooth[-1] == 4
    assert smooth[3] == np.mean(curve[1:6]) and smooth[1] == np.mean(curve[:3])
    np.testing.assert_allclose(smoothed(np.arange(20.0)), np.arange(20.0))
    np.testing.assert_array_equal(smoothed(np.stack([curve, 2 * curve])), [smooth, 2 * smooth])


def test_a_median_leaves_out_what_is_not_known() -> None:
    values = np.arange(200.0)
    values[100] = 1e9
    values[50] = np.nan
    found = running_median(values)
    assert found[100] == 101 and found[50] == 50  # of 98, 99, 1e9, 101, 102; of 48, 49, 51, 52
    assert np.isnan(running_median(np.full(200, np.nan))).all()
    np.testing.assert_array_equal(running_median(np.arange(9.0)), np.arange(9.0))
