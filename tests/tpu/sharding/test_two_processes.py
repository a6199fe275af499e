"""Two processes that share a mesh end where one device does, bit for bit; what they saved is read
by one.
"""

import os
import socket
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gradlab.tpu import create, gather, restore
from gradlab.tpu.sharding.shard_files import read_manifest
from tests.tpu.sharding.plans import bits, mesh, rows_of, stepped, two_tables

pytestmark = pytest.mark.exhaustive  # in one process: test_place.py, test_checkpoint.py
ROOT = Path(__file__).parents[3]
SETTINGS = {
    "JAX_PLATFORMS": "cpu",
    "JAX_CPU_COLLECTIVES_IMPLEMENTATION": "gloo",
    "XLA_FLAGS": "--xla_force_host_platform_device_count=4",
}
TIMEOUT = 300


def run_together(
    folder: Path, count: int = 2, module: str = "tests.tpu.sharding.two_processes"
) -> list[str]:
    """What each of the processes prints; if one fails or hangs, all are ended and told of."""
    with socket.create_server(("localhost", 0)) as server:
        address = f"localhost:{server.getsockname()[1]}"
    command = [sys.executable, "-m", module, address]
    options: Any = {"cwd": ROOT, "env": os.environ | SETTINGS, "text": True}
    processes = [
        subprocess.Popen(
            [*command, str(k), str(count), str(folder)],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            **options,
        )
        for k in range(count)
    ]
    timer = threading.Timer(TIMEOUT, lambda: [p.kill() for p in processes])
    timer.start()
    try:
        texts = [p.communicate()[0] for p in processes]
    finally:
        timer.cancel()
        for p in processes:
            p.kill()
            p.wait()
    codes = [p.returncode for p in processes]
    parts = (
        f"--- process {k} ended with {code}:\n{text}"
        for k, (code, text) in enumerate(zip(codes, texts, strict=True))
    )
    assert codes == [0] * count, "\n".join(parts)
    return texts


@pytest.fixture(scope="module")
def saved(tmp_path_factory: Any) -> Any:
    folder = tmp_path_factory.mktemp("state")
    return folder, run_together(folder)


def test_each_has_its_own_cores_and_shards(saved: Any) -> None:
    folder, texts = saved
    for k, text in enumerate(texts):
        assert (
            f"process {k} of 2: cores {list(range(4 * k, 4 * k + 4))}, tables [(40, 5), (16, 3)]"
            in text
        )
    manifest = read_manifest(folder / "trained")
    assert sorted(p.name for p in (folder / "trained").iterdir()) == sorted(
        ["manifest.json", *manifest["files"]]
    )
    assert (len(manifest["files"]), manifest["mesh"]) == (8, {"cores": 8})


@pytest.mark.parametrize("name", ["trained", "again"])
def test_they_end_where_one_device_does(saved: Any, name: str) -> None:
    plan = two_tables(8, pipelined=True)
    one = create(plan, [rows_of(t)(np.arange(t.rows)) for t in plan.tables])
    after = stepped(one, range(3))[1]
    for state in (restore(plan, saved[0] / name), restore(plan, saved[0] / name, mesh(8))):
        assert gather(state).tables[0].tobytes() == np.asarray(after.tables[0]).tobytes()
        assert bits(state) == bits(after), "the update that was pending, too"
