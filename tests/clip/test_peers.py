"""The formulas of other libraries against the libraries themselves, where they are installed with
the tests.
"""

from typing import Any

import jax.numpy as jnp
import numpy as np
import optax
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jax.example_libraries import optimizers

from gradlab.clip import peers
from gradlab.labs._clip_libraries.lab import CASES

FINITE = st.lists(st.integers(-1000, 1000).map(lambda n: n / 8), min_size=1, max_size=6)


def from_optax(tensors: list[np.ndarray], limit: float) -> Any:
    return optax.clip_by_global_norm(limit).update(
        [jnp.asarray(t) for t in tensors], optax.EmptyState()
    )[0]


def from_jax(tensors: list[np.ndarray], limit: float) -> Any:
    return optimizers.clip_grads([jnp.asarray(t) for t in tensors], limit)


@pytest.mark.parametrize(
    ("ours", "theirs"), [(peers.optax, from_optax), (peers.jax_example, from_jax)]
)
class TestAgainstTheLibrary:
    @given(first=FINITE, second=FINITE, limit=st.floats(0.125, 100, width=32))
    def test_on_any_gradient(
        self, ours: Any, theirs: Any, first: Any, second: Any, limit: float
    ) -> None:
        tensors = [np.array(first, np.float32), np.array(second, np.float32)]
        for a, b in zip(ours(tensors, limit), theirs(tensors, limit), strict=True):
            np.testing.assert_allclose(a, np.asarray(b), rtol=3e-6, atol=1e-37)

    @pytest.mark.parametrize("case", CASES)
    def test_on_the_edge_cases_of_the_lab(self, ours: Any, theirs: Any, case: str) -> None:
        _, first, second, limit = CASES[case]
        tensors = [np.array(first, np.float32), np.array(second, np.float32)]
        for a, b in zip(ours(tensors, limit), theirs(tensors, limit), strict=True):
            np.testing.assert_allclose(a, np.asarray(b), rtol=1e-6)


# What torch.nn.utils.clip_grad_norm_ of PyTorch 2.13 left on the cases of the lab (run in 2026).
TORCH = {
    "above": [0.23076921701431274, 0.307692289352417, 0.923076868057251],
    "below": [0.10000000149011612, 0.699999988079071, 0.30000001192092896],
    "at": [2.999999761581421, 3.999999761581421, 11.999999046325684],
    "inf": [np.nan, 0.0, 0.0],
    "nan": [np.nan, np.nan, np.nan],
    "overflow": [0.0, 0.0, 0.0],
    "zero": [0.0, 0.0, 0.0],
    "limit_zero": [0.0, 0.0, 0.0],
    "negative": [-0.23076921701431274, -0.307692289352417, -0.923076868057251],
    "limit_inf": [3.0, 4.0, 12.0],
}


@pytest.mark.parametrize("case", CASES)
def test_torch_on_the_edge_cases_of_the_lab(case: str) -> None:
    _, first, second, limit = CASES[case]
    got = peers.torch([np.array(first, np.float32), np.array(second, np.float32)], limit)
    np.testing.assert_array_equal(np.concatenate(got), np.array(TORCH[case], np.float32))


def test_keras_divides_python_numbers() -> None:
    with pytest.raises(ZeroDivisionError):
        peers.keras([np.ones(2, np.float32)], 0.0)
    assert peers.keras([np.array([3.0, 4.0], np.float32)], 1.0)[0].tolist() == pytest.approx(
        [0.6, 0.8]
    )
