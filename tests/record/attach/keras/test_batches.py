"""What is known of each batch: whichever thread says when."""

import math

from gradlab.record.attach.keras.batches import Batches


def test_batches_of_one_execution_share_its_time() -> None:
    batches = Batches()
    for begin, end in ((0, 2), (3, 4)):
        batches.begin(begin)
        batches.end(end)
    assert (len(batches.seconds), batches.executed) == (3, 3)
    batches.end_epoch()
    assert batches.executed == len(batches.seconds) == 5 and min(batches.seconds) >= 0
    assert len(set(batches.seconds[:3])) == len(set(batches.seconds[3:])) == 1
    batches.begin(0)
    batches.begin(1)  # there was no data for it, or nobody has said that it ended
    batches.end(0)
    batches.end_epoch()
    assert batches.executed == len(batches.seconds) == 6


def test_a_loss_that_is_not_known_is_nan_and_shifts_no_other() -> None:
    batches = Batches()
    batches.end_epoch()
    assert batches.seconds == []
    for batch in range(3):
        batches.begin(batch)
        batches.end(batch)
    batches.loss += [4.0, 2.0]
    batches.end_epoch()
    assert batches.of([0, 1])[0] == 3.0 and math.isnan(batches.of([1, 2])[0])
    batches.align()
    batches.begin(0)
    batches.end(0)
    batches.loss += [7.0]
    batches.end_epoch()
    assert batches.of([3])[0] == 7.0 and math.isnan(batches.of([2])[0])
