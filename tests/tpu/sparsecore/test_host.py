"""How a host splits a batch, and how large it makes buffers."""

import pytest

from gradlab.tpu import Ids
from gradlab.tpu.sparsecore import Limits, Unplaced, preprocess, stacked, static_size
from gradlab.tpu.sparsecore.preprocess import by_stack
from tests.tpu.sparsecore import cases

LAYOUT = stacked([Unplaced("a", 8, 8), Unplaced("b", 8, 16)], 1, 2)


def test_values_are_for_all_stacks_or_by_name() -> None:
    assert by_stack(LAYOUT, 7) == {"a": 7, "b": 7}
    assert by_stack(LAYOUT, {"b": 7}) == {"a": None, "b": 7}
    with pytest.raises(ValueError, match="no stack 'c'; the layout has a, b"):
        by_stack(LAYOUT, {"c": 7})


def test_buffers_are_as_large_as_the_limits_ask_or_as_they_need_to_be() -> None:
    plan, given_ids = cases.plan(), cases.ids(3)
    limited = preprocess(plan, given_ids, per_core=2, limits=Limits(20, 20))
    assert {b.gains.shape[1] for b in limited.buffers.values()} == {static_size(Limits(20), limited.layout)}
    for name, b in preprocess(plan, given_ids, per_core=2).buffers.items():
        assert b.gains.shape[1] == 2 * limited.statistics[name].required.max()
    for name, b in preprocess(plan, given_ids, per_core=2, minibatching=True).buffers.items():
        need = limited.statistics[name].required.reshape(2, 2).sum(1).max()
        assert b.gains.shape[1] == -(-need // 16) * 16


def test_one_stack_beyond_its_limits_splits_all() -> None:
    plan = cases.plan()
    given_ids = [{"f": Ids([0] * 40, range(40)), "h": Ids([0] * 9, range(9))}, {}]
    found = preprocess(plan, given_ids, per_core=2, limits={"a_c": Limits(6, 6)}, minibatching=True)
    assert found.minibatches > 1
    assert all(b.row_pointers.shape == (2, 2 * 8 * found.minibatches) for b in found.buffers.values())
    assert len(set(found.reads["b"].minibatches)) > 1
