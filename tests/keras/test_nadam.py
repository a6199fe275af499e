"""Keras's Nadam, beside what the originals' scenarios show: its weight of the count, many steps,
slices.
"""

from typing import Any

import numpy as np
import pytest

import gradlab as gl
from tests.differences import differs

F = np.float32


@differs(
    "the product of momenta of Keras's `Nadam`",
    tensorflow="a weight that each step multiplies, whatever `iterations` is set to",
    gradlab="computed from `iterations`; the weight shows it",
)
@pytest.mark.parametrize("version", ["tf2.3", "legacy", "keras3"])
def test_the_weight_of_the_count_is_that_of_iterations(version: Any) -> None:
    v = gl.Variable([1.0], name="v")
    opt = gl.keras.Nadam(semantics=version)
    opt.apply_gradients([(F([1.0]), v)])
    (first,) = [
        w.numpy() for w in opt.weights if w.name.endswith(("momentum_cache:0", "variable:0"))
    ]
    opt.iterations.assign(100_000)
    opt.apply_gradients([(F([1.0]), v)])
    (last,) = [
        w.numpy() for w in opt.weights if w.name.endswith(("momentum_cache:0", "variable:0"))
    ]

    exponent = 1.0 if version == "keras3" else 0.004
    np.testing.assert_allclose(first, 0.9 * (1 - 0.5 * 0.96**exponent), rtol=1e-6)
    assert last == 0
    assert np.isfinite(v.numpy()).all()


def test_schedule_decay_takes_the_place_of_decay() -> None:
    assert gl.keras.Nadam(decay=0.5).get_config()["decay"] == 0.004
    assert gl.keras.Nadam(schedule_decay=0.5).get_config()["decay"] == 0.5


@pytest.mark.parametrize("version", ["tf2.3", "legacy"])
def test_older_versions_take_no_schedule(version: Any) -> None:
    with pytest.raises(ValueError, match="takes no schedule for learning_rate"):
        gl.keras.Nadam(gl.schedules.ExponentialDecay(0.1, 2, 0.5), semantics=version)


@pytest.mark.parametrize("version", gl.keras.VERSIONS)
def test_a_row_without_a_slice_moves_on_in_newer_versions_only(version: Any) -> None:
    v = gl.Variable(np.zeros((2, 1), F), name="v")
    opt = gl.keras.Nadam(0.25, semantics=version)
    opt.apply_gradients([(F([[2.0], [2.0]]), v)])
    before = v.numpy()
    opt.apply_gradients([(gl.IndexedSlices(F([[2.0]]), [0], (2, 1)), v)])

    has_moved = (v.numpy() != before).ravel().tolist()
    assert has_moved == [True, version in ("rewrite", "keras3")]
