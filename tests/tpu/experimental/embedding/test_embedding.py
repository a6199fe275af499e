"""The mid-level interface from features to moved rows, and everything that it refuses."""

from __future__ import annotations

import re
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import gradlab as gl
from gradlab.tpu.experimental.embedding import (
    SGD,
    Adagrad,
    Adam,
    Constant,
    CustomCombiner,
    CustomOptimizer,
    FeatureConfig,
    RowIdInitializer,
    TableConfig,
    TPUEmbedding,
    TPUEmbeddingForServing,
)
from tests.differences import differs


def feature(**more: Any) -> FeatureConfig:
    return FeatureConfig(TableConfig(8, 1, RowIdInitializer(), combiner="sum"), **more)


def shapes(embedding: TPUEmbedding) -> list[list[int]]:
    return [list(f.input_shape) for f in embedding.config.feature_descriptor]


@pytest.mark.parametrize(
    "arguments",
    [
        {"per_replica_batch_size": 3},
        {"per_replica_input_shapes": 3},
        {"per_replica_input_shapes": [(3, None), (3, 5)]},
    ],
)
def test_shapes_come_from_sizes_or_shapes(arguments: dict[str, Any]) -> None:
    embedding = TPUEmbedding([feature(), feature(max_sequence_length=2)], SGD())
    embedding.build(**arguments)
    assert shapes(embedding) == [[3], [3, 2]]
    embedding.build(7)  # too late
    assert shapes(embedding) == [[3], [3, 2]]


def test_an_output_shape_takes_precedence() -> None:
    embedding = TPUEmbedding({"a": feature(output_shape=[2, 2]), "b": feature()}, SGD())
    embedding.build(4)
    assert shapes(embedding) == [[2, 2], [4]]
    with pytest.raises(
        ValueError,
        match=r"feature 'a' has the output shape \(2, 2\), but its input makes it \(3, 2\)",
    ):
        TPUEmbedding({"a": feature(output_shape=[2, 2])}, SGD()).build({"a": (3, 2, 5)})


def test_nothing_is_built_where_anything_is_refused() -> None:
    table = TableConfig(8, 1, lambda shape: [1.0])
    embedding = TPUEmbedding(FeatureConfig(table), SGD())
    with pytest.raises(
        ValueError, match=r"the initializer of table 'table_0' must make shape \(8, 1\)"
    ):
        embedding.build(2)
    assert not embedding.is_built
    table.initializer = Constant(2.0)
    embedding.build(3)
    assert shapes(embedding) == [[3]] and embedding.embedding_tables[table].sum() == 16


def test_a_mesh_is_as_many_cores() -> None:
    mesh = jax.make_mesh((4,), ("rows",))
    embedding = TPUEmbedding(feature(), SGD(), mesh=mesh)
    embedding.build(2)
    assert embedding.config.num_tensor_cores == 4
    for cores in (6, 0):
        with pytest.raises(ValueError, match="num_cores"):
            TPUEmbedding(feature(), SGD(), mesh=mesh, num_cores=cores)


def test_what_only_sparsecore_has_is_refused_elsewhere() -> None:
    custom = CustomOptimizer(lambda g, w, slots, lr, hyper: w - lr * g)
    with pytest.raises(NotImplementedError, match="needs engine='sparsecore'"):
        TPUEmbedding(feature(), custom)
    with pytest.raises(NotImplementedError, match="CustomCombiner"):
        TPUEmbedding(
            FeatureConfig(TableConfig(8, 1, combiner=CustomCombiner(lambda n, x: x[0], 2))), SGD()
        )


