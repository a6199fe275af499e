"""What runs on JAX runs on NumPy where JAX is not installed, with the same numbers; in a Python
that lacks it.
"""

import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gradlab as gl
from gradlab.workers import Bowl, Experiment, Speeds, sweep

WITHOUT_JAX = """
import sys, pickle
sys.modules["jax"] = None
from tests._base import test_jax_or_numpy
print(pickle.dumps({name: f() for name, f in test_jax_or_numpy.RUNS.items()}).hex())
"""


def sweeps() -> dict[str, np.ndarray]:
    """Every policy; exact, as all of it is integers and their ratios."""
    found = {}
    for policy in ("drop", "wait", "backup", "apply"):
        e = Experiment(
            Bowl(), speeds=Speeds(spread=0.4, stall=0.1, slow={0: 3.0}), policy=policy, gradients=40
        )
        axes: Any = {"aggregate": [1, 2]} if policy == "backup" else {"staleness": [0, 2, 5]}
        d = sweep(e, **axes, workers=[2, 3, 5])
        found |= {f"{policy}.{name}": x for name, x in vars(d).items() if isinstance(x, np.ndarray)}
    return found


def tables() -> dict[str, np.ndarray]:
    """Steps on one device: two cores, each way to sum, a rule with slots, a limit, levels, a step
    that is held back.
    """
    from gradlab.models.tpu_runs.traces import record
    from gradlab.tpu import Feature, Ids, Levels, Plan, Table, create, make_batch, train_step

    rng, made = np.random.default_rng(0), {}
    rows = rng.standard_normal((2, 6, 2)).astype(np.float32)
    for name, own, whole in (
        ("plain", {}, {}),
        ("each", {"accumulate": False, "gradient_limits": (-0.5, 0.5)}, {}),
        (
            "levels",
            {"rule": gl.rules.Adam(lazy=False), "levels": Levels(-2.0, 2.0, 17)},
            {"pipelined": True},
        ),
        ("cores", {"rule": gl.rules.Adagrad()}, {"cores": 2}),
    ):
        table = Table("t", 6, 2, combiner="mean", **{"learning_rate": 0.5} | own)
        plan = Plan((table,), (Feature("f", 0, (3,)),), **whole)
        ids = [{"f": Ids([0, 0, 1, 2], rng.integers(0, 6, 4))} for _ in range(plan.cores)]
        start, wanted = (create(plan, [x]) for x in rows)
        trace = record(start, wanted, [make_batch(plan, ids)] * 3, np.zeros((3, 0)))
        arrays = [
            *trace.activations,
            *trace.gradients,
            *trace.states.tables,
            *trace.states.slots[0],
        ]
        made |= {f"{name}.{k}": np.asarray(x) for k, x in enumerate(arrays)}
    value, state = train_step(start, make_batch(plan, ids), [], lambda found: (found[0] ** 2).sum())
    return made | {"loss": np.asarray(value), "table": np.asarray(state.tables[0])}


def losses() -> dict[str, np.ndarray]:
    """The losses of the runs of the course, and their gradients."""
    from gradlab._base.derivatives import differentiator
    from gradlab.models.tpu_runs import two_tower

    rng = np.random.default_rng(0)
    line, first, second = (rng.standard_normal((n, 4)).astype(np.float32) for n in (6, 3, 3))
    tree, data = (line, first, second), rng.integers(0, 3, 6)
    value, gradients = differentiator().value_and_gradient(two_tower.loss_of, compiled=True)(
        tree, data
    )
    return {f"two_tower.{k}": np.asarray(x) for k, x in enumerate([value, *gradients])}


# What is run, and how far a number may be from JAX's, as a share of the largest.
RUNS = {"sweeps": sweeps, "tables": tables, "losses": losses}
BOUNDS = {"sweeps": 0.0, "tables": 1e-6, "losses": 1e-6}


@pytest.mark.exhaustive  # a process of its own
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
