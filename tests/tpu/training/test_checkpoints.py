"""Checkpoints hold tables and tower of one instant, are read on any mesh, and are refused where
they are damaged.
"""

from __future__ import annotations

import dataclasses
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jax
import numpy as np
import optax
import pytest
from jax.sharding import Mesh

from gradlab.errors import DataLossError
from gradlab.rules import Adam
from gradlab.tpu import Checkpoints, Plan, Training, create_placed, gather
from tests.tpu.sharding.test_two_processes import run_together
from tests.tpu.training.towers import (
    OPTIMIZER,
    STEPS,
    WIDTH,
    batch_of,
    examples,
    loss,
    plain,
    plan_of,
    rate,
    row,
    tower,
)

pytestmark = pytest.mark.orbax
ROOT = Path(__file__).parents[3]
TRAINING = Training(loss, OPTIMIZER, [rate])
SAVED_AT = (20, 25, 30)


def mesh_of(count: int) -> Mesh:
    return Mesh(np.array(jax.devices("cpu")[:count]), ("x",))


def trained(state: Any, some: Any) -> tuple[list[float], Any]:
    losses = []
    for users, items, clicked in some:
        batch = batch_of(state.tables.plan, state.tables.placement, users, items)
        value, state = TRAINING.step(state, batch, clicked)
        losses.append(float(value))
    return losses, state


def bits(state: Any) -> list[bytes]:
    tables = gather(state.tables)
    return [
        np.asarray(x).tobytes()
        for x in jax.tree.leaves((tables.tables, tables.slots, state.params, state.step))
    ]


@pytest.fixture(scope="module")
def saved(tmp_path_factory: Any) -> Iterator[Any]:
    """Checkpoints of a training on eight devices that goes on while they are written, and the bits
    at the last.
    """
    plan, folder = plan_of(8), tmp_path_factory.mktemp("checkpoints")
    tables = create_placed(plan, mesh_of(8), [row(t.rows, t.width) for t in plan.tables], "mod")
    state, whole, last = TRAINING.init(tables, tower()), list(examples(STEPS)), []
    with Checkpoints(folder) as checkpoints:
        assert checkpoints.nbytes == 0
        for start, end in zip((0, *SAVED_AT), (*SAVED_AT, STEPS), strict=True):
            state = trained(state, whole[start:end])[1]
            if end in SAVED_AT:
                last = bits(state)
                checkpoints.save(state)
        checkpoints.wait()
        assert checkpoints.nbytes == sum(
            s.data.nbytes for x in jax.tree.leaves(state) for s in x.addressable_shards
        )
        yield folder, checkpoints, last


def test_any_mesh_and_layout_reads_the_last_and_goes_on(saved: Any, tmp_path: Path) -> None:
    folder, checkpoints, last = saved
    assert checkpoints.steps() == [25, 30]
    assert len(list(folder.iterdir())) == 4, "two folders with a manifest each: older ones are gone"
    for mesh, strategy in ((None, "div"), (mesh_of(8), "div"), (mesh_of(2), "mod")):
        assert bits(checkpoints.restore(TRAINING, plan_of(8), tower(), mesh, strategy)) == last
    state = checkpoints.restore(
        TRAINING, plan_of(8), tower(), mesh_of(4), "mod", layouts=("columns", "copies")
    )
    assert state.tables.tables[0].sharding.shard_shape((45, WIDTH)) == (45, WIDTH // 4)
    with Checkpoints(tmp_path) as other:
        other.save(state)
        other.wait()
        assert bits(other.restore(TRAINING, plan_of(8), tower())) == bits(state) == last
    losses = trained(state, list(examples(STEPS))[30:])[0]
    np.testing.assert_allclose(losses, plain(STEPS)[30:], rtol=1e-6)
    assert int(checkpoints.restore(TRAINING, plan_of(8), tower(), step=25).step) == 25


def test_what_was_not_saved_so_is_refused(saved: Any, tmp_path: Path) -> None:
    checkpoints = saved[1]
    plan = plan_of(8)
    fewer = Plan(plan.tables[:1], plan.features[:1], 8)
    with pytest.raises(
        ValueError,
        match="holds other tables than those of the plan: 2 tables are saved, the plan has 1",
    ):
        checkpoints.restore(TRAINING, fewer, tower())
    other = Plan(
        (plan.tables[0], dataclasses.replace(plan.tables[1], rule=Adam())), plan.features, 8
    )
    with pytest.raises(
        ValueError, match=r"holds other tables than those of the plan: .*'items'.*accumulator"
    ):
        checkpoints.restore(TRAINING, other, tower())
    with pytest.raises(
        ValueError,
        match=r"another tower or optimizer: .*params\['item'\].* is saved, .*\[3, 4\].* wanted",
    ):
        checkpoints.restore(TRAINING, plan, tower() | {"item": np.zeros((3, 4), np.float32)})
    with pytest.raises(ValueError, match=r"another tower or optimizer: .* is saved, .* wanted"):
        checkpoints.restore(Training(loss, optax.sgd(0.1), [rate]), plan, tower())
    with pytest.raises(
        FileNotFoundError, match=r"no checkpoint of step 7 is in .*; there are \[25, 30\]"
    ):
        checkpoints.restore(TRAINING, plan, tower(), step=7)
    with pytest.raises(ValueError, match="3 devices cannot share 8 cores"):
        checkpoints.restore(TRAINING, plan, tower(), mesh_of(3))
    with pytest.raises(FileNotFoundError, match="no checkpoint is in"):
        Checkpoints(tmp_path).restore(TRAINING, plan, tower())


def test_damage_is_named_and_nothing_is_read_as_zeros(saved: Any) -> None:
    folder, checkpoints, _ = saved
    content = json.loads((folder / "step-25.json").read_text())
    file = (
        folder
        / content["folder"]
        / next(name for name in content["files"] if name.startswith("0-parameters/0"))
    )
    data = file.read_bytes()
    for damage in (data[:-1] + bytes([data[-1] ^ 1]), data[:-1], None):
        file.write_bytes(damage) if damage is not None else file.unlink()
        with pytest.raises(DataLossError, match="0-parameters/0"):
            checkpoints.restore(TRAINING, plan_of(8), tower(), step=25)
    file.write_bytes(data)
    assert int(checkpoints.restore(TRAINING, plan_of(8), tower(), step=25).step) == 25


def test_two_processes_save_together_and_go_on_and_one_reads_it(tmp_path: Path) -> None:
    texts = run_together(tmp_path, module="tests.tpu.training.two_processes")
    for text in texts:
        losses = [float(x) for x in text.partition("losses ")[2].splitlines()[0].split()]
        np.testing.assert_allclose(losses, plain(STEPS), rtol=1e-6)
    with Checkpoints(tmp_path) as checkpoints:
        state = checkpoints.restore(TRAINING, plan_of(8), tower(), mesh_of(4))
    np.testing.assert_allclose(
        trained(state, list(examples(STEPS))[20:])[0], plain(STEPS)[20:], rtol=1e-6
    )


def test_a_kill_leaves_the_last_whole_one(tmp_path: Path) -> None:
    """`python -m tests.tpu.training.killed FOLDER 50` tries more."""
    command = [sys.executable, "-m", "tests.tpu.training.killed", str(tmp_path), "4"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.stdout.splitlines()[-1:] == ["4 kills, 0 lost"], done.stdout + done.stderr