def test_a_custom_optimizer_runs_on_sparsecore() -> None:
    custom = CustomOptimizer(
        lambda g, w, slots, lr, hyper: (w - lr * hyper[0] * slots[0] * g, slots[0] + 1.0),
        0.5,
        ["a"],
        [Constant(3.0)],
        [2.0],
    )
    embedding = TPUEmbedding(feature(), custom, engine="sparsecore")
    embedding.enqueue([[1, 1], [2], [], []])  # SparseCores share samples evenly
    embedding.apply_gradients(embedding.dequeue() * 0 + 1.0)
    found = embedding.retrieve()["table_0"]
    assert found["parameters"].ravel()[:4].tolist() == [0, 1 - 6, 2 - 3, 3]
    assert found["a"].ravel()[:4].tolist() == [3, 4, 4, 3]


def test_there_may_be_several_embeddings_at_a_time() -> None:
    one, other = TPUEmbedding([feature()], SGD()), TPUEmbedding([feature()], SGD())
    one.build(2)
    other.build(2)
    assert one.is_built and other.is_built and one.system is not other.system


def test_two_features_may_share_a_name() -> None:
    embedding = TPUEmbedding([feature(name="f"), feature(name="f")], SGD())
    embedding.build(2)
    assert [f.name for f in embedding.config.feature_descriptor] == ["f", "f"]
    assert len({f.name for f in embedding.system.plan.features}) == 2


def features(**more: Any) -> dict[str, Any]:
    video = TableConfig(8, 2, RowIdInitializer(), combiner="sum", name="video")
    user = TableConfig(5, 1, RowIdInitializer(10), combiner="mean", name="user")
    return {
        "watched": FeatureConfig(video),
        "friends": (FeatureConfig(user), FeatureConfig(video, **more)),
    }


BATCH = {
    "watched": [[7, 3], [], [7], [0]],
    "friends": ([[1, 2], [4], [4, 4], []], np.array([1, 1, 2, 3])),
}


def ones(activations: Any) -> Any:
    return jax.tree.map(jnp.ones_like, activations)


@pytest.mark.exhaustive
def test_a_model_on_top_learns() -> None:
    words = gl.tpu.experimental.embedding.TableConfig(20, 4, name="words")
    embedding = gl.tpu.experimental.embedding.TPUEmbedding(
        gl.tpu.experimental.embedding.FeatureConfig(words),
        gl.tpu.experimental.embedding.Adagrad(0.5),
    )
    samples, labels = [[1, 2, 3], [4, 5], [1, 3], [5, 6, 4]], jnp.array([1.0, 0.0, 1.0, 0.0])

    def loss(activations: Any) -> Any:
        return jnp.mean((jax.nn.sigmoid(activations.sum(1)) - labels) ** 2)

    losses = []
    for _ in range(20):
        embedding.enqueue(samples)
        value, gradients = jax.value_and_grad(loss)(embedding.dequeue())
        embedding.apply_gradients(gradients)
        losses.append(float(value))
    assert losses[-1] < 0.2 * losses[0]


def test_activations_are_nested_like_the_features() -> None:
    embedding = TPUEmbedding(features(), SGD(1.0))
    embedding.enqueue(BATCH)
    found = embedding.dequeue()
    assert isinstance(found["friends"], tuple)
    assert found["watched"].tolist() == [[10, 10], [0, 0], [7, 7], [0, 0]]
    assert found["friends"][0].ravel().tolist() == [11.5, 14, 14, 0]
    assert found["friends"][1].tolist() == [[1, 1], [1, 1], [2, 2], [3, 3]]


def test_gradients_of_all_features_of_a_table_are_summed() -> None:
    config = features()
    embedding = TPUEmbedding(config, SGD(1.0))
    embedding.enqueue(BATCH)
    embedding.apply_gradients(ones(embedding.dequeue()))
    tables = {t.name: x for t, x in embedding.embedding_tables.items()}
    hits = np.array([1, 2, 1, 2, 0, 0, 0, 2])
    assert tables["video"][:, 0].tolist() == (np.arange(8) - hits).tolist()
    assert tables["user"].ravel().tolist() == [10, 10.5, 11.5, 13, 12]


