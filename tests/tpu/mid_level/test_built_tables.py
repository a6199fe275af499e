"""Building: shapes from here and there, engines, cores, and what is refused."""

from typing import Any

import jax
import pytest

from gradlab.tpu import (
    SGD,
    Constant,
    CustomCombiner,
    CustomOptimizer,
    FeatureConfig,
    RowIdInitializer,
    TableConfig,
    TPUEmbedding,
)


def feature(**more: Any) -> FeatureConfig:
    return FeatureConfig(TableConfig(8, 1, RowIdInitializer(), combiner="sum"), **more)


def shapes(embedding: TPUEmbedding) -> list[list[int]]:
    return [list(f.input_shape) for f in embedding.config.feature_descriptor]


@pytest.mark.parametrize(
    "arguments",
    [{"per_replica_batch_size": 3}, {"per_replica_input_shapes": 3}, {"per_replica_input_shapes": [(3, None), (3, 5)]}],
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
    with pytest.raises(ValueError, match=r"feature 'a' has the output shape \(2, 2\), but its input makes it \(3, 2\)"):
        TPUEmbedding({"a": feature(output_shape=[2, 2])}, SGD()).build({"a": (3, 2, 5)})


def test_nothing_is_built_where_anything_is_refused() -> None:
    table = TableConfig(8, 1, lambda shape: [1.0])
    embedding = TPUEmbedding(FeatureConfig(table), SGD())
    with pytest.raises(ValueError, match=r"the initializer of table 'table_0' must make shape \(8, 1\)"):
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
        TPUEmbedding(FeatureConfig(TableConfig(8, 1, combiner=CustomCombiner(lambda n, x: x[0], 2))), SGD())


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


def test_two_features_may_share_a_name() -> None:
    embedding = TPUEmbedding([feature(name="f"), feature(name="f")], SGD())
    embedding.build(2)
    assert [f.name for f in embedding.config.feature_descriptor] == ["f", "f"]
    assert len({f.name for f in embedding.system.plan.features}) == 2
