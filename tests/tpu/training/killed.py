"""Processes that save checkpoints again and again and are killed: FOLDER and COUNT are the
arguments.

All numbers of the k-th state are k. After each kill the last checkpoint must be that of a save that
was acknowledged, or a later one, and be whole. Children are forks of a process that has everything
imported.
"""

from __future__ import annotations

import importlib
import os
import signal
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax

from gradlab.rules import Adagrad
from gradlab.tpu import Checkpoints, Feature, Plan, Table, Training, TrainState, create

ROWS, WIDTH = 50_000, 16
PLAN = Plan((Table("t", ROWS, WIDTH, Adagrad()),), (Feature("f", 0, (1,)),))
TRAINING = Training(lambda activations, params, data: params.sum(), optax.adam(0.1))
LONGEST = 0.5  # seconds of saves before a kill


def state_of(k: int) -> TrainState:
    """The k-th state."""
    state = TRAINING.init(create(PLAN, [jnp.zeros((ROWS, WIDTH))]), jnp.zeros(3))
    return jax.tree.map(lambda x: jnp.full_like(x, k), state)


def save_again_and_again(folder: Path, first: int, pipe: int) -> None:
    """Each save that is on the disk is told."""
    checkpoints = Checkpoints(folder)
    for k in range(first, first + 100_000):
        checkpoints.save(state_of(k))
        checkpoints.wait()
        os.write(pipe, b"%d\n" % k)


def read(folder: Path, pipe: int) -> None:
    """The number that all of the last checkpoint has is told."""
    state = Checkpoints(folder).restore(TRAINING, PLAN, np.zeros(3, np.float32))
    found = {float(x) for leaf in jax.tree.leaves(state) for x in np.unique(np.asarray(leaf))}
    os.write(
        pipe, f"{found.pop():.0f}\n".encode() if len(found) == 1 else f"mixed: {found}\n".encode()
    )


def child(act: Callable[..., Any], *arguments: Any) -> tuple[int, Any]:
    """A process that acts, and what it tells."""
    out, into = os.pipe()
    if pid := os.fork():
        os.close(into)
        return pid, os.fdopen(out)
    try:
        act(*arguments, into)
    except BaseException:
        traceback.print_exc()
    os._exit(0)


def main(folder: Path, count: int) -> None:
    """Kill and read, so many times."""
    importlib.import_module("orbax.checkpoint")  # once for all children
    numbers, lost, first = np.random.default_rng(0), 0, 1
    for _ in range(count):
        pid, told = child(save_again_and_again, folder, first)
        last = int(told.readline())
        time.sleep(numbers.uniform(0, LONGEST))
        os.kill(pid, signal.SIGKILL)
        last = max([last, *(int(line) for line in told.read().split())])
        os.waitpid(pid, 0)
        pid, told = child(read, folder)
        found = told.read().strip()
        os.waitpid(pid, 0)
        if not found.isdigit() or int(found) < last:
            lost += 1
            print(f"{last} was saved, {found or 'nothing'} was read")
        first = max(last, int(found) if found.isdigit() else last) + 1
    print(f"{count} kills, {lost} lost")


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
