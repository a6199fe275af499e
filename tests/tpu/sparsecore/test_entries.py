"""Who looks up what: samples dealt out to SparseCores, ids moved into the stack."""

import numpy as np
import pytest

from gradlab.tpu import Feature, Ids, Plan, Table, sparsecore
from gradlab.tpu.sparsecore import Limits, partitions, stack
from gradlab.tpu.sparsecore import entries as module
from gradlab.tpu.sparsecore.entries import entries, spans
from tests.tpu.sparsecore import cases

PLAN = Plan(
    (Table("a", 10, 8, combiner="sum"), Table("b", 20, 8, combiner="sum")),
    (Feature("f", 0, (4,)), Feature("g", 1, (2,)), Feature("h", 0, (2,))),
    2,
)
LAYOUT = stack(PLAN, 2)
(STACK,) = LAYOUT.stacks


def test_features_stand_one_after_another_on_every_sparse_core() -> None:
    assert [tuple(x) for x in spans(PLAN, LAYOUT, STACK)] == [
        (0, 0, 0, 2),
        (1, 1, 2, 1),
        (2, 0, 3, 1),
    ]


def test_samples_go_to_the_sparse_cores_of_their_core_in_turn() -> None:
    found = entries(
        PLAN, LAYOUT, STACK, [{"f": Ids([0, 1, 2, 3], [9, 8, 7, 6])}, {"h": Ids([0, 1], [5, 5])}]
    )
    assert found.sparse_cores.tolist() == [0, 0, 1, 1, 2, 3]
    assert found.samples.tolist() == [0, 1, 0, 1, 3, 3]
    assert found.columns.tolist() == [9, 8, 7, 6, 5, 5]
    assert found.tables.tolist() == [0] * 6


def test_the_ids_of_a_later_table_are_rotated_and_moved() -> None:
    found = entries(PLAN, LAYOUT, STACK, [{"g": Ids([0, 0, 1], [0, 3, 19])}, {}])
    offset = 4 * 8  # rows of table a, padded, on all four SparseCores
    assert found.columns.tolist() == [offset + 2, offset + 1, offset + 16 + 1]
    assert found.tables.tolist() == [1, 1, 1]


def test_ids_outside_pass_as_found_with_their_gains() -> None:
    found = entries(
        PLAN,
        LAYOUT,
        STACK,
        [{"f": Ids([0, 0, 1], [-1, 3, 1000], [1.0, 2.0, 3.0])}, {}],
        as_found=True,
    )
    assert found.columns.tolist() == [-1, 3, 1000]
    assert found.gains.tolist() == [1.0, 2.0, 3.0]


def test_sequences_keep_their_ids_when_they_are_cut() -> None:
    plan = Plan((Table("t", 10, 8),), (Feature("f", 0, (2, 2), 2),))
    layout = stack(plan, 2)
    found = entries(
        plan, layout, layout.stacks[0], [{"f": Ids([0, 0, 0, 1], [5, 6, 7, 8])}], as_found=True
    )
    assert found.columns.tolist() == [5, 6, 8]
    assert np.array_equal(found.sparse_cores * 2 + found.samples, [0, 1, 2])


def test_samples_that_cannot_be_shared_evenly_are_refused() -> None:
    plan = Plan((Table("t", 10, 8),), (Feature("f", 0, (3,)),))
    layout = stack(plan, 2)
    with pytest.raises(
        ValueError, match="feature 'f' has 3 samples on a core, which 2 SparseCores cannot share"
    ):
        spans(plan, layout, layout.stacks[0])


def test_more_samples_than_the_hosts_sort_holds_are_refused_before_any_work() -> None:
    plan = Plan((Table("t", 10, 8),), (Feature("f", 0, (1 << 25,)), Feature("g", 0, (1 << 25,))))
    with pytest.raises(
        ValueError,
        match="exceeds the maximum limit supported by the SparseCore CooFormat sorting key",
    ):
        sparsecore.preprocess(plan, {"f": Ids([0], [3])})


def test_a_large_batch_in_pieces_is_the_same_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever sums are taken in; ids of unordered samples are worked on at once."""
    plan, ids = cases.plan(), cases.ids(3)
    ids[0]["f"] = Ids(*(None if x is None else x[::-1] for x in ids[0]["f"]))

    def made() -> sparsecore.Preprocessed:
        limits = Limits(6, 4)
        return sparsecore.preprocess(
            plan, ids, per_core=2, limits=limits, allow_id_dropping=True, out_of_range="as_found"
        )

    whole = made()
    for place in (module, partitions):
        monkeypatch.setattr(place, "AT_ONCE", 3)
    for name, buffers in made().buffers.items():
        for got, wanted in zip(buffers, whole.buffers[name], strict=True):
            np.testing.assert_array_equal(got, wanted)
    assert made().statistics.keys() == whole.statistics.keys()
    for name, told in made().statistics.items():
        assert told.describe() == whole.statistics[name].describe()
