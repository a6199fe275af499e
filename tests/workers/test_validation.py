"""However large the arrays, their description is short."""

import jax.numpy as jnp
import numpy as np
import pytest

from gradlab.workers import Bowl, Experiment, FromLoss
from gradlab.workers.validation import short_repr


@pytest.mark.parametrize(
    ("x", "expected"),
    [
        (np.zeros((1000, 3)), "float64 (1000, 3)"),
        (jnp.zeros(4, jnp.bfloat16), "bfloat16 (4,)"),
        ((np.zeros(2, int), {"a": np.float32(1)}), "(int64 (2,), {'a': float32 ()})"),
        (np.mean, "mean"),
        (1.5, "1.5"),
        (list(range(10**6)), "[0, 1, 2, 3, 4, 5, ...]"),
    ],
)
def test_by_hand(x: object, expected: str) -> None:
    assert short_repr(x) == expected


def square(weights: dict[str, np.ndarray], batch: np.ndarray) -> np.ndarray:
    return ((weights["w"] - batch) ** 2).sum()


def test_experiments_and_losses_show_names_and_shapes() -> None:
    big = np.zeros(100, np.float32)
    own = FromLoss(square, {"w": big}, np.random.Generator.random, big)
    assert repr(own) == (
        "FromLoss(loss_of=square, weights={'w': float32 (100,)}, draw=Generator.random, "
        "watch=float32 (100,), jit=False)"
    )
    shown = repr(Experiment(own, weights={"w": big + 1}))
    assert f"problem={own!r}" in shown and shown.endswith("weights={'w': float32 (100,)})")
    assert repr(Experiment(Bowl(), workers=3)).startswith(
        "Experiment(problem=Bowl(condition=10.0, noise=0.0, first"
    )
    assert repr(Experiment(Bowl())).endswith("seed=0, weights=None)")
