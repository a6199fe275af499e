"""Measurements in traced code, against those of NumPy, and the memory that they take."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import gradlab as gl
from gradlab.record import measure, reductions
from gradlab.record.columns import Layout

LARGE = (520, 600)  # measured alone
ODD = np.float32([0.0, -0.0, 1e-45, 2.0**-33, 1.5, -3e38, np.nan, -np.nan, np.inf, 1.0])


@pytest.mark.exhaustive
def test_large_and_small_tensors_are_measured_as_in_numpy() -> None:
    draw = np.random.default_rng(0)
    tensors = [
        draw.normal(size=shape).astype(np.float32) for shape in ((3, 4), LARGE, (12,), (5000,))
    ]
    tensors += [ODD, np.float32([3e30, 4e30]), np.full(LARGE, 1e-30, np.float32)]
    shapes = tuple(x.shape for x in tensors)
    layout = Layout(tuple(map(str, range(len(tensors)))), shapes, (), 1, 100, 1)

    @jax.jit
    def measured(tensors: list[jax.Array], due: jax.Array) -> reductions.Measured:
        return reductions.measured(layout, reductions.ready(tensors), jnp.int32(0), due)

    for due in (True, False):
        found = measured(tensors, due)
        with np.errstate(all="ignore"):
            expected = [measure.careful(x) for x in tensors]
        norm, largest, nonfinite = (np.array(column) for column in zip(*expected, strict=True))
        np.testing.assert_allclose(found.norm, norm, 1e-6)
        np.testing.assert_array_equal(found.largest, largest)
        np.testing.assert_array_equal(found.nonfinite, nonfinite)
        counts = np.stack([measure.histogram(x) for x in tensors])
        np.testing.assert_array_equal(found.counts, counts if due else 0 * counts)
        entry = [x.reshape(-1)[place] for x, place in zip(tensors, layout.places, strict=True)]
        np.testing.assert_array_equal(found.entry, np.concatenate(entry))


@pytest.mark.exhaustive
def test_a_step_takes_no_memory_of_the_size_of_its_gradients() -> None:
    grads, rec = (
        {"a": np.ones(LARGE, np.float32), "b": np.ones((200, 300), np.float32)},
        gl.Recorder(16),
    )
    compiled = jax.jit(rec.update, donate_argnums=0).lower(rec.init(grads), grads).compile()
    assert compiled.memory_analysis().temp_size_in_bytes < grads["b"].nbytes / 2
