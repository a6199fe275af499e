"""Ctrl-C, again and again, on those who apply and take."""

from __future__ import annotations

import signal
import threading
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from tests._asynchrony.accumulators.interrupts import Accounts
from tests.faults.fault import Fault

_GRADIENTS = 300


def storm(folder: Path, seed: int) -> str:
    """SIGINT every fraction of a millisecond while the main thread applies and takes, and another thread does so too.

    Every gradient whose receipt was read is in one mean that was read, or still there; no other is there twice.
    """
    rng, accounts = np.random.default_rng(seed), Accounts(bool(seed % 2), _GRADIENTS)
    armed, over, lock = [False], threading.Event(), threading.Lock()

    def press(*_: object) -> None:
        if armed[0]:
            raise KeyboardInterrupt

    def keep_pressing() -> None:
        main = threading.main_thread().ident
        assert main is not None
        pauses = np.random.default_rng(seed)
        while not over.wait(float(pauses.uniform(0, 4e-4))):
            signal.pthread_kill(main, signal.SIGINT)

    def interrupted(call: Any) -> Any:
        """None if it was."""
        got = None
        try:
            armed[0] = True
            got = call()
            armed[0] = False
        except KeyboardInterrupt:
            armed[0] = False
        return got

    def take_too() -> None:
        while not over.is_set():
            got = accounts.acc.try_take(3)
            if got is not None:
                with lock:
                    accounts.taken += accounts.dense(got)

    before = signal.signal(signal.SIGINT, press)
    threads = [threading.Thread(target=act) for act in (keep_pressing, take_too)]
    try:
        for thread in threads:
            thread.start()
        while accounts.begun < _GRADIENTS:
            if rng.random() < 0.6:
                interrupted(accounts.apply)
                continue
            needs, acc = int(rng.integers(1, 4)), accounts.acc
            if rng.random() < 0.5:
                got = interrupted(partial(acc.try_take, needs))
            else:
                got = interrupted(partial(_in_time, acc, needs))
            if got is not None:
                with lock:
                    accounts.taken += accounts.dense(got)
    finally:
        over.set()
        for thread in threads:
            thread.join()
        signal.signal(signal.SIGINT, before)
    return accounts.lost()


def _in_time(acc: Any, needs: int) -> Any:
    """None if it takes too long."""
    try:
        return acc.take_grad(needs, timeout=0.002)
    except TimeoutError:
        return None


FAULTS = [Fault("a storm of Ctrl-C on an accumulator", storm, 4)]
