"""AMSGrad's slot that never shrinks; golden files hold TensorFlow's numbers."""

import numpy as np

from gradlab.rules import AMSGrad


def test_the_largest_mean_square_is_kept() -> None:
    rule, w = AMSGrad(beta2=0.5), np.ones(1)
    state = w, rule.init(w)
    for g in (4.0, 0.0, 0.0):
        state = rule(*state, np.array([g]), 0.1)
    assert (state[1][1].item(), state[1][2].item()) == (2.0, 8.0)
