"""The message that tables and features amount to.

Bytes are compared with TensorFlow's in conformance/.
"""

from typing import Any

import pytest

from gradlab.tpu.engine.proto import TPUEmbeddingConfiguration
from gradlab.tpu.experimental.embedding import (
    SGD,
    Adagrad,
    FeatureConfig,
    QuantizationConfig,
    TableConfig,
    configuration,
)


def one() -> float:
    return 0.1


def two() -> float:
    return 0.2


def test_tables_and_tags_are_numbered_by_first_use() -> None:
    a = TableConfig(8, 4, optimizer=Adagrad(one), name="a")
    b = TableConfig(3, 2, optimizer=SGD(two), name="b")
    c = TableConfig(5, 1, optimizer=SGD(one), name="c")
    config = configuration(
        [FeatureConfig(b), FeatureConfig(a, name="f"), FeatureConfig(c), FeatureConfig(b)],
        [(2,)] * 4,
    )
    assert [t.name for t in config.table_descriptor] == ["b", "a", "c"]
    assert [f.table_id for f in config.feature_descriptor] == [0, 1, 2, 0]
    assert [f.name for f in config.feature_descriptor] == ["", "f", "", ""]
    assert [
        t.optimization_parameters.learning_rate.dynamic.tag for t in config.table_descriptor
    ] == [0, 1, 1]


def test_what_is_around_the_tables() -> None:
    table = TableConfig(
        3, 4, optimizer=SGD(), name="t", quantization_config=QuantizationConfig(4, -1.0, 0.0)
    )
    config = configuration(
        [FeatureConfig(table)],
        [(2, 3)],
        num_hosts=5,
        num_cores=8,
        pipelined=True,
        cores_per_replica=2,
    )
    assert (
        config.mode == TPUEmbeddingConfiguration.TRAINING
        and config.pipeline_execution_with_tensor_core
    )
    assert (
        config.num_hosts,
        config.num_tensor_cores,
        config.spmd_sharding.num_cores_per_replica,
    ) == (5, 8, 2)
    assert config.table_descriptor[0].vocabulary_size == 5, "every host holds a row"
    assert list(config.feature_descriptor[0].input_shape) == [2, 3]
    quantization = config.table_descriptor[0].optimization_parameters.simulated_quantization
    assert (
        quantization.clipping_limits.HasField("upper")
        and quantization.clipping_limits.upper.value == 0.0
    )


@pytest.mark.parametrize(
    ("rate", "error", "said"),
    [
        ("fast", TypeError, "be numbers, got 'fast'"),
        (None, ValueError, "real numbers, got None"),
        (1j, TypeError, "got c"),
    ],
)
def test_a_rate_that_is_no_number_is_refused(rate: Any, error: type[Exception], said: str) -> None:
    table = TableConfig(3, 4, optimizer=SGD(rate), name="t")
    with pytest.raises(error, match=f"learning_rate of SGD must.*{said}"):
        configuration([FeatureConfig(table)], [(2,)])
