"""Limits and stacks as TPUEmbeddingV2 is told of them."""

from typing import Any

import pytest

from gradlab.errors import InvalidArgumentError
from gradlab.tpu import Feature, Ids, Plan, SparseCoreEmbeddingConfig, Table
from gradlab.tpu.mid_level.embedding_v2 import SparseCoreHost

PLAN = Plan((Table("t", 8, 1), Table("u", 8, 1)), (Feature("f", 0, (4,)), Feature("g", 1, (4,))))
IDS = {"f": Ids([0, 0, 0], [0, 4, 1])}  # rows 0 and 4 are on one of four SparseCores


def host(**config: Any) -> SparseCoreHost:
    return SparseCoreHost(SparseCoreEmbeddingConfig(disable_table_stacking=True, **config), 4)


def test_tables_are_stacked_unless_that_is_disabled() -> None:
    for it, stacks in ((SparseCoreHost(None, 4), {"t_u"}), (host(), {"t", "u"})):
        it(PLAN, IDS)
        assert it.made is not None and it.made.buffers.keys() == stacks


@pytest.mark.parametrize("limit", ["max_ids_per_table", "max_unique_ids_per_table"])
def test_limits_refuse_ids_or_drop_them(limit: str) -> None:
    tight = {limit: {"t": 1}}
    with pytest.raises(InvalidArgumentError, match=r"'t' .*the limit is 1"):
        host(**tight)(PLAN, IDS)
    kept = host(**tight, allow_id_dropping=True)(PLAN, IDS).tables[0]
    assert sorted(kept.unique[kept.unique < 8].tolist()) == [0, 1]
