"""The formulas of other libraries against the libraries themselves, where they are installed with the tests."""

from typing import Any

import jax.numpy as jnp
import numpy as np
import optax
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jax.example_libraries import optimizers

from gradlab.clip import peers
from gradlab.labs.clip_libraries import CASES

FINITE = st.lists(st.integers(-1000, 1000).map(lambda n: n / 8), min_size=1, max_size=6)


def from_optax(tensors: list[np.ndarray], limit: float) -> Any:
    return optax.clip_by_global_norm(limit).update([jnp.asarray(t) for t in tensors], optax.EmptyState())[0]


def from_jax(tensors: list[np.ndarray], limit: float) -> Any:
    return optimizers.clip_grads([jnp.asarray(t) for t in tensors], limit)


@pytest.mark.parametrize(("ours", "theirs"), [(peers.optax, from_optax), (peers.jax_example, from_jax)])
class TestAgainstTheLibrary:
    @given(first=FINITE, second=FINITE, limit=st.floats(0.125, 100, width=32))
    def test_on_any_gradient(self, ours: Any, theirs: Any, first: Any, second: Any, limit: float) -> None:
        tensors = [np.array(first, np.float32), np.array(second, np.float32)]
        for a, b in zip(ours(tensors, limit), theirs(tensors, limit), strict=True):
            np.testing.assert_allclose(a, np.asarray(b), rtol=3e-6, atol=1e-37)

    @pytest.mark.parametrize("case", CASES)
    def test_on_the_edge_cases_of_the_lab(self, ours: Any, theirs: Any, case: str) -> None:
        _, first, second, limit = CASES[case]
        tensors = [np.array(first, np.float32), np.array(second, np.float32)]
        for a, b in zip(ours(tensors, limit), theirs(tensors, limit), strict=True):
            np.testing.assert_allclose(a, np.asarray(b), rtol=1e-6)


def test_torch_shrinks_a_little_at_the_limit_and_keeps_a_zero_gradient() -> None:
    three, zero = [np.array([3.0, 4.0], np.float32)], [np.zeros(2, np.float32)]
    assert peers.torch(zero, 0.0)[0].tolist() == [0.0, 0.0]
    assert 0 < 3 - float(peers.torch(three, 5.0)[0][0]) < 1e-6
    assert peers.torch(three, np.inf)[0].tolist() == [3.0, 4.0]


def test_keras_divides_python_numbers() -> None:
    with pytest.raises(ZeroDivisionError):
        peers.keras([np.ones(2, np.float32)], 0.0)
    assert peers.keras([np.array([3.0, 4.0], np.float32)], 1.0)[0].tolist() == pytest.approx([0.6, 0.8])
