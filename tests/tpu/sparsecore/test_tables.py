"""Tables into stacks and out again."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradlab.tpu.sparsecore import Layout, Unplaced, from_stacks, stacked, to_stacks


def drawn(layout: Layout) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(0)
    return {p.table: rng.normal(size=(p.rows, p.width)).astype(np.float32) for s in layout.stacks for p in s.places}


@given(
    st.lists(st.tuples(st.integers(1, 70), st.integers(1, 9)), min_size=1, max_size=4),
    st.sampled_from([(1, 1), (2, 2), (1, 4), (4, 2)]),
    st.integers(0, 5),
)
def test_out_again_is_what_went_in(sizes: list[tuple[int, int]], cores: tuple[int, int], rotation: int) -> None:
    layout = stacked([Unplaced(f"t{k}", *size) for k, size in enumerate(sizes)], *cores, rotation=rotation)
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
    [({}, "needs stack 't', got none"), ({"t": [[1.0]]}, r"stack 't' must have shape \(8, 8\), got \(1, 1\)")],
)
def test_wrong_stacks_are_refused(stacks: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        from_stacks(stacked([Unplaced("t", 2, 1)], 1, 1), stacks)