@pytest.mark.parametrize("cores", [1, 2, 4])
def test_cores_share_a_batch_and_change_nothing(cores: int) -> None:
    embedding = TPUEmbedding(features(), Adagrad(0.5), num_cores=cores)
    for _ in range(2):
        embedding.enqueue(BATCH)
        found = embedding.dequeue()
        embedding.apply_gradients(ones(found))
    one = TPUEmbedding(features(), Adagrad(0.5))
    for _ in range(2):
        one.enqueue(BATCH)
        expected = one.dequeue()
        one.apply_gradients(ones(expected))
    for got, want in zip(jax.tree.leaves(found), jax.tree.leaves(expected), strict=True):
        assert (got == want).all()
    for got, want in zip(
        embedding.embedding_tables.values(), one.embedding_tables.values(), strict=True
    ):
        np.testing.assert_allclose(got, want, rtol=1e-6)


@pytest.mark.exhaustive
def test_a_mesh_gives_the_same_bits_as_as_many_cores_on_one_device() -> None:
    mesh = jax.make_mesh((4,), ("rows",))
    runs = []
    for more in ({"num_cores": 4}, {"mesh": mesh}):
        embedding = TPUEmbedding(features(), Adagrad(0.5), **more)  # type: ignore[arg-type]
        embedding.enqueue(BATCH)
        embedding.apply_gradients(ones(embedding.dequeue()))
        runs.append(list(embedding.embedding_tables.values()))
    assert all((a == b).all() for a, b in zip(*runs, strict=True))


@differs(
    "`TPUEmbedding` with several cores, and its ids",
    tensorflow="activations of one core for each call; ids are tensors",
    gradlab="activations of all cores, one after another; ids may be lists",
)
def test_each_core_can_be_given_its_own_batch() -> None:
    table = TableConfig(8, 1, RowIdInitializer(), combiner="sum")
    embedding = TPUEmbedding(FeatureConfig(table), SGD(1.0), num_cores=2)
    embedding.enqueue([[1], [2]], device="/job:worker/device:TPU:1")
    with pytest.raises(RuntimeError, match=r"cores \[0\] have enqueued nothing"):
        embedding.dequeue()
    embedding.enqueue([[3], [4]], device=0)
    assert embedding.dequeue().ravel().tolist() == [3, 4, 1, 2]


@pytest.mark.parametrize("device", ["/device:CPU:0", "TPU", 2, -1, "TPU:2"])
def test_a_device_that_is_no_core_is_refused(device: Any) -> None:
    embedding = TPUEmbedding(FeatureConfig(TableConfig(8, 1)), SGD(), num_cores=2)
    with pytest.raises(ValueError, match="device must be one of TPU:0 to TPU:1"):
        embedding.enqueue([[1]], device=device)


def test_learning_rates_are_asked_at_every_step_and_numbered_by_first_use() -> None:
    asked: list[str] = []

    def slow() -> float:
        asked.append("slow")
        return 0.5

    def fast() -> float:
        asked.append("fast")
        return 2.0 * asked.count("fast")

    config = features()
    config["friends"][0].table.optimizer = SGD(slow)
    embedding = TPUEmbedding(config, SGD(fast))
    embedding.build(4)
    tags = [
        t.optimization_parameters.learning_rate.dynamic.tag
        for t in embedding.config.table_descriptor
    ]
    assert [t.name for t in embedding.config.table_descriptor] == ["user", "video"] and tags == [
        0,
        1,
    ]
    for _ in range(2):
        embedding.enqueue(BATCH)
        embedding.apply_gradients(ones(embedding.dequeue()))
    assert asked == ["slow", "fast"] * 2
    tables = {t.name: x for t, x in embedding.embedding_tables.items()}
    assert (
        tables["user"][4, 0] == 14 - 2 * 0.5 * 2 and tables["video"][7, 0] == 7 - 2 * 2.0 - 2 * 4.0
    )


