"""An accumulator to draw: three gradients of three workers, the second of which came too late."""

import numpy as np

from gradlab.labs._accumulators.accumulator_picture import AccumulatorView
from gradlab.labs._accumulators.bucket_picture import Arrivals, BucketState

ZERO = np.zeros(4, np.float32)
PAST = Arrivals(
    [0, 2, 1],
    [0, 0, 1],
    [0, 1, 1],
    [True, False, True],
    [1, 0, 1],
    ["A", "", ""],
    [1, 0, 0],
    [ZERO] * 3,
)


def inside(**changes: object) -> BucketState:
    now = BucketState(1, 1, [("A", 2), ("B", 1)], ZERO + 1, ZERO + 3, ZERO + 1.5, 1, (2,), (1,))
    return now._replace(**changes)


def drawn(now: BucketState, past: Arrivals = PAST) -> AccumulatorView:
    view = AccumulatorView(3, 8)
    view.draw(len(past.worker), past, now)
    return view


def first(n: int) -> Arrivals:
    return Arrivals(*(column[:n] for column in PAST))


def boxes(shape) -> int:  # type: ignore[no-untyped-def]
    return int(np.isfinite(shape.get_path().vertices[:, 0]).sum()) // 5


def said(texts) -> list[str]:  # type: ignore[no-untyped-def]
    return [words.get_text() for words in texts if words.get_text()]
