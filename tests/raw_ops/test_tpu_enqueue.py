"""Every way to enqueue leads to the same activations, with features in the configuration and
without.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gradlab import raw_ops, tpu
from gradlab.errors import FailedPreconditionError, InvalidArgumentError

SPLITS, IDS, WEIGHTS = [0, 2, 2, 3], [3, 1, 2], [1.0, 3.0, 1.0]
SAMPLES = [0, 0, 2]
PLACES = [[0, 0], [0, 1], [2, 0]]
COMMON = {"embedding_indices": [IDS], "aggregation_weights": [WEIGHTS], "mode_override": "train"}
MESSAGES = [
    tpu.proto.SparseFeatures(id=[3, 1], weight=[1.0, 3.0]).SerializeToString(),
    b"",
    tpu.proto.SparseFeatures(id=[2], description=["a word"]).SerializeToString(),
]
ENQUEUE: dict[str, Callable[..., None]] = {
    "SparseBatch": lambda **k: raw_ops.EnqueueTPUEmbeddingSparseBatch(
        sample_indices=[SAMPLES], **k
    ),
    "Batch": lambda mode_override, combiners=(), **_: raw_ops.EnqueueTPUEmbeddingBatch(
        batch=[MESSAGES], mode_override=mode_override, combiners=combiners
    ),
    "SparseTensorBatch": lambda **k: raw_ops.EnqueueTPUEmbeddingSparseTensorBatch(
        sample_indices=[PLACES], table_ids=[0], **k
    ),
    "SparseTensorBatch by samples": lambda **k: raw_ops.EnqueueTPUEmbeddingSparseTensorBatch(
        sample_indices=[SAMPLES], table_ids=[0], num_features=[1], **k
    ),
    "RaggedTensorBatch": lambda **k: raw_ops.EnqueueTPUEmbeddingRaggedTensorBatch(
        sample_splits=[SPLITS], table_ids=[0], max_sequence_lengths=[0], **k
    ),
    "DynamicRaggedTensorBatch": lambda **k: raw_ops.DynamicEnqueueTPUEmbeddingRaggedTensorBatch(
        sample_splits=[SPLITS], table_ids=[0], device_ordinal=np.int32(0), **k
    ),
}
WITH_FEATURES: dict[str, Callable[..., None]] = {
    "ArbitraryTensorBatch, sparse": lambda **k: raw_ops.EnqueueTPUEmbeddingArbitraryTensorBatch(
        sample_indices_or_row_splits=[PLACES], **k
    ),
    "DynamicArbitraryTensorBatch, ragged": lambda **k: (
        raw_ops.DynamicEnqueueTPUEmbeddingArbitraryTensorBatch(
            sample_indices_or_row_splits=[SPLITS], device_ordinal=np.int32(0), **k
        )
    ),
}
EXPECTED = {
    (): [3 + 3 * 1, 0, 2],
    ("mean",): [(3 + 3 * 1) / 4, 0, 2],
    ("sqrtn",): [(3 + 3 * 1) / np.sqrt(10), 0, 2],
}


def start(has_features: bool, batch: int = 3) -> tpu.System:
    """Row k of the table is k."""
    config = tpu.parse(tpu.example_config(batch=batch))
    if has_features:
        config.feature_descriptor.add(name="f", table_id=0, input_shape=[batch])
    system = tpu.initialize_system(config)
    system.load(0, [np.arange(4.0)[:, None]])
    return system


@pytest.mark.parametrize("combiners", EXPECTED, ids=str)
@pytest.mark.parametrize(
    ("way", "has_features"),
    [*((w, False) for w in ENQUEUE), *((w, True) for w in ENQUEUE | WITH_FEATURES)],
)
def test_activations(way: str, has_features: bool, combiners: tuple[str, ...]) -> None:
    system = start(has_features)
    (ENQUEUE | WITH_FEATURES)[way](**COMMON, combiners=list(combiners))
    (got,) = system.receive_activations()
    np.testing.assert_allclose(np.asarray(got).ravel(), EXPECTED[combiners], rtol=1e-6)


@pytest.mark.parametrize("has_features", [False, True])
def test_integers_are_their_own_samples(has_features: bool) -> None:
    system = start(has_features)
    raw_ops.EnqueueTPUEmbeddingIntegerBatch(batch=[np.int32([2, 1, 3])], mode_override=b"training")
    assert np.asarray(system.receive_activations()[0]).ravel().tolist() == [2, 1, 3]


def test_sequences_without_features_take_rows_of_their_table() -> None:
    config = tpu.parse(tpu.example_config(batch=2))
    config.table_descriptor[0].num_features = 3
    system = tpu.initialize_system(config)
    system.load(0, [np.arange(4.0)[:, None]])
    raw_ops.EnqueueTPUEmbeddingRaggedTensorBatch(
        sample_splits=[[0, 3, 4], [0, 1, 3]],
        embedding_indices=[[1, 2, 3, 3], [3, 1, 1]],
        aggregation_weights=[[], []],
        mode_override="",
        table_ids=[0, 0],
        max_sequence_lengths=[2, 0],
    )
    # an element of the batch has 2 rows of the sequence and 1 of the sum
    assert np.asarray(system.receive_activations()[0]).ravel().tolist() == [1, 2, 3, 3, 0, 2]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"aggregation_weights": [[1.0]]}, "needs a weight for each id"),
        ({"aggregation_weights": [[], []]}, "the lists must have one length of at least 1"),
        ({"embedding_indices": [[0.5, 1.5, 2.5]]}, "the ids of feature 't' must be integers"),
        ({"embedding_indices": [[3, 1, 4]]}, "id 4 of feature 't', sample 2, is outside table 't'"),
        ({"mode_override": "testing"}, "mode_override must be one of"),
        ({"combiners": ["sum", "sum"]}, "one for each of 1 inputs, got 2"),
        ({"device_ordinal": 1}, "cores are 0 to 0, got 1"),
    ],
)
def test_what_does_not_fit_is_refused_and_not_enqueued(change: dict[str, Any], words: str) -> None:
    system = start(False)
    with pytest.raises(InvalidArgumentError, match=words):
        raw_ops.EnqueueTPUEmbeddingSparseBatch(**{"sample_indices": [SAMPLES], **COMMON, **change})
    with pytest.raises(FailedPreconditionError, match="have enqueued nothing"):
        system.receive_deduplication_data()


def test_attributes_that_do_not_fit() -> None:
    start(True)
    sparse = raw_ops.EnqueueTPUEmbeddingSparseTensorBatch
    for attributes, words in (
        ({"table_ids": [1]}, r"the features read tables \[0\], but table_ids are \[1\]"),
        (
            {"table_ids": [0], "num_features": [1, 1]},
            "num_features must be none or one for each of 1 inputs",
        ),
        (
            {"table_ids": [0], "num_features": [0]},
            "sequences must be 0 or longer and features 1 or more",
        ),
        ({"table_ids": [0], "max_sequence_lengths": [-1]}, "sequences must be 0 or longer"),
    ):
        with pytest.raises(InvalidArgumentError, match=words):
            sparse(sample_indices=[PLACES], **COMMON, **attributes)
    start(False)
    with pytest.raises(InvalidArgumentError, match="needs feature descriptors"):
        raw_ops.EnqueueTPUEmbeddingArbitraryTensorBatch(
            sample_indices_or_row_splits=[SPLITS], **COMMON
        )


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (
            tpu.proto.SparseFeatures(id=[3, 1], weight=[1.0]).SerializeToString(),
            "has 2 ids and 1 weights",
        ),
        (b"\x0a\x05", "sample 1 of table 0 is not a SparseFeatures: byte 0"),
    ],
)
def test_messages_that_do_not_fit_are_refused(data: bytes, words: str) -> None:
    start(has_features=False)
    with pytest.raises(InvalidArgumentError, match=words):
        raw_ops.EnqueueTPUEmbeddingBatch(batch=[[b"", data]], mode_override="")
