"""States saved on one mesh and restored on another; what is missing, broken or of another plan is
refused.
"""

import dataclasses
import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gradlab.errors import DataLossError
from gradlab.rules import Adagrad, Momentum
from gradlab.tpu import Feature, Plan, Table, create, gather, place, restore, save
from gradlab.tpu.sharding import checkpoint, shard_files
from tests.tpu.sharding.plans import bits, mesh, start, stepped, two_tables, values


@pytest.fixture(scope="module")
def trained() -> Any:
    """A state on four devices with a pending update."""
    return stepped(place(start(two_tables(4, pipelined=True)), mesh(4)), range(3))[1]


@pytest.mark.exhaustive
@pytest.mark.parametrize(("shape", "strategy"), [(None, "div"), ((4,), "mod"), ((2,), "mod")])
def test_any_mesh_reads_it_and_goes_on(
    trained: Any, tmp_path: Path, shape: Any, strategy: Any
) -> None:
    save(trained, tmp_path)
    state = restore(trained.plan, tmp_path, shape and mesh(*shape), strategy)
    assert state.pending is not None
    assert bits(state) == bits(trained)
    if shape == (2,):
        # Programs for other meshes are fused in other ways, so the last bits may differ.
        after, expected = (values(stepped(before, [7])[1]) for before in (state, trained))
        for x, y in zip(after, expected, strict=True):
            np.testing.assert_allclose(x, y, rtol=1e-5, atol=1e-6)
    again = tmp_path / "again"
    save(state, again)
    assert bits(restore(state.plan, again)) == bits(trained)


@pytest.mark.exhaustive
def test_a_plan_that_is_not_pipelined_makes_the_pending_update(
    trained: Any, tmp_path: Path
) -> None:
    save(trained, tmp_path)
    state = restore(two_tables(4), tmp_path)
    assert state.pending is None
    assert bits(state) == bits(trained)
    with pytest.raises(
        ValueError, match=r"a pending update of 4 cores, the plan has 2; flush_pending"
    ):
        restore(two_tables(2, pipelined=True), tmp_path)


def small(rows: int = 10, rule: Any = Adagrad(), names: Any = ("t",)) -> Any:  # noqa: B008 - frozen
    return Plan(tuple(Table(n, rows, 3, rule) for n in names), (Feature("f", 0, (2,)),), cores=4)


def whole(plan: Any) -> Any:
    return create(plan, [np.arange(t.rows * 3.0).reshape(-1, 3) for t in plan.tables])


