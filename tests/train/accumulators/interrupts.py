"""Ctrl-C at a chosen instant, and gradients that can be told apart wherever they end up."""

from __future__ import annotations

import gc
import signal
import sys
from collections import deque
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

import gradlab as gl


class Interrupts:
    """`with Interrupts([3, 5]):` raises KeyboardInterrupt at the 3rd instant inside, and at the 5th after that.

    An instant is where Python looks for signals: where a function begins, and where one written in C has returned.
    `left` is empty if all were raised. With `by_signal` it comes as the system sends it, which may be noted for later,
    and in functions of the standard library, too.

    The garbage collector waits: what is called when it runs would be instants that come by chance, and an error there,
    while Python makes a frame, can crash Python 3.11.
    """

    def __init__(self, instants: Iterable[int], by_signal: bool = False) -> None:
        self.left, self._by_signal = deque(instants), by_signal
        self._collects = gc.isenabled()

    def __enter__(self) -> Interrupts:
        gc.disable()
        sys.setprofile(self._look)
        return self

    def __exit__(self, *error: object) -> None:
        sys.setprofile(None)
        if self._collects:
            gc.enable()

    def _look(self, frame: Any, event: str, argument: Any) -> None:
        if event not in ("call", "c_return") or argument is sys.setprofile or not self.left:
            return
        elsewhere = not self._by_signal and "gradlab" not in frame.f_code.co_filename
        if elsewhere or frame.f_code is Interrupts.__exit__.__code__:
            return
        self.left[0] -= 1
        if self.left[0] < 0:
            self.left.popleft()
            again = self._look
            try:
                if not self._by_signal:
                    raise KeyboardInterrupt
                signal.raise_signal(signal.SIGINT)
            finally:
                sys.setprofile(again)  # what raises here is no longer called otherwise


def interrupted(call: Callable[[], Any], instants: Iterable[int], by_signal: bool = False) -> tuple[Any, bool]:
    """What a call returns, None if it is interrupted; and whether all interrupts came."""
    got = None
    inside = Interrupts(instants, by_signal)
    try:
        with inside:
            got = call()
    except KeyboardInterrupt:
        pass
    return got, not inside.left


class Accounts:
    """An accumulator of gradients that are each 1 in a place of their own."""

    def __init__(self, sparse: bool, size: int) -> None:
        kind = gl.SparseConditionalAccumulator if sparse else gl.ConditionalAccumulator
        self.acc: Any = kind("float64", (size,), reduction_type="SUM")
        self.sparse, self.size = sparse, size
        self.begun, self.acknowledged = 0, set[int]()
        self.taken = np.zeros(size)

    def apply(self) -> None:
        """The next gradient; of one that is interrupted nobody knows whether it counts."""
        k = self.begun
        self.begun += 1
        one = np.zeros(self.size)
        one[k] = 1
        gradient = ([k], one[k : k + 1]) if self.sparse else (one,)
        receipt = self.acc.apply_grad(*gradient, local_step=1 << 40)
        if receipt:
            self.acknowledged.add(k)

    def count(self, taken: Any) -> None:
        """What somebody took."""
        self.taken += self.dense(taken)

    def dense(self, taken: Any) -> np.ndarray:
        if not self.sparse:
            return np.asarray(taken)
        found = np.zeros(self.size)
        found[taken.indices] = taken.values
        return found

    def lost(self) -> str:
        """What is not where it must be: each gradient that was acknowledged once, any other at most once."""
        here, rest = self.acc.num_accumulated(), np.zeros(self.size)
        if here:
            rest = self.dense(self.acc.take_grad(here, timeout=5))
        total = self.taken + rest
        if missing := [k for k in self.acknowledged if total[k] != 1]:
            return f"gradients {missing} are there {total[missing].tolist()} times"
        if total.max(initial=0) > 1 or total.sum() != self.taken.sum() + here:
            return f"of {here} gradients {rest.sum()} were there, in all {total.tolist()}"
        return ""


def take(accounts: Accounts, needs: int, how: str) -> Callable[[], Any]:
    """One of the ways to take."""
    acc = accounts.acc
    return {"take": lambda: acc.take_grad(needs, timeout=5), "try": lambda: acc.try_take(needs)}[how]
