"""How long a training stands still for a checkpoint of 256 MB on one device and on eight, beside
our own format.

Devices have to be made before JAX starts, so each line is measured in a process of its own.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.benchmarks.table import Row, percentile

WHAT = "a checkpoint of 256 MB (1 M x 32 with Adagrad's slots): until training goes on"
ROWS, WIDTH, SAVES = 1_000_000, 32, 6
BOUND = 100  # ms, from the second save on


def rows() -> Iterator[Row]:
    """One line for each number of devices: the median of all saves but the first, and how the first
    and the disk do.
    """
    if importlib.util.find_spec("orbax") is None:
        yield Row(WHAT, "gradlab, Checkpoints", note="orbax is not installed")
        return
    for devices in (1, 8):
        found = _measured(devices)
        later = found["saves"][1:]
        within = sum(ms <= BOUND for ms in later)
        yield Row(
            WHAT,
            f"gradlab, Checkpoints on {devices} device{'s' * (devices > 1)}",
            percentile(later, 50),
            percentile(later, 95),
            note=f"{within} of {len(later)} within {BOUND} ms; first {found['saves'][0]:.0f} ms; "
            f"on the disk after {percentile(found['written'], 50):.0f} ms; restored in "
            f"{found['restored']:.0f} ms; {found['kept'] / 1e6:.0f} MB kept",
        )
        yield Row(WHAT, f"gradlab, save (tables alone) on {devices}", found["own"])


def _measured(devices: int) -> Any:
    flags = f"--xla_force_host_platform_device_count={devices}"
    environment = os.environ | {"XLA_FLAGS": flags, "JAX_PLATFORMS": "cpu"}
    command = [sys.executable, "-m", "tests.benchmarks.checkpoints", str(devices)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def _measure(devices: int) -> dict[str, Any]:
    """Milliseconds of each save, and until its files are there; of a restore; of `save` without
    orbax.
    """
    import jax
    import numpy as np
    import optax
    from jax.sharding import Mesh

    from gradlab import tpu
    from gradlab.rules import Adagrad

    table = tpu.Table("t", ROWS, WIDTH, Adagrad(), 0.1)
    plan = tpu.Plan((table,), (tpu.Feature("f", 0, (512 // devices,)),), devices)
    mesh = Mesh(np.array(jax.devices()), "x")
    tables = tpu.create_placed(plan, mesh, [lambda ids: np.ones((ids.size, WIDTH), np.float32)])
    training = tpu.Training(
        lambda activations, params, data: ((activations[0] @ params) ** 2).mean(), optax.sgd(0.1)
    )
    params = np.ones(WIDTH, np.float32)
    state, each = training.init(tables, params), 512 // devices
    rng, found = np.random.default_rng(0), {"saves": [], "written": []}  # type: tuple[Any, dict[str, Any]]
    with (
        tempfile.TemporaryDirectory() as folder,
        tpu.Checkpoints(Path(folder) / "all") as checkpoints,
    ):
        for _ in range(SAVES):
            ids = [
                {"f": tpu.Ids(np.arange(each), rng.integers(0, ROWS, each))} for _ in range(devices)
            ]
            batch = tpu.place_batch(
                plan, state.tables.placement, tpu.make_batch(plan, ids), [(512, each)]
            )
            state = jax.block_until_ready(training.step(state, batch, None)[1])
            start = time.perf_counter()
            checkpoints.save(state)
            found["saves"].append(_since(start))
            checkpoints.wait()
            found["written"].append(_since(start))
        found["kept"] = checkpoints.nbytes
        start = time.perf_counter()
        jax.block_until_ready(checkpoints.restore(training, plan, params, mesh))
        found["restored"] = _since(start)
        start = time.perf_counter()
        tpu.save(state.tables, Path(folder) / "tables")
        found["own"] = _since(start)
    return found


def _since(start: float) -> float:
    return 1000 * (time.perf_counter() - start)


if __name__ == "__main__":
    print(json.dumps(_measure(int(sys.argv[1]))))
