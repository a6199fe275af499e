"""Accumulators: a small gradient against TensorFlow's calls, a large one against copying it, many
threads at once.

The group `oracle` brings TensorFlow.
"""

from __future__ import annotations

import dataclasses
import importlib.util
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tests.benchmarks.race import Runner, race
from tests.benchmarks.table import Row

CALLS, SMALL, SMALL_ROUNDS = 1000, 1000, 15
LARGE, LARGE_ROUNDS = 10_000_000, 15
THREADS, SECONDS, PER_TAKE = 64, 10.0, 1000
EAGER, SESSION, COPY = "TensorFlow, eager", "TensorFlow, session.run", "copy"
FRESH = 1 << 40  # a step that is never stale


def rows() -> Iterator[Row]:
    """Three measurements."""
    yield from race(f"{CALLS:,} x apply_grad of {SMALL:,} float32", _small(), SMALL_ROUNDS)
    yield from _with_bandwidth(
        list(race(f"apply_grad of {LARGE // 10**6} M float32", _large(), LARGE_ROUNDS))
    )
    yield _many_threads("gradlab", *_ours(SMALL))
    if _has_tensorflow():
        yield _many_threads(EAGER, *_tensorflow(SMALL))
    else:
        yield Row("accumulators", "TensorFlow", note="not installed")


def _has_tensorflow() -> bool:
    return importlib.util.find_spec("tensorflow") is not None


def _ours(size: int) -> tuple[Callable[[], Any], Callable[[int], Any]]:
    """How to apply ones, and how to take."""
    import gradlab as gl

    acc, ones = (
        gl.ConditionalAccumulator("float32", (size,), reduction_type="SUM"),
        np.ones(size, np.float32),
    )
    return (lambda: acc.apply_grad(ones, FRESH)), acc.take_grad


def _tensorflow(size: int) -> tuple[Callable[[], Any], Callable[[int], Any]]:
    import tensorflow as tf

    name = f"benchmark {size} {time.perf_counter_ns()}"
    acc = tf.compat.v1.ConditionalAccumulator(tf.float32, [size], name, reduction_type="SUM")
    ones, step = tf.ones(size), tf.constant(FRESH, tf.int64)
    return (lambda: acc.apply_grad(ones, step)), acc.take_grad


def _session(size: int) -> Callable[[], Any]:
    import tensorflow as tf

    with tf.Graph().as_default():
        acc = tf.compat.v1.ConditionalAccumulator(tf.float32, [size])
        apply, session = acc.apply_grad(tf.ones(size)), tf.compat.v1.Session()
    return lambda: session.run(apply)


def _small() -> dict[str, Runner]:
    runners = {"gradlab": _often(_ours(SMALL)[0])}
    if _has_tensorflow():
        runners[EAGER] = _often(_tensorflow(SMALL)[0])
        runners[SESSION] = _often(_session(SMALL))
    return runners


def _often(act: Callable[[], Any]) -> Runner:
    def run() -> None:
        for _ in range(CALLS):
            act()

    return run


def _large() -> dict[str, Runner]:
    source, target = np.ones(LARGE, np.float32), np.zeros(LARGE, np.float32)
    runners: dict[str, Runner] = {
        "gradlab": _ours(LARGE)[0],
        COPY: lambda: np.copyto(target, source),
    }
    if _has_tensorflow():
        runners[EAGER] = _tensorflow(LARGE)[0]
    return runners


def _with_bandwidth(found: list[Row]) -> Iterator[Row]:
    """An addition in place moves three arrays where a copy moves two."""
    median = {row.who: row.median or 0.0 for row in found}
    share = (3 / median["gradlab"]) / (2 / median[COPY])
    for row in found:
        note = f"{row.note}; gradlab moves {share:.2f} times as many bytes per second"
        yield dataclasses.replace(row, note=note) if row.who == COPY else row


def _many_threads(who: str, apply: Callable[[], Any], take: Callable[[int], Any]) -> Row:
    """All of them apply ones while this thread takes the sums: at the end both must have counted
    the same.
    """
    over, counts = threading.Event(), [0] * THREADS

    def work(k: int) -> None:
        while not over.is_set():
            apply()
            counts[k] += 1

    threads = [threading.Thread(target=work, args=(k,)) for k in range(THREADS)]
    start, taken = time.perf_counter(), 0
    for thread in threads:
        thread.start()
    while time.perf_counter() - start < SECONDS:
        taken += _whole(take(PER_TAKE))
    over.set()
    for thread in threads:
        thread.join()
    seconds = time.perf_counter() - start
    apply()  # so that there is something to take
    taken += _whole(take(1)) - 1
    if taken != sum(counts):
        raise AssertionError(f"{who}: {sum(counts):,} gradients were kept, {taken:,} taken")
    what = f"{THREADS} threads on one accumulator for {SECONDS:g} s, {SMALL:,} float32 each"
    note = (
        f"{taken / seconds:,.0f} gradients a second; {taken:,} kept and "
        "taken, none lost, none double"
    )
    return Row(what, who, note=note)


def _whole(taken: Any) -> int:
    """How many ones were added up, in every entry."""
    sums = np.unique(np.asarray(taken))
    if sums.size != 1:
        raise AssertionError(f"entries of one sum differ: {sums}")
    return int(sums[0])
