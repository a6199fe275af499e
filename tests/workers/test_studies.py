"""The recording is what the code gives, and shows what the notebook says it shows."""

import numpy as np
import pytest

from gradlab.workers.studies import (
    EVERY,
    GOAL,
    SEEDS,
    STALENESS,
    UPDATES,
    VARIANTS,
    accuracy_curve,
    recorded,
    updates_to,
)  # fmt: skip


def needed() -> dict[str, np.ndarray]:
    """Median updates to the goal at every delay, by variant."""
    return dict(zip((v.label for v in VARIANTS), np.median(updates_to(GOAL, recorded()), axis=-1), strict=True))


def test_the_recording_has_every_run() -> None:
    assert recorded().shape == (len(VARIANTS), len(STALENESS), SEEDS, UPDATES // EVERY)


@pytest.mark.parametrize(("variant", "delay", "seed"), [(0, 1, 0), (5, 2, 3)])
def test_a_run_gives_what_was_recorded(variant: int, delay: int, seed: int) -> None:
    again = accuracy_curve(VARIANTS[variant], STALENESS[delay], seed, updates=400)
    # Another processor may round a product otherwise, and a few of the 297 digits follow.
    np.testing.assert_allclose(again, recorded()[variant, delay, seed, : len(again)], atol=0.03)


def test_deeper_models_are_slowed_more() -> None:
    updates = needed()
    slowed = [updates[v.label][2] / updates[v.label][0] for v in VARIANTS if v.group == "depth"]
    assert slowed[0] < 1.5 < slowed[1] < slowed[2] <= slowed[3] == np.inf


def test_methods_with_momentum_are_slowed_more() -> None:
    updates = needed()
    slowed = {label: updates[label][-1] / updates[label][0] for label in updates}
    assert slowed["gradient descent"] < 1.7 < 2 < slowed["Momentum 0.9"] < slowed["Momentum 0.95"] == np.inf
