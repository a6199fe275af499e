"""`prefetch`: batches made in a thread while a device is at work."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

from ..._base.options import check_count

Example = TypeVar("Example")
Result = TypeVar("Result")
_END: Any = object()


def prefetch(
    make: Callable[[Example], Result], examples: Iterable[Example], ahead: int = 2
) -> Iterator[Result]:
    """Yield the results of `make` for each example, in order, made in a thread before they are asked for.

    What the host does with ids, `make_batch` and `place_batch`, is then done while the device
    computes. Nothing more is taken from the examples once the iterator is closed or deleted.

    Args:
        make: from an example to what a step takes. Where several processes run it gives
            `place_batch` sizes, since processes may agree on them in one thread only.
        examples: any iterable; it is asked in the thread, too.
        ahead: how many results are made before they are asked for, at most.

    Raises:
        InvalidArgumentError: ahead below 1. What `make` or the examples raise, where its result
            would be.

    Not in TensorFlow, where it is `tf.data.Dataset.prefetch`, before ids are enqueued.

    >>> list(prefetch(lambda n: n * n, range(4)))
    [0, 1, 4, 9]
    """
    check_count("ahead", ahead)
    return _prefetch(make, iter(examples), ahead)


def _prefetch(
    make: Callable[[Example], Result], examples: Iterator[Example], ahead: int
) -> Iterator[Result]:
    def make_next() -> Result:
        example: Any = next(examples, _END)
        return _END if example is _END else make(example)

    pool = ThreadPoolExecutor(1, thread_name_prefix="prefetch")
    try:
        pending: deque[Future[Result]] = deque(pool.submit(make_next) for _ in range(ahead))
        while (result := pending.popleft().result()) is not _END:
            pending.append(pool.submit(make_next))
            yield result
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
