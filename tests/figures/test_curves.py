"""The running mean of curves: inside of five points, and exact at the ends."""

import numpy as np

from gradlab.figures._curves import smoothed


def test_smoothing_is_a_mean_and_keeps_the_ends() -> None:
    curve = np.array([1.0, 9, 1, 9, 1, 9, 4])
    smooth = smoothed(curve)
    assert smooth[0] == 1 and smooth[-1] == 4
    assert smooth[3] == np.mean(curve[1:6]) and smooth[1] == np.mean(curve[:3])
    np.testing.assert_allclose(smoothed(np.arange(20.0)), np.arange(20.0))
    np.testing.assert_array_equal(smoothed(np.stack([curve, 2 * curve])), [smooth, 2 * smooth])
