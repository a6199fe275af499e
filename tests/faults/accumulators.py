"""Ctrl-C, again and again, on those who apply and take, and long runs of both against plain models."""

from __future__ import annotations

import signal
import threading
from functools import partial
from pathlib import Path
from typing import Any

import hypothesis
import numpy as np
import pytest
from hypothesis.stateful import RuleBasedStateMachine, run_state_machine_as_test

import gradlab as gl
from tests.faults.fault import Fault
from tests.train.accumulators.interrupts import Accounts
from tests.train.accumulators.test_machine import AgainstTheModel as OfAccumulators
from tests.train.sync_replicas.books import CALLS, stopped
from tests.train.sync_replicas.test_against_a_model import AgainstTheModel as OfReplicas

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


def instants(times: int, folder: Path, seed: int) -> str:
    """Ctrl-C at an instant of a call of a SyncReplicasOptimizer, so many times."""
    rng, names = np.random.default_rng(seed), list(CALLS)
    for _ in range(times):
        name, came = names[int(rng.integers(len(names)))], False
        while not came:
            instant = int(rng.integers(1500))  # some calls are over before
            wrong, came = stopped(name, instant)
            if wrong:
                return f"{name}, instant {instant}: {wrong}"
            came |= instant > 100
    return ""


def against_a_model(machine: type[RuleBasedStateMachine], examples: int, folder: Path, seed: int) -> str:
    """So many random sequences of calls, mistakes, deaths and ends of waits among them."""
    seeded: Any = hypothesis.seed(seed)(type(machine.__name__, (machine,), {}))
    few = hypothesis.settings(
        max_examples=examples, stateful_step_count=60, deadline=None, database=None, print_blob=False,
        suppress_health_check=list(hypothesis.HealthCheck), phases=[hypothesis.Phase.generate],
    )  # fmt: skip
    try:
        with gl.variable_collection():
            run_state_machine_as_test(seeded, settings=few)
    except (Exception, pytest.fail.Exception) as error:
        return f"{type(error).__name__}: {error}"
    return ""


def _model(name: str, machine: type[RuleBasedStateMachine]) -> Fault:
    short, long = (partial(against_a_model, machine, examples) for examples in (5, 50))
    return Fault(f"50 sequences (in CI 5) of calls of {name}, against a plain model", short, 1, long=long)


FAULTS = [
    Fault("a storm of Ctrl-C on an accumulator", storm, 4),
    Fault(
        "50 times (in CI 20) Ctrl-C at an instant of SyncReplicasOptimizer",
        partial(instants, 20),
        1,
        long=partial(instants, 50),
    ),
    _model("accumulators", OfAccumulators),
    _model("SyncReplicasOptimizer", OfReplicas),
]
