"""The interface for SparseCores: lookups, what it never reads, and what it refuses."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gradlab.errors import EmbeddingWarning, FailedPreconditionError, InvalidArgumentError
from gradlab.tpu import Feature, Ids, Plan, Table
from gradlab.tpu.experimental.embedding import (
    SGD,
    Adagrad,
    Adam,
    FeatureConfig,
    Lion,
    RowIdInitializer,
    SparseCoreEmbeddingConfig,
    TableConfig,
    TPUEmbedding,
    TPUEmbeddingV2,
)
from gradlab.tpu.experimental.embedding.embedding_v2 import SparseCoreHost
from tests.differences import differs

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


BATCH = [[7, 3, 7], [7], [], [0]]
GRADIENT = np.ones((4, 2), np.float32)


def made(optimizer: Any = None, config: Any = None, **more: Any) -> TPUEmbeddingV2:
    table = TableConfig(8, 2, RowIdInitializer(), combiner="sum", name="t")
    return TPUEmbeddingV2(FeatureConfig(table), optimizer or SGD(0.5), False, config, **more)


@pytest.mark.parametrize("more", [{}, {"num_cores": 2, "per_core": 2}])
def test_steps_are_those_of_the_older_interface(more: Any) -> None:
    new = made(Adagrad(0.5), **more)
    old = TPUEmbedding(
        FeatureConfig(TableConfig(8, 2, RowIdInitializer(), combiner="sum")), Adagrad(0.5)
    )
    for _ in range(2):
        activations, preserved = new.embedding_lookup(BATCH)
        old.enqueue(BATCH)
        assert activations.tolist() == old.dequeue().tolist()
        new.apply_gradients(GRADIENT, preserved)
        old.apply_gradients(GRADIENT)
    assert new.variables["t"].keys() == {"parameters", "accumulators"}
    np.testing.assert_allclose(
        *(next(iter(e.embedding_tables.values())) for e in (new, old)), rtol=1e-6
    )


@differs(
    "`TPUEmbeddingV2`: batches in flight",
    tensorflow="as the compiled program has them",
    gradlab="each batch is looked up and then updated in the order of enqueueing",
)
def test_buffers_are_the_batch_and_batches_keep_their_order() -> None:
    embedding = made(per_core=2)
    with pytest.raises(FailedPreconditionError, match="nothing is enqueued"):
        embedding.dequeue()
    first = embedding.enqueue(BATCH)
    assert first is not None and first["t"].gains[0, 0] == 1
    activations, preserved = embedding.dequeue(first)
    second = embedding.enqueue(BATCH)
    with pytest.raises(InvalidArgumentError, match="oldest batch"):
        embedding.apply_gradients(GRADIENT, second)
    embedding.apply_gradients(jnp.asarray(GRADIENT), preserved)
    assert embedding.dequeue(second)[0][1].tolist() == [5.5, 5.5] != activations[1].tolist()


def test_lookups_without_training_want_no_gradients() -> None:
    embedding = made()
    for _ in range(3):
        assert embedding.embedding_lookup(BATCH, training=False)[0][0].tolist() == [17, 17]
    assert embedding(BATCH)[0].shape == (4, 2)
    with pytest.raises(FailedPreconditionError, match="owes gradients"):
        embedding(BATCH)
    embedding.apply_gradients(GRADIENT)
    assert embedding(BATCH)[0].shape == (4, 2)


def test_each_core_can_be_given_its_own_batch() -> None:
    embedding = made(num_cores=2, per_core=1)
    assert embedding.enqueue([[1]], device=1) is None
    assert embedding.enqueue([[2]], device="TPU:0") is not None
    assert embedding.dequeue()[0].tolist() == [[2, 2], [1, 1]]


def test_settings_that_are_never_read_are_told_and_do_nothing() -> None:
    with pytest.warns(EmbeddingWarning) as warned:
        embedding = made(SGD(1.0, clip_weight_max=1.0, clipvalue=0.5))
    assert [str(w.message).split("=")[0].split()[-1] for w in warned] == [
        "gradient_limits",
        "weight_limits",
    ]
    embedding.apply_gradients(2 * GRADIENT, embedding.embedding_lookup(BATCH)[1])
    assert next(iter(embedding.embedding_tables.values()))[3].tolist() == [1, 1]
    assert next(iter(embedding.embedding_tables.values()))[4].tolist() == [4, 4]
    with pytest.warns(EmbeddingWarning, match="lazy=False"):
        embedding = made(Adam(0.5, lazy_adam=False))
    embedding.apply_gradients(GRADIENT, embedding.embedding_lookup(BATCH)[1])
    embedding.apply_gradients(GRADIENT, embedding.embedding_lookup([[0]] * 4)[1])
    assert embedding.variables["t"]["momenta"][7].tolist() == pytest.approx([0.3, 0.3])


@pytest.mark.parametrize(
    ("optimizer", "more", "error", "told"),
    [
        (None, {"engine": None}, RuntimeError, "needs SparseCores"),
        (None, {"engine": "classic"}, ValueError, "engine must be 'sparsecore'"),
        (
            SGD(weight_decay_factor=0.5),
            {},
            NotImplementedError,
            "table 't': TPUEmbeddingV2 has no weight decay",
        ),
        (
            SGD(multiply_weight_decay_factor_by_learning_rate=True),
            {},
            NotImplementedError,
            "no weight decay",
        ),
        (Lion(), {}, ValueError, "got Lion"),
    ],
)
def test_what_it_does_not_have_is_refused(
    optimizer: Any, more: Any, error: type[Exception], told: str
) -> None:
    with pytest.raises(error, match=told):
        made(optimizer, **more)


def test_statistics_are_the_limits_that_a_batch_needs() -> None:
    config = FeatureConfig(TableConfig(8, 2, name="t"))
    ids, unique = TPUEmbeddingV2.compute_sparse_core_stats(
        [[0, 4, 1], [4], [], []], config, 1, 2, SGD()
    )
    assert (ids, unique) == ({"t": 3}, {"t": 2})
    features = {"a": config, "b": FeatureConfig(TableConfig(8, 2, name="u"))}
    apart = SparseCoreEmbeddingConfig(disable_table_stacking=True)
    batch = {"a": [[1], [2]], "b": [[1, 3], [2]]}
    found = TPUEmbeddingV2.compute_sparse_core_stats(batch, features, 1, 2, SGD(), apart)
    assert found[0] == {"t": 1, "u": 2}


@pytest.mark.exhaustive
def test_a_mesh_holds_the_rows() -> None:
    embedding = made(mesh=jax.make_mesh((4,), ("x",), devices=jax.devices("cpu")[:4]), per_core=1)
    activations, preserved = embedding.embedding_lookup(BATCH)
    embedding.apply_gradients(GRADIENT, preserved)
    assert (
        activations[0].tolist() == [17, 17]
        and embedding.embedding.system.state.tables[0].sharding.num_devices == 4
    )


@differs(
    "`TPUEmbeddingV2`: a batch that the SparseCores can't share evenly",
    tensorflow="the process ends, or the last samples are lost",
    gradlab="ValueError; it says what batch or per_core to pass",
)
def test_a_batch_that_cores_cannot_share_says_what_to_pass() -> None:
    with pytest.raises(ValueError, match=r"pass a batch of 8, .* or per_core=2"):
        made().embedding_lookup([[1]] * 6)

    filled = made().embedding_lookup([[1]] * 6 + [[], []])[0]
    smaller = made(per_core=2).embedding_lookup([[1]] * 6)[0]
    assert np.array_equal(filled[:6], smaller)
    assert not np.asarray(filled[6:]).any()