def test_a_missing_gradient_is_zeros_with_a_warning_and_not_nothing() -> None:
    config = features()
    embedding = TPUEmbedding(config, Adam(1.0))
    for first in (True, False):
        embedding.enqueue(BATCH)
        gradients = ones(embedding.dequeue())
        if first:
            embedding.apply_gradients(gradients)
    before = embedding.retrieve()["user"]["parameters"]
    with pytest.warns(
        gl.errors.EmbeddingWarning, match="feature 'friends/0' has no gradient and is sent zeros"
    ):
        embedding.apply_gradients(gradients | {"friends": (None, gradients["friends"][1])})
    after = embedding.retrieve()["user"]["parameters"]
    assert (before != after).ravel().tolist() == [False, True, True, False, True], (
        "Adam goes on by its momentum"
    )


@pytest.mark.parametrize(
    ("change", "error", "told"),
    [
        (
            lambda g: g | {"watched": g["watched"][:2]},
            ValueError,
            r"'watched' must have shape \(4, 2\), got \(2, 2\)",
        ),
        (
            lambda g: g | {"watched": [[1.0, 1.0]] * 4},
            ValueError,
            "must be an array or None, got list",
        ),
        (
            lambda g: g | {"friends": list(g["friends"])},
            TypeError,
            "gradients at 'friends' must be a tuple",
        ),
        (lambda g: {"watched": g["watched"]}, ValueError, "gradients must have the entries"),
    ],
)
def test_gradients_that_do_not_fit_change_nothing(
    change: Any, error: type[Exception], told: str
) -> None:
    embedding = TPUEmbedding(features(), SGD(1.0))
    embedding.enqueue(BATCH)
    gradients = ones(embedding.dequeue())
    before = embedding.retrieve()
    with pytest.raises(error, match=told):
        embedding.apply_gradients(change(gradients))
    after = embedding.retrieve()
    assert all((before[t][n] == after[t][n]).all() for t in before for n in before[t])
    embedding.apply_gradients(gradients)  # the step goes on


def test_calls_out_of_their_order_are_refused() -> None:
    embedding = TPUEmbedding(features(), SGD())
    for call in (
        embedding.dequeue,
        lambda: embedding.apply_gradients(BATCH),
        lambda: embedding.system,
    ):
        with pytest.raises(RuntimeError, match="call enqueue or build first"):
            call()
    embedding.build(4)
    gradients = {"watched": jnp.ones((4, 2)), "friends": (jnp.ones((4, 1)), jnp.ones((4, 2)))}
    with pytest.raises(RuntimeError, match="enqueued nothing"):
        embedding.dequeue()
    with pytest.raises(RuntimeError, match="enqueued nothing"):
        embedding.apply_gradients(gradients)
    embedding.enqueue(BATCH, training=False)
    embedding.dequeue()
    with pytest.raises(RuntimeError, match="enqueued nothing"):
        embedding.apply_gradients(gradients)
    embedding.enqueue(BATCH)
    with pytest.raises(RuntimeError, match="each step is"):
        embedding.apply_gradients(gradients)


def test_without_an_engine_there_are_only_tables() -> None:
    config = features()
    embedding = TPUEmbedding(config, Adagrad(), engine=None)
    for call in (
        embedding.dequeue,
        lambda: embedding.enqueue(BATCH),
        lambda: embedding.apply_gradients(BATCH),
    ):
        with pytest.raises(RuntimeError, match="needs an engine"):
            call()
    embedding.build()
    assert embedding.is_built and sorted(t.name or "" for t in embedding.embedding_tables) == [
        "user",
        "video",
    ]
    assert TPUEmbedding(features(), None, engine=None).retrieve()["user"].keys() == {"parameters"}


