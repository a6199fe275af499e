"""Buffers: aligned partitions, padding, memory nobody wrote, and reading by pointers alone."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradlab.tpu.sparsecore import Layout, Limits, static_size
from gradlab.tpu.sparsecore.buffers import PADDING, fill, read, sizes
from gradlab.tpu.sparsecore.entries import Entries
from gradlab.tpu.sparsecore.partitions import Grouped, grouped

LAYOUT = Layout(2, 2, ())
lookups = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2), st.integers(0, 99)), max_size=60)


def made(lookups: list[tuple[int, int, int]], minibatch: np.ndarray | None = None) -> Grouped:
    core, sample, column = (np.array([x[k] for x in lookups], int) for k in range(3))
    found = Entries(
        core, sample, column, np.ones(len(lookups), np.float32), np.zeros(len(lookups), int)
    )
    return grouped(found, 4) if minibatch is None else grouped(found, 4, column % 64, minibatch)


def test_pointers_end_partitions_and_padding_fills_them_up() -> None:
    b, kept = fill(made([(0, 0, 1), (0, 1, 5), (0, 0, 3), (1, 0, 0)]), LAYOUT, 64)
    assert kept.all()
    assert b.row_pointers.tolist() == [
        [0, 2, 8, 9, 16, 16, 16, 16, 1, 8, 8, 8, 8, 8, 8, 8],
        [0] * 16,
    ]
    assert b.embedding_ids[0, :9].tolist() == [0, 1, *[PADDING] * 6, 0]
    assert b.sample_ids[0, :3].tolist() == [0, 1, PADDING]
    assert np.isnan(b.gains[0, 2:8]).all()
    kinds = b.kinds()
    assert kinds[0, :17].tolist() == ["lookup"] * 2 + ["padding"] * 6 + ["lookup"] + [
        "padding"
    ] * 7 + ["unwritten"]
    assert kinds[0, 32:41].tolist() == ["lookup"] + ["padding"] * 7 + ["unwritten"]
    assert (kinds[1] == "unwritten").all()


@given(lookups, st.booleans())
def test_what_is_read_is_what_was_filled(
    given_lookups: list[tuple[int, int, int]], split: bool
) -> None:
    minibatch = np.arange(64) // 32 if split else None
    many = 2 if split else 1
    g = made(given_lookups, minibatch)
    size = 2048
    b, kept = fill(g, LAYOUT, size, many, shared=split)
    found = read(b, LAYOUT, many, shared=split)
    assert kept.all()
    assert found.positions.tolist() == (g.columns // 4).tolist()
    for name in ("sparse_cores", "minibatches", "partitions", "samples", "gains"):
        assert getattr(found, name).tolist() == getattr(g, name).tolist()


@given(lookups, st.sampled_from([16, 32, 48]), st.booleans())
def test_buffers_that_are_too_small_hold_the_first(
    given_lookups: list[tuple[int, int, int]], size: int, shared: bool
) -> None:
    g = made(given_lookups)
    b, kept = fill(g, LAYOUT, size, shared=shared)
    found = read(b, LAYOUT, shared=shared)
    assert found.samples.size == kept.sum()
    assert found.positions.tolist() == (g.columns // 4)[kept].tolist()


def test_sizes_are_those_of_the_pointers() -> None:
    need = sizes(made([(0, 0, 1), (0, 1, 5), (0, 0, 3), (3, 0, 0)]), LAYOUT, 1)
    assert need.totals.tolist() == [16, 0, 0, 8]
    assert need.ends[0].tolist() == [0, 2, 8, 9]


@pytest.mark.parametrize(("most", "size"), [(1, 64), (8, 64), (9, 128)])
def test_the_static_size_is_aligned(most: int, size: int) -> None:
    assert static_size(Limits(most), LAYOUT) == size
    assert static_size(Limits(most), LAYOUT, minibatching=True) == 64 * size
