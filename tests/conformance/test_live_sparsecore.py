"""gradlab's layouts of stacked tables beside those of TensorFlow's own stacker: any tables, cores
and limits.
"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gradlab.tpu.sparsecore import Unplaced, stacked
from tests.golden.tensorflow_values import tensorflow

pytestmark = pytest.mark.tensorflow

sizes = st.tuples(
    st.integers(1, 5000),
    st.integers(1, 40),
    st.sampled_from("gha"),
    st.integers(1, 4000),
    st.integers(1, 3),
)
limits = st.sampled_from([None, 0, 10_000, 100_000, 500_000])


@pytest.fixture(scope="module")
def stacker() -> Any:
    tensorflow()
    from tensorflow.python.tpu import _pywrap_sparse_core_layout

    return _pywrap_sparse_core_layout.SparseCoreLayoutStacker


@settings(max_examples=200, deadline=None, derandomize=True)
@given(
    st.lists(sizes, min_size=1, max_size=6),
    st.sampled_from([1, 2, 4, 8]),
    st.sampled_from([1, 2, 4]),
    st.data(),
)
def test_layouts_are_tensorflows(
    stacker: Any, tables: list[Any], cores: int, per_core: int, data: st.DataObject
) -> None:
    enabled, activations, shards = data.draw(st.booleans()), data.draw(limits), data.draw(limits)
    named = [Unplaced(f"t{k}", *t) for k, t in enumerate(tables)]
    theirs = stacker(
        num_partitions=cores,
        disable_table_stacking=not enabled,
        sparse_cores_per_partition=per_core,
    )
    own = {}
    if activations is not None:
        theirs.SetActivationMemoryBytesLimit(activations)
        own["activation_limit"] = activations
    if shards is not None:
        theirs.SetVariableShardBytesLimit(shards)
        own["shard_limit"] = shards
    for t in named:
        theirs.AddTable(*t)
    expected = [
        (
            x.table_name,
            x.stacked_table_name,
            *x.unsharded_padded_shape,
            x.sparse_core_shard_row_offset,
            x.sparse_core_shard_rotation,
            x.total_rows_per_sparse_core_shard,
        )
        for x in theirs.GetLayouts().tables
    ]
    found = stacked(named, cores, per_core, enabled=enabled, **own)
    assert expected == [
        (p.table, s.name, p.padded_rows, p.padded_width, p.offset, p.rotation, s.rows_per_shard)
        for s in found.stacks
        for p in s.places
    ]