def test_one_bad_id_leaves_nothing_enqueued() -> None:
    embedding = TPUEmbedding(FeatureConfig(TableConfig(8, 1, name="t")), SGD(), num_cores=2)
    with pytest.raises(ValueError, match=r"id 8 .* is outside table 't'"):
        embedding.enqueue([[1], [8]])
    assert not embedding.is_built or embedding.embedding_tables
    embedding.enqueue([[1], [7]])
    assert embedding.dequeue().shape == (2, 1)


def test_a_first_batch_that_is_refused_says_nothing_of_shapes() -> None:
    embedding = TPUEmbedding(FeatureConfig(TableConfig(8, 1, RowIdInitializer(), name="t")), SGD())
    embedding.load({"t": {"parameters": np.full((8, 1), 5.0)}})
    with pytest.raises(ValueError, match="is outside table 't'"):
        embedding.enqueue([[1], [8]])
    embedding.enqueue([[1], [2], [3]])
    assert embedding.dequeue().tolist() == [[5], [5], [5]]


def test_what_the_engine_refuses_on_the_last_core_leaves_nothing_enqueued() -> None:
    embedding = TPUEmbedding(
        FeatureConfig(TableConfig(8, 1, name="t")), SGD(), num_cores=2, engine="sparsecore"
    )
    embedding.build(per_replica_batch_size=1)
    for _ in range(2):
        with pytest.raises(ValueError, match="share"):
            embedding.enqueue([[1], [2]])
    with pytest.raises(RuntimeError, match=r"cores \[0, 1\] have enqueued nothing"):
        embedding.dequeue()


@pytest.mark.parametrize(
    ("given", "weights", "error", "told"),
    [
        ({"watched": [[1]]}, None, ValueError, "features must have the entries"),
        ([[[1]], [[1]]], None, TypeError, "features must be a dict like the features, got list"),
        (
            BATCH | {"watched": np.ones((4, 2), np.int32)},
            None,
            ValueError,
            "dense ids of feature 'watched'",
        ),
        (BATCH | {"watched": 3}, None, ValueError, "must have an axis"),
        (BATCH | {"watched": [[0.5], [], [], []]}, None, ValueError, "integers"),
        (BATCH | {"watched": [[1]] * 3}, None, ValueError, "3 samples, which 2 cores cannot share"),
        (
            BATCH,
            {"watched": None, "friends": (None, np.ones(4))},
            ValueError,
            "dense: each weighs 1",
        ),
        (
            BATCH,
            {"watched": [[1.0]] * 4, "friends": (None, None)},
            ValueError,
            "a weight for each id",
        ),
    ],
)
def test_ids_that_do_not_fit_are_refused(
    given: Any, weights: Any, error: type[Exception], told: str
) -> None:
    with pytest.raises(error, match=told):
        TPUEmbedding(features(), SGD(), num_cores=2).enqueue(given, weights)


def test_weights_scale_ids() -> None:
    embedding = TPUEmbedding(features(), SGD())
    embedding.enqueue(
        BATCH,
        {
            "watched": [[2.0, 1.0], [], [0.5], [1.0]],
            "friends": ([[1.0, 3.0], [1], [1, 2], []], None),
        },
    )
    found = embedding.dequeue()
    assert found["watched"][:, 0].tolist() == [17, 0, 3.5, 0]
    np.testing.assert_allclose(found["friends"][0].ravel(), [11.75, 14, 14, 0], rtol=1e-6)


@pytest.mark.parametrize(
    "ids",
    [
        [[1, 2, 3], [], [4]],
        ([0, 3, 3, 4], [1, 2, 3, 4]),
        ([[0, 0], [0, 1], [0, 2], [2, 0]], [1, 2, 3, 4], [3, 3]),
    ],
)
def test_sequences_stand_in_rows_cut_off_and_filled_up(ids: Any) -> None:
    table = TableConfig(8, 1, RowIdInitializer(), name="t")
    embedding = TPUEmbedding({"s": FeatureConfig(table, max_sequence_length=2)}, SGD(1.0))
    embedding.enqueue({"s": ids})
    activations = embedding.dequeue()
    assert activations["s"][..., 0].tolist() == [[1, 2], [0, 0], [4, 0]]
    embedding.apply_gradients(ones(activations))
    assert embedding.embedding_tables[table].ravel().tolist() == [0, 0, 1, 3, 3, 5, 6, 7], (
        "padding sends nothing"
    )
    assert list(embedding.config.feature_descriptor[0].input_shape) == [3, 2]


