"""What it costs to read the log of a million steps: processor time, and memory, in fresh processes."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from tests.benchmarks.table import Row

STEPS = 1_000_000
RUNS = 3

PROGRAM = """
import json, sys, time
from gradlab.record import read_log

def peak():  # of this process; what getrusage says includes the parent's
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) / 1024 for line in file if line.startswith("VmHWM"))

before = peak()
start = time.process_time()
read_log(sys.argv[1])
print(json.dumps([1000 * (time.process_time() - start), peak(), before]))
"""


def _csv(step: int, loss: float, norm: float) -> str:
    return f"{step},{loss:.6f},{norm:.6f}\n"


def _lightning(step: int, loss: float, norm: float) -> str:
    """A line in a hundred is of the validation, with neither."""
    if step % 100:
        return f"0,{norm:.6f},{step},{loss:.6f},\n"
    return f"0,,{step},,{loss:.6f}\n"


def _json(step: int, loss: float, norm: float) -> str:
    return f'{{"step": {step}, "loss": {loss:.6f}, "grad_norm": {norm:.6f}, "lr": 0.0001}}\n'


def _hugging_face(step: int, loss: float, norm: float) -> str:
    comma = "," if step + 1 < STEPS else "]}"
    return f'{{"epoch": 1.0, "grad_norm": {norm}, "loss": {loss:.4f}, "step": {step}}}{comma}\n'


def _torchtitan(step: int, loss: float, norm: float) -> str:
    return (
        f"[titan] 2026-02-24 19:46:17,508 - root - INFO - step: {step}  loss:  {loss:.5f}  "
        f"grad_norm: {norm:.4f}  memory: 66.91GiB(37.51%)  tps: 10,050\n"
    )


def _megatron(step: int, loss: float, norm: float) -> str:
    return (
        f" iteration {step:8d}/ 1000000 | consumed samples: {step:12d} | learning rate: 1.5E-4 | "
        f"lm loss: {loss:.6E} | loss scale: 1.0 | grad norm: {norm:.3f} | number of skipped "
        "iterations:   0 |\n"
    )


# Name of the file, what begins it, and a line.
FORMATS: dict[str, tuple[str, Callable[[int, float, float], str]]] = {
    "table.csv": ("step,loss,grad_norm\n", _csv),
    "metrics.csv": ("epoch,grad_norm,step,train_loss,val_loss\n", _lightning),
    "run.jsonl": ("", _json),
    "trainer_state.json": ('{"log_history": [\n', _hugging_face),
    "torchtitan.log": ("", _torchtitan),
    "megatron.log": ("", _megatron),
}


def rows() -> Iterator[Row]:
    """One row for each format."""
    norm = np.exp(np.random.default_rng(0).normal(size=STEPS)).tolist()
    loss = np.linspace(3, 1, STEPS).tolist()
    for name, (head, line) in FORMATS.items():
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / name
            with path.open("w") as file:
                file.write(head)
                file.writelines(map(line, range(STEPS), loss, norm))
            runs = [_read(path) for _ in range(RUNS)]
        median = statistics.median(took for took, _, _ in runs)
        peak, before = runs[-1][1:]
        note = f"{peak:.0f} MB at most, {before:.0f} of them before"
        yield Row("read a log of 1e6 steps", name, median, note=f"processor time; {note}")


def _read(path: Path) -> tuple[float, float, float]:
    command = [sys.executable, "-c", PROGRAM, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    took, peak, before = json.loads(done.stdout)
    return took, peak, before
