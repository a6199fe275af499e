"""What runs on JAX runs on NumPy where JAX is not installed, with the same numbers; in a Python that lacks it."""

import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

from gradlab.workers import Bowl, Experiment, Speeds, sweep

WITHOUT_JAX = """
import sys, pickle
sys.modules["jax"] = None
from tests._steps import test_library
print(pickle.dumps({name: f() for name, f in test_library.RUNS.items()}).hex())
"""


def sweeps() -> dict[str, np.ndarray]:
    """Every policy; exact, as all of it is integers and their ratios."""
    found = {}
    for policy in ("drop", "wait", "backup", "apply"):
        e = Experiment(Bowl(), speeds=Speeds(spread=0.4, stall=0.1, slow={0: 3.0}), policy=policy, gradients=40)
        axes: Any = {"aggregate": [1, 2]} if policy == "backup" else {"staleness": [0, 2, 5]}
        d = sweep(e, **axes, workers=[2, 3, 5])
        found |= {f"{policy}.{name}": x for name, x in vars(d).items() if isinstance(x, np.ndarray)}
    return found


# What is run, and how far a number may be from JAX's, as a share of the largest.
RUNS = {"sweeps": sweeps}
BOUNDS = {"sweeps": 0.0}


def test_numpy_gives_the_numbers_of_jax() -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", WITHOUT_JAX],
        capture_output=True,
        text=True,
        cwd=Path(__file__).parents[2],
    )
    assert done.returncode == 0, done.stderr
    without = pickle.loads(bytes.fromhex(done.stdout.split()[-1]))
    for run, bound in BOUNDS.items():
        for name, x in RUNS[run]().items():
            y = without[run][name]
            assert (y.dtype, y.shape) == (x.dtype, x.shape), name
            assert np.all(np.abs(y - x) <= bound * np.abs(x).max()), name