def test_an_output_shape_says_how_samples_are_arranged() -> None:
    table = TableConfig(8, 1, RowIdInitializer(), combiner="sum")
    for ids, shape, expected in (
        # As many samples: combined, and arranged.
        ([[1, 2], [3], [], [4]], [2, 2], [[3, 3], [0, 4]]),
        ([[1, 2], [3]], [2, 2], [[1, 2], [3, 0]]),  # twice as many places: each sample in a row
        ([[[1, 2], []], [[3], [4]]], [2, 2], [[3, 0], [3, 4]]),
    ):
        embedding = TPUEmbedding(FeatureConfig(table, output_shape=shape), SGD())
        embedding.enqueue(ids)
        assert embedding.dequeue()[..., 0].tolist() == expected


def test_shapes_once_known_are_kept() -> None:
    embedding = TPUEmbedding(FeatureConfig(TableConfig(8, 1)), SGD())
    embedding.enqueue([[1], [2]])
    embedding.dequeue()
    with pytest.raises(
        ValueError, match=re.escape("has the output shape (2,), but its input makes it (3,)")
    ):
        embedding.enqueue([[1], [2], [3]])


def test_an_unknown_shape_is_refused_with_what_to_do() -> None:
    with pytest.raises(ValueError, match=r"output shape \(None,\).*to build"):
        TPUEmbedding(FeatureConfig(TableConfig(8, 1)), SGD()).enqueue(([[0, 0]], [1]))
    with pytest.raises(ValueError, match="output shape None"):
        TPUEmbedding(FeatureConfig(TableConfig(8, 1)), SGD()).build()


def test_a_pipelined_engine_looks_up_one_update_late() -> None:
    embedding = TPUEmbedding(FeatureConfig(TableConfig(2, 1, RowIdInitializer(5))), SGD(1.0), True)
    seen = []
    for _ in range(3):
        embedding.enqueue([[0]])
        activations = embedding.dequeue()
        seen.append(activations.item())
        embedding.apply_gradients(jnp.ones((1, 1)))
    assert seen == [5, 5, 4]


def test_a_system_of_its_own_holds_the_tables() -> None:
    first, second = (TPUEmbedding(FeatureConfig(TableConfig(4, 1)), SGD()) for _ in range(2))
    for embedding in (first, second):
        embedding.enqueue([[1]])
    assert first.system is not second.system and first.dequeue().shape == second.dequeue().shape


def test_errors_call_features_by_their_names() -> None:
    table = TableConfig(8, 2, name="t")
    features = [FeatureConfig(table, name="words"), FeatureConfig(table, name="queue")]

    with pytest.raises(ValueError, match="the ids of feature 'queue' must be integers"):
        TPUEmbedding(features, SGD()).enqueue([[[1]], [[1.5]]])
    with pytest.raises(ValueError, match="'words' is dense"):
        TPUEmbedding(features, SGD()).enqueue([np.array([1]), [[1]]], [[1.0], None])
    with pytest.raises(ValueError, match="id 99 of feature 'queue'"):
        TPUEmbeddingForServing(features)([[[1]], [[99]]])


def test_names_that_are_there_twice_get_a_place() -> None:
    table = TableConfig(8, 2, name="t")
    features = {"a": FeatureConfig(table, name="words"), "b": FeatureConfig(table, name="words")}

    with pytest.raises(ValueError, match=r"feature 'words \(b\)' must be integers"):
        TPUEmbedding(features, SGD()).enqueue({"a": [[1]], "b": [[1.5]]})
