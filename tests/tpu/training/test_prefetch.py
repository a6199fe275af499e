"""Results come in order, so many ahead and no more; errors come where they belong; the thread ends."""

import threading
import time
from collections.abc import Iterator

import pytest

from gradlab.errors import InvalidArgumentError
from gradlab.tpu import prefetch


def threads() -> list[threading.Thread]:
    return [t for t in threading.enumerate() if t.name.startswith("prefetch")]


def test_so_many_are_made_ahead_and_the_thread_ends_with_its_iterator() -> None:
    taken: list[int] = []

    def examples() -> Iterator[int]:
        for n in range(100):
            taken.append(n)
            yield n

    made = prefetch(lambda n: (n, threading.current_thread().name), examples(), ahead=3)
    assert taken == [], "nothing begins before it is asked for"
    first, name = next(made)
    assert first == 0 and name.startswith("prefetch")
    end = time.monotonic() + 10
    while len(taken) < 4 and time.monotonic() < end:
        time.sleep(0.001)
    assert len(taken) == 4, "the one that was given, and three"
    made.close()  # type: ignore[attr-defined]
    for thread in threads():
        thread.join(10)
    assert threads() == []


def test_an_error_comes_where_its_result_would_be() -> None:
    made = prefetch(lambda n: 1 // (2 - n), range(5))
    assert [next(made), next(made)] == [0, 1]
    with pytest.raises(ZeroDivisionError):
        next(made)
    assert list(made) == []
    with pytest.raises(InvalidArgumentError, match="ahead must be an integer of at least 1, got 0"):
        prefetch(str, range(2), ahead=0)
