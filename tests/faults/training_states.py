"""Kills and damage to training states: a run goes on from the last whole one, or is told that there
is none.
"""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import numpy as np

import gradlab as gl
from tests._base.damage import damaged, rewrite
from tests.faults.fault import Fault

_ROWS = 20_000


def _fresh() -> tuple[gl.Variable, gl.train.MomentumOptimizer, gl.Variable]:
    opt = gl.train.MomentumOptimizer(-1.0, 0.0)
    return (
        gl.Variable(np.zeros((_ROWS, 8), np.float32)),
        opt,
        gl.Variable(np.int64(0), trainable=False),
    )


def _train_and_save(path: Path) -> None:
    """For ever: a step, which adds 1 to every weight, and a save."""
    v, opt, step = _fresh()
    while True:
        opt.apply_gradients([(np.ones(v.shape, np.float32), v)], step)
        gl.save(path, v=v, opt=opt, step=step)


def killed_while_saving(folder: Path, seed: int) -> str:
    """A process that trains and saves is killed at some instant after its first save."""
    path = folder / "run"
    code = (
        "import pathlib\nfrom tests.faults.training_states import _train_and_save as "
        f"f\nf(pathlib.Path({str(path)!r}))"
    )
    process = subprocess.Popen([sys.executable, "-c", code])
    try:
        while not path.exists() and process.poll() is None:
            time.sleep(0.01)
        time.sleep(float(np.random.default_rng(seed).uniform(0, 0.2)))
    finally:
        process.kill()
        process.wait()
    v, opt, step = _fresh()
    try:
        gl.load(path, v=v, opt=opt, step=step)
    except (OSError, ValueError) as error:
        return str(error)
    slot = opt.get_slot(v, "momentum")
    n = int(step)
    whole = n > 0 and slot is not None and (v.numpy() == n).all() and (slot.numpy() == 1).all()
    return "" if whole else f"weights, slots and step {n} are of different instants"


def damaged_on_disk(folder: Path, seed: int) -> str:
    """100 damaged copies of one file: each is refused and changes nothing, or is loaded to the last
    bit.
    """
    path, rng = folder / "run", np.random.default_rng(seed)

    def fresh() -> tuple[list[gl.Variable], gl.train.AdamOptimizer]:
        shapes = (4, 3), (3,)
        return [gl.Variable(rng.normal(size=s)) for s in shapes], gl.train.AdamOptimizer(0.1)

    def bits(weights: list[gl.Variable], opt: gl.train.AdamOptimizer) -> list[bytes]:
        return [v.numpy().tobytes() for v in (*weights, *opt.variables())]

    weights, opt = fresh()
    opt.apply_gradients([(np.ones(v.shape), v) for v in weights])
    gl.save(path, weights=weights, opt=opt, epoch=3)
    data, right = path.read_bytes(), bits(weights, opt)
    for bad in damaged(data, 100, seed):
        rewrite(path, bad)
        weights, opt = fresh()
        before = bits(weights, opt)
        try:
            rest = gl.load(path, weights=weights, opt=opt)
        except gl.errors.DataLossError:
            if bits(weights, opt) != before:
                return "a file that was refused has changed something"
        except Exception as error:
            return f"{type(error).__name__}: {error}"
        else:
            if bits(weights, opt) != right or rest != {"epoch": 3}:
                return "a damaged file was loaded as something else"
    return ""


FAULTS = [
    Fault("kill -9 while a training state is saved", killed_while_saving, 2),
    Fault("100 damaged copies of a training state", damaged_on_disk, 2),
]
