"""Nadam beside its formula in double precision, and without correction."""

import numpy as np
import pytest

from gradlab.rules import Nadam


@pytest.mark.parametrize("momentum_decay", [0.004, 1.0])
def test_three_steps(momentum_decay: float) -> None:
    def mu(t: int) -> float:
        return 0.9 * (1 - 0.5 * 0.96 ** (t * momentum_decay))

    rule = Nadam(momentum_decay=momentum_decay)
    w = np.array([1.0])
    slots = rule.init(w)
    shared = rule.start()
    wanted, m, v, product = 1.0, 0.0, 0.0, 1.0

    for t, g in enumerate([4.0, -1.0, 0.5], 1):
        w, slots = rule.at(shared)(w, slots, np.array([g]), 0.1)
        shared = rule.advance(shared)
        product *= mu(t)
        m = 0.9 * m + 0.1 * g
        v = 0.999 * v + 0.001 * g * g
        ahead = mu(t + 1) * m / (1 - product * mu(t + 1)) + (1 - mu(t)) * g / (1 - product)
        wanted -= 0.1 * ahead / (np.sqrt(v / (1 - 0.999**t)) + 1e-7)
        np.testing.assert_allclose(w, [wanted], rtol=1e-4)


def test_an_unknown_order_is_refused() -> None:
    with pytest.raises(ValueError, match="order must be one of 'dense', 'sparse'; got 'up'"):
        Nadam(order="up")  # type: ignore[arg-type]
