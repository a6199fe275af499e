"""Deduplication data are taken apart and put together as the mask says, nested or flat."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

from gradlab import raw_ops, tpu
from gradlab.errors import InvalidArgumentError

DATA = (np.uint32([1, 2]), np.float32([0.5]), np.uint32([3]))
MASK = tpu.write_tuple_mask([[0, 2], [1, 1], [0, 1]])
TYPES: dict[str, Any] = {"integer_type": "uint32", "float_type": "float32"}


@pytest.mark.parametrize("data", [DATA, (DATA,), [list(DATA)], tuple(jnp.asarray(x) for x in DATA)])
def test_split_and_merge(data: Any) -> None:
    integers, floats = raw_ops.SplitDedupData(input=data, tuple_mask=MASK, **TYPES)
    assert integers.tolist() == [1, 2, 3]
    assert floats.tolist() == [0.5]
    (merged,) = raw_ops.MergeDedupData(
        integer_tensor=integers, float_tensor=floats, tuple_mask=MASK
    )
    assert all((a == b).all() and a.dtype == b.dtype for a, b in zip(merged, DATA, strict=True))


@pytest.mark.parametrize("integer", ["int32", "int64", "uint32", "uint64"])
@pytest.mark.parametrize("floating", ["float16", "bfloat16", "float32"])
def test_dtypes(integer: str, floating: str) -> None:
    integers, floats = raw_ops.SplitDedupData(
        input=DATA, tuple_mask=MASK, integer_type=integer, float_type=np.dtype(floating)
    )
    assert (integers.dtype.name, floats.dtype.name) == (integer, floating)
    ((a, b, _),) = raw_ops.MergeDedupData(
        integer_tensor=integers,
        float_tensor=floats,
        tuple_mask=MASK,
        integer_type="uint32",
        float_type="float32",
    )
    assert (a.dtype.name, b.dtype.name) == ("uint32", "float32")


def test_nothing_at_all() -> None:
    none = tpu.write_tuple_mask(np.zeros((0, 2), int))
    integers, floats = raw_ops.SplitDedupData(input=((),), tuple_mask=none, **TYPES)
    assert (integers.shape, floats.shape) == ((0,), (0,))
    assert raw_ops.MergeDedupData(
        integer_tensor=integers, float_tensor=floats, tuple_mask=none
    ) == ((),)


def test_a_core_of_a_replica_holds_its_share() -> None:
    config = tpu.TPUEmbeddingConfiguration(
        spmd_sharding={"enabled": True, "num_cores_per_replica": 2}
    )
    mask = tpu.write_tuple_mask([[0, 4], [1, 2]])
    given = {
        "integer_tensor": np.uint32([7, 8]),
        "float_tensor": np.float32([0.5]),
        "config": config,
    }
    ((integers, floats),) = raw_ops.MergeDedupData(tuple_mask=mask, **given)
    assert (integers.tolist(), floats.tolist()) == ([7, 8], [0.5])
    with pytest.raises(InvalidArgumentError, match="3 entries cannot be shared by 2 cores"):
        raw_ops.MergeDedupData(tuple_mask=tpu.write_tuple_mask([[0, 3], [1, 2]]), **given)


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"tuple_mask": b"\xff"}, ValueError, "not a TensorProto"),
        (
            {"tuple_mask": tpu.write_tuple_mask([[0, 2]])},
            InvalidArgumentError,
            "the mask says lengths",
        ),
        ({"integer_type": "int8"}, TypeError, "integer_type must be one of"),
        ({"float_type": "float64"}, TypeError, "float_type must be one of"),
        ({"config": b"\xff"}, ValueError, "not a TPUEmbeddingConfiguration"),
        ({"input": (np.ones((2, 2)),) * 3}, InvalidArgumentError, "deduplication data are vectors"),
    ],
)
def test_what_cannot_be_split(change: dict[str, Any], error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        raw_ops.SplitDedupData(**{"input": DATA, "tuple_mask": MASK, **TYPES, **change})


@pytest.mark.parametrize(
    ("integers", "floats"), [([1, 2], [0.5]), ([1, 2, 3, 4], [0.5]), ([1, 2, 3], [])]
)
def test_what_cannot_be_merged(integers: list[int], floats: list[float]) -> None:
    with pytest.raises(InvalidArgumentError, match="the mask"):
        raw_ops.MergeDedupData(integer_tensor=integers, float_tensor=floats, tuple_mask=MASK)
