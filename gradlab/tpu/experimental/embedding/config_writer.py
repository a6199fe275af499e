"""The configuration that tables and features amount to."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...engine.proto import TPUEmbeddingConfiguration
from .table_config import FeatureConfig, TableConfig

Functions = Sequence[Callable[[], float]]


def tables_of(features: Sequence[FeatureConfig]) -> list[TableConfig]:
    """Return the tables in the order in which features first read them, which is how they are numbered."""
    return list(dict.fromkeys(f.table for f in features))


def functions_of(tables: Sequence[TableConfig]) -> list[Callable[[], float]]:
    """Return the hyperparameters that are read at every step, each function once: entry k is tag k."""
    return list(
        dict.fromkeys(f for t in tables if t.optimizer is not None for f in t.optimizer.functions)
    )


def configuration(
    features: Sequence[FeatureConfig],
    shapes: Sequence[Sequence[int]],
    *,
    num_hosts: int = 1,
    num_cores: int = 1,
    pipelined: bool = False,
    cores_per_replica: int | None = None,
) -> TPUEmbeddingConfiguration:
    """Return the message that TensorFlow's mid-level interface sends for these features.

    Args:
        features: in the order of activations; their tables have names and optimizers.
        shapes: of what one core looks up for each, without the last axis.
        num_cores: all cores together.
        cores_per_replica: with SPMD sharding.

    Raises:
        KeyError, TypeError or ValueError: an optimizer that cannot be written.

    A table with fewer rows than hosts gets as many. The mode is TRAINING, rows go to hosts in
    contiguous blocks.

    Source: `tf.tpu.experimental.embedding.TPUEmbedding`, TensorFlow 2.21 (2026).

    >>> from gradlab.tpu.experimental.embedding import SGD
    >>> table = TableConfig(8, 4, optimizer=SGD(0.5), name="t")
    >>> configuration([FeatureConfig(table)], [(2,)]).feature_descriptor[0].input_shape
    [2]
    """
    config, tables = TPUEmbeddingConfiguration(), tables_of(features)
    tags = {f: k for k, f in enumerate(functions_of(tables))}
    for table in tables:
        write_table(config.table_descriptor.add(), table, num_hosts, tags)
    for feature, shape in zip(features, shapes, strict=True):
        config.feature_descriptor.add(
            name=feature.name, table_id=tables.index(feature.table), input_shape=shape
        )
    config.mode = TPUEmbeddingConfiguration.TRAINING
    config.num_hosts, config.num_tensor_cores = num_hosts, num_cores
    config.pipeline_execution_with_tensor_core = pipelined
    if cores_per_replica:
        config.spmd_sharding.enabled = True
        config.spmd_sharding.num_cores_per_replica = cores_per_replica
    return config


def write_table(
    message: TPUEmbeddingConfiguration.TableDescriptor,
    table: TableConfig,
    num_hosts: int,
    tags: dict[Callable[[], float], int],
) -> None:
    """Describe a table."""
    message.name, message.dimension = table.name or "", table.dim
    message.vocabulary_size = max(table.vocabulary_size, num_hosts)
    if table.optimizer is not None:
        message.optimization_parameters.CopyFrom(table.optimizer.parameters(tags))
    if table.quantization_config is not None:
        table.quantization_config.write(message.optimization_parameters)


def label_features(features: Sequence[tuple[str, FeatureConfig]]) -> list[str]:
    """Return what errors call each feature: its name, else its place among the features.

    A name that is there twice gets the place, too.
    """
    own = [feature.name or path for path, feature in features]
    return [
        name if own.count(name) == 1 else f"{name} ({path})"
        for name, (path, _) in zip(own, features, strict=True)
    ]


def name_features(
    config: TPUEmbeddingConfiguration, labels: Sequence[str]
) -> TPUEmbeddingConfiguration:
    """Return a copy in which every feature has its label as name."""
    copy = TPUEmbeddingConfiguration()
    copy.CopyFrom(config)
    for feature, label in zip(copy.feature_descriptor, labels, strict=True):
        feature.name = label or "feature"
    return copy
