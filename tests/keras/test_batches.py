"""What is known of each batch: whichever thread says when."""

import math

import pytest

from gradlab.keras.batches import Batches


def test_losses_come_out_of_running_means_in_any_order() -> None:
    batches, losses = Batches(), [4.0, 2.0, 6.0]
    means = [4.0, 3.0, 4.0]
    for k in range(3):
        batches.begin(k)
    batches.end(1, means[1])
    batches.begin(3)
    assert batches.loss == [], "batch 0 is not known yet"
    batches.end(0, means[0])
    batches.end(2, means[2])
    batches.end_epoch()
    assert batches.loss == pytest.approx(losses)
    assert len(batches.seconds) == 3 and min(batches.seconds) >= 0
    batches.begin(0)
    batches.end(0, 10.0)
    batches.end_epoch()
    assert batches.loss[3] == 10.0, "means start anew with each epoch"
    assert batches.of([2, 3])[0] == pytest.approx(8.0)


def test_batches_of_one_execution_share_their_mean() -> None:
    batches = Batches()
    for begin, end, mean in ((0, 2, 3.0), (3, 4, 4.0)):
        batches.begin(begin)
        batches.end(end, mean)
    batches.end_epoch()
    assert batches.loss == pytest.approx([3.0, 3.0, 3.0, 5.5, 5.5])


def test_no_batches_and_no_losses() -> None:
    batches = Batches()
    batches.end_epoch()
    assert batches.loss == []
    batches.begin(0)
    batches.end(0, math.nan)
    batches.end_epoch()
    assert math.isnan(batches.of([0])[0])
