"""The recording is what the code gives, and shows what the notebook says it shows."""

import numpy as np

from gradlab.workers import Speeds
from gradlab.workers.spare_workers import (
    END,
    EVERY,
    GOAL,
    SEEDS,
    SPEEDS,
    WORKERS,
    accuracy_curve,
    recorded,
    time_to,
    time_to_collect,
)  # fmt: skip


def test_the_recording_has_every_run() -> None:
    assert recorded().shape == (WORKERS, SEEDS, END // EVERY)


def test_a_run_gives_what_was_recorded() -> None:
    again = accuracy_curve(12, seed=1, end=4000)
    # Another processor may round a product otherwise, and a few of the 297 digits follow.
    np.testing.assert_allclose(again, recorded()[11, 1, : len(again)], atol=0.03)


def test_the_time_to_collect_is_an_order_statistic() -> None:
    even = time_to_collect(Speeds(median=1000, spread=0.5), workers=3, rounds=4000)
    ticks = Speeds(median=1000, spread=0.5).ticks(0, 3, 4000)
    assert even[0] == ticks.min(axis=0).mean()
    assert even[2] == ticks.max(axis=0).mean()


def test_the_last_worker_doubles_a_round() -> None:
    collect = time_to_collect(SPEEDS)
    assert collect[15] > 1.8 * collect[14]
    assert collect[13] < 1.4 * collect[0]


def test_the_best_is_neither_all_nor_one() -> None:
    needed = np.median(time_to(GOAL, recorded()), axis=1)
    assert needed.min() < needed[15] / 1.5
    assert needed.min() < needed[0] / 1.5
    assert 4 <= needed.argmin() + 1 <= 15
