"""The rounding of TensorFlow's kernels for slices reaches the rule; what differs is the last bits."""

from typing import Any

import numpy as np
import pytest

import gradlab as gl
from gradlab._base.slices import IndexedSlices
from gradlab.train.kernel_order import with_order

F = np.float32
# Optimizer, rule, order of slices, order where rows have one element.
RULES: dict[str, tuple[Any, Any, str, str]] = {
    "momentum": (
        gl.train.MomentumOptimizer(0.1, 0.9, use_nesterov=True),
        gl.rules.Momentum,
        "sparse",
        "sparse",
    ),
    "adagrad": (gl.train.AdagradOptimizer(0.1), gl.rules.Adagrad, "reciprocal", "divide"),
    "dual averaging": (gl.train.AdagradDAOptimizer(0.1, 0), gl.rules.AdagradDA, "sparse", "scalar"),
    "proximal descent": (
        gl.train.ProximalGradientDescentOptimizer(0.1),
        gl.rules.ProximalGradientDescent,
        "dense",
        "scalar",
    ),
    "proximal adagrad": (
        gl.train.ProximalAdagradOptimizer(0.1),
        gl.rules.ProximalAdagrad,
        "dense",
        "scalar",
    ),
    "adam": (gl.train.AdamOptimizer(0.1), gl.rules.Adam, "sparse", "sparse"),
    "rms": (gl.train.RMSPropOptimizer(0.1), gl.rules.RMSProp, "sparse", "sparse"),
    "centered": (
        gl.train.RMSPropOptimizer(0.1, centered=True),
        gl.rules.CenteredRMSProp,
        "sparse",
        "sparse",
    ),
    "ftrl": (gl.train.FtrlOptimizer(0.1), gl.rules.Ftrl, "sparse", "scalar"),
}


@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize("shape", [(2, 3), (2, 1), (2,)])
def test_orders(name: str, shape: tuple[int, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    opt, rule, wide, narrow = RULES[name]
    seen, step = [], rule.step
    monkeypatch.setattr(
        rule, "step", lambda self, *args: (seen.append(self.order), step(self, *args))[1]
    )
    v = gl.Variable(np.ones(shape, F))
    opt.apply_gradients([(IndexedSlices(np.ones(shape, F), [0, 0]), v)])
    assert seen == [wide if shape == (2, 3) else narrow]


def test_nothing_but_the_order_changes() -> None:
    rule, w = gl.rules.Momentum(0.5, use_nesterov=True), np.ones((3, 2), F)
    g = IndexedSlices(np.full((2, 2), 0.3, F), np.array([1, 1]))
    update = with_order("sparse")
    got, (m,) = update(rule, w, rule.init(w), g, F(0.1))
    np.testing.assert_allclose(got[1], 1 - (0.6 * 0.1 + 0.6 * 0.5 * 0.1), rtol=1e-6)
    assert got[0].tolist() == [1, 1] and m[0].tolist() == [0, 0]