@pytest.mark.exhaustive
def test_shards_of_several_blocks_are_put_together(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(shard_files, "BLOCK", 24)
    plan = small()
    save(place(whole(plan), mesh(4)), tmp_path)  # rows 0-2, 3-5, 6-7, 8-9
    for strategy in ("div", "mod"):
        assert bits(restore(plan, tmp_path, mesh(2), strategy)) == bits(whole(plan))


@pytest.mark.exhaustive
def test_an_older_state_is_replaced_and_cleared_away(tmp_path: Path) -> None:
    plan = small()
    save(place(whole(plan), mesh(4)), tmp_path)
    (tmp_path / "shard-2-0.npz.part").write_bytes(b"left by a crash")
    os.utime(tmp_path / "shard-2-0.npz.part", (0, 0))
    later = stepped_once(place(whole(plan), mesh(2)))
    save(later, tmp_path)
    names = sorted(p.name for p in tmp_path.iterdir())
    assert [name.rpartition("-")[0] for name in names] == ["", "shard-2-0", "shard-2-1"]
    assert bits(restore(plan, tmp_path)) == bits(later)


def stepped_once(state: Any) -> Any:
    return dataclasses.replace(state, tables=tuple(w + 1 for w in state.tables))


def test_a_save_that_fails_leaves_the_older_state(tmp_path: Path, monkeypatch: Any) -> None:
    plan = small()
    save(whole(plan), tmp_path)

    def full(*_: Any) -> None:
        raise OSError("no space left")

    monkeypatch.setattr(shard_files.ShardWriter, "array", full)
    with pytest.raises(OSError, match="no space left"):
        save(stepped_once(whole(plan)), tmp_path)
    assert bits(restore(plan, tmp_path)) == bits(whole(plan))
    assert not list(tmp_path.glob("*.part"))


def test_what_rules_share_is_kept(tmp_path: Path) -> None:
    state = whole(small())
    state = dataclasses.replace(state, shared=({"power": np.float32(0.1)},))
    save(state, tmp_path)
    assert restore(small(), tmp_path).shared == state.shared


def test_missing_and_broken_files_are_named(tmp_path: Path) -> None:
    plan = small()
    with pytest.raises(
        FileNotFoundError, match=r"no state is saved in .*: it has no manifest.json"
    ):
        restore(plan, tmp_path)
    save(place(whole(plan), mesh(2)), tmp_path)
    (shard,) = tmp_path.glob("shard-1-1-*.npz")
    good = shard.read_bytes()
    flipped = bytearray(good)
    flipped[300] ^= 1
    for broken in (good[: len(good) // 2], b"", b"no zip at all", bytes(flipped)):
        shard.write_bytes(broken)
        with pytest.raises(DataLossError, match=rf"{shard.name} is no shard of tables"):
            restore(plan, tmp_path)
    shard.unlink()
    with pytest.raises(DataLossError, match=rf"{shard.name} is missing: its manifest names it"):
        restore(plan, tmp_path)


@pytest.mark.parametrize(
    ("text", "message"), [("{", "manifest.json is no manifest"), ("[1]", "it holds a list")]
)
def test_a_broken_manifest_is_refused(tmp_path: Path, text: str, message: str) -> None:
    save(whole(small()), tmp_path)
    (tmp_path / "manifest.json").write_text(text)
    for call in (lambda: restore(small(), tmp_path), lambda: save(whole(small()), tmp_path)):
        with pytest.raises(DataLossError, match=message):
            call()


@pytest.mark.parametrize(
    "other", [small(rows=11), small(rule=Momentum()), small(names=("u",)), small(names=("t", "u"))]
)
def test_tables_of_another_plan_are_refused(tmp_path: Path, other: Any) -> None:
    save(whole(small()), tmp_path)
    with pytest.raises(ValueError, match="holds other tables than those of the plan"):
        restore(other, tmp_path)


def test_devices_that_cannot_share_the_cores_and_layouts_of_other_tables_are_refused(
    tmp_path: Path,
) -> None:
    save(whole(small()), tmp_path)
    with pytest.raises(
        ValueError, match="3 devices cannot share 4 cores; give the plan as many cores as"
    ):
        restore(small(), tmp_path, mesh(3))
    with pytest.raises(ValueError, match="the plan has 1 tables, got 2 layouts"):
        restore(small(), tmp_path, mesh(2), layouts=["whole", "rows"])


def test_limits_and_rates_may_differ(tmp_path: Path) -> None:
    save(whole(small()), tmp_path)
    assert (
        gather(restore(small(rule=Adagrad(0.5)), tmp_path)).tables[0].tolist()
        == whole(small()).tables[0].tolist()
    )
    assert json.loads((tmp_path / "manifest.json").read_text())["tables"][0]["slots"] == [
        "accumulator"
    ]


def test_two_saves_into_one_folder_leave_one_of_them_whole(
    tmp_path: Path, monkeypatch: Any
) -> None:
    plan, write = small(), checkpoint.write_manifest
    one, other = whole(plan), stepped_once(whole(plan))

    def interrupted(*given: Any) -> None:
        monkeypatch.setattr(checkpoint, "write_manifest", write)
        save(other, tmp_path)
        write(*given)

    monkeypatch.setattr(checkpoint, "write_manifest", interrupted)
    save(one, tmp_path)
    assert bits(restore(plan, tmp_path)) == bits(one)
    save(other, tmp_path)
    assert bits(restore(plan, tmp_path)) == bits(other) and len(list(tmp_path.iterdir())) == 2
