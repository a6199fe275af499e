"""w - g * lr, rounded after the product and after the difference."""

import numpy as np

from gradlab.rules import StochasticGradientDescent


def test_it_rounds_twice() -> None:
    rng = np.random.default_rng(2)
    w, g, lr = rng.normal(size=100).astype("f4"), rng.normal(size=100).astype("f4"), np.float32(0.1)
    expected = np.array([np.float32(a) - np.float32(b * lr) for a, b in zip(w, g, strict=True)], np.float32)
    np.testing.assert_array_equal(StochasticGradientDescent()(w, (), g, lr)[0], expected)
    assert StochasticGradientDescent().init(w) == ()
