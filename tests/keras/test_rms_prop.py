"""Keras's RMSprop, beside what the originals' scenarios show: momentum that comes too late, and
refusals.
"""

from typing import Any

import numpy as np
import pytest

import gradlab as gl

F = np.float32


@pytest.mark.parametrize("version", gl.keras.VERSIONS)
def test_momentum_set_later_has_no_effect(version: Any) -> None:
    weights = []
    for momentum in (0.0, 0.5):
        v = gl.Variable([1.0], name="v")
        opt = gl.keras.RMSprop(0.25, semantics=version)
        opt.momentum = momentum
        for _ in range(3):
            opt.apply_gradients([(F([4.0]), v)])
        weights.append(v.numpy())

    assert weights[0] == weights[1]


@pytest.mark.parametrize("version", ["tf2.3", "legacy"])
def test_momentum_must_be_a_share_in_older_versions(version: Any) -> None:
    words = r"must be between \[0, 1\]. Received: momentum=1.5 \(of type <class 'float'>\)"
    with pytest.raises(ValueError, match=words):
        gl.keras.RMSprop(momentum=1.5, semantics=version)


@pytest.mark.parametrize("version", gl.keras.VERSIONS)
def test_epsilon_is_outside_the_root_only_in_older_versions_without_momentum(version: Any) -> None:
    v = gl.Variable([0.0], name="v")
    opt = gl.keras.RMSprop(1.0, rho=0.0, epsilon=1.0, semantics=version)
    opt.apply_gradients([(F([1.0]), v)])

    root = 2.0 if version in ("tf2.3", "legacy") else np.sqrt(2.0)
    np.testing.assert_allclose(v.numpy(), [-1 / root], rtol=1e-6)


def test_weights_may_lack_the_count_in_older_versions() -> None:
    opt = gl.keras.RMSprop()
    opt.apply_gradients([(F([1.0]), gl.Variable([0.0], name="v"))])
    opt.set_weights([F([4.0])])

    assert [w.tolist() for w in opt.get_weights()] == [0, [4.0]]
