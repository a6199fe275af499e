"""Layouts: who shares a stack, where rows lie, and that every row has one place of its own."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradlab import rules
from gradlab.tpu import Feature, Levels, Plan, Table
from gradlab.tpu.sparsecore import Layout, Place, Unplaced, from_stacks, stack, stacked, to_stacks

unplaced = st.builds(
    Unplaced,
    st.uuids().map(str),
    st.integers(1, 300),
    st.integers(1, 20),
    st.sampled_from("gh"),
    st.integers(0, 64),
)
cores = st.sampled_from([(1, 1), (1, 4), (2, 2), (4, 2), (2, 1)])


def places(layout: Layout) -> dict[str, Place]:
    return {p.table: p for s in layout.stacks for p in s.places}


@given(st.lists(unplaced, max_size=6), cores, st.booleans(), st.integers(0, 9))
def test_every_row_has_a_place_of_its_own(
    tables: list[Unplaced], size: tuple[int, int], enabled: bool, rotation: int
) -> None:
    layout = stacked(tables, *size, enabled=enabled, rotation=rotation)
    assert sorted(places(layout)) == sorted(t.name for t in tables)
    for s in layout.stacks:
        taken = []
        for p in s.places:
            shard, position = p.positions(s.shards, np.arange(p.padded_rows))
            assert (p.row_of(s.shards, shard, position) == np.arange(p.padded_rows)).all()
            taken.append(shard * s.rows_per_shard + position)
        assert sorted(np.concatenate(taken)) == list(range(s.shards * s.rows_per_shard))
        assert len({p.padded_width for p in s.places}) == 1
        assert all(p.padded_rows % (8 * s.shards) == p.padded_width % 8 == 0 for p in s.places)


def test_next_tables_are_rotated_by_a_core() -> None:
    layout = stacked([Unplaced(n, 9, 8) for n in "abc"], 2, 2)
    assert [p.rotation for p in layout.stacks[0].places] == [0, 2, 0]
    assert layout.stacks[0].name == "a_b_c"


def test_only_equal_tables_share_a_stack() -> None:
    adagrad = rules.Adagrad()
    tables = (
        Table("a", 10, 8, adagrad),
        Table("b", 20, 5, adagrad),
        Table("c", 10, 9, adagrad),
        Table("d", 10, 8, adagrad, combiner="sum"),
        Table("e", 10, 8, adagrad, learning_rate=0.5),
        Table("f", 10, 8, adagrad, levels=Levels(-1.0, 1.0, 3)),
        Table("g", 10, 8),
    )
    names = sorted(s.name for s in stack(Plan(tables, ())).stacks)
    assert names == ["a_b", "c", "d", "e", "f", "g"]
    assert len(stack(Plan(tables, ()), enabled=False).stacks) == 7


def test_a_stack_stays_below_its_limits() -> None:
    pair = [Unplaced("a", 64, 8, "", 64), Unplaced("b", 64, 8, "", 64)]
    activations, rows = 2 * 4 * 8 * (64 // 4), 2 * 4 * 8 * 64
    for limit, size in (("activation_limit", activations), ("shard_limit", rows)):
        assert len(stacked(pair, 1, 4, **{limit: size}).stacks) == 2
        assert len(stacked(pair, 1, 4, **{limit: size + 1}).stacks) == 1
        assert len(stacked(pair, 1, 4, **{limit: 0}).stacks) == 1


def test_samples_of_all_features_count() -> None:
    plan = Plan((Table("t", 10, 8),), (Feature("f", 0, (4,)), Feature("g", 0, (8, 2))), 2)
    (place,) = stack(plan).stacks[0].places
    assert (place.samples, place.features) == (20, 2)


@pytest.mark.parametrize("size", [(3, 1), (1, 6), (0, 4)])
def test_the_number_of_sparse_cores_is_a_power_of_two(size: tuple[int, int]) -> None:
    with pytest.raises(ValueError, match=f"power of 2, got {size[0]} cores with {size[1]} each"):
        stacked([], *size)


def test_names_are_different() -> None:
    with pytest.raises(ValueError, match="different names"):
        stacked([Unplaced("a", 1, 1), Unplaced("a", 2, 1)], 1, 1)


def drawn(layout: Layout) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(0)
    return {
        p.table: rng.normal(size=(p.rows, p.width)).astype(np.float32)
        for s in layout.stacks
        for p in s.places
    }


@given(
    st.lists(st.tuples(st.integers(1, 70), st.integers(1, 9)), min_size=1, max_size=4),
    st.sampled_from([(1, 1), (2, 2), (1, 4), (4, 2)]),
    st.integers(0, 5),
)
def test_out_again_is_what_went_in(
    sizes: list[tuple[int, int]], cores: tuple[int, int], rotation: int
) -> None:
    layout = stacked(
        [Unplaced(f"t{k}", *size) for k, size in enumerate(sizes)], *cores, rotation=rotation
    )
    tables = drawn(layout)
    back = from_stacks(layout, to_stacks(layout, tables))
    assert all(np.array_equal(back[name], tables[name]) for name in tables)


def test_shards_hold_every_nth_row_rotated() -> None:
    layout = stacked([Unplaced("a", 4, 1), Unplaced("b", 4, 1)], 2, 1)
    tables = {"a": [[0.0], [1.0], [2.0], [3.0]], "b": [[10.0], [11.0], [12.0], [13.0]]}
    shards = to_stacks(layout, tables, padding=-1.0)["a_b"].reshape(2, -1, 8)
    assert shards[:, :2, 0].tolist() == [[0.0, 2.0], [1.0, 3.0]]
    assert shards[:, 8:10, 0].tolist() == [[11.0, 13.0], [10.0, 12.0]]
    assert (shards[:, :, 1:] == -1.0).all()
    assert (shards[:, 2:8, 0] == -1.0).all()


@pytest.mark.parametrize(
    ("tables", "message"),
    [
        ({}, "stack 't' needs table 't', got none"),
        ({"t": [[1.0]]}, r"table 't' must have shape \(2, 1\), got \(1, 1\)"),
    ],
)
def test_wrong_tables_are_refused(tables: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        to_stacks(stacked([Unplaced("t", 2, 1)], 1, 1), tables)


@pytest.mark.parametrize(
    ("stacks", "message"),
    [
        ({}, "needs stack 't', got none"),
        ({"t": [[1.0]]}, r"stack 't' must have shape \(8, 8\), got \(1, 1\)"),
    ],
)
def test_wrong_stacks_are_refused(stacks: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        from_stacks(stacked([Unplaced("t", 2, 1)], 1, 1), stacks)
