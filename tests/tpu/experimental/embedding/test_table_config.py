"""Tables, features and quantization as users write them."""

from typing import Any

import numpy as np
import pytest

from gradlab.tpu.experimental.embedding import (
    SGD,
    Constant,
    CustomCombiner,
    FeatureConfig,
    QuantizationConfig,
    TableConfig,
    TruncatedNormal,
)
from gradlab.tpu.experimental.embedding.table_config import shape_of
from tests.differences import differs


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"vocabulary_size": 0}, "vocabulary_size must be an integer of at least 1, got 0"),
        ({"vocabulary_size": 4.0}, "vocabulary_size must be an integer of at least 1, got 4.0"),
        ({"vocabulary_size": np.int64(4)}, "vocabulary_size"),
        ({"dim": 0}, "dim must be an integer"),
        (
            {"combiner": "max"},
            "combiner must be one of mean, sum, sqrtn, or a CustomCombiner; got 'max'",
        ),
        ({"combiner": None}, "combiner"),
        ({"initializer": 3}, "initializer must be a function or None, got 3"),
        ({"dtype": np.float16}, "dtype must be float32 or int32"),
        ({"dtype": None}, "dtype"),
    ],
)
def test_a_table_refuses(arguments: dict[str, Any], told: str) -> None:
    with pytest.raises(ValueError, match=told):
        TableConfig(**{"vocabulary_size": 8, "dim": 4} | arguments)


@pytest.mark.parametrize("dtype", [np.float32, "int32", np.dtype(np.int32)])
def test_a_table_takes(dtype: object) -> None:
    assert (
        TableConfig(8, 4, combiner=CustomCombiner(lambda n, rows: rows[0], 3), dtype=dtype).dtype
        is dtype
    )


def test_a_table_says_what_differs_from_its_defaults() -> None:
    table = TableConfig(8, 4, Constant(1.0), SGD(), "sum", "t", QuantizationConfig(2, 0, 1))
    assert "initializer=Constant(value=1.0)" in repr(table) and "combiner='sum', name='t'" in repr(
        table
    )
    assert "initializer=None" in repr(TableConfig(8, 4)) and TableConfig(
        8, 4
    ).initializer == TruncatedNormal(0.5)


@differs(
    "`TableConfig` without a name",
    tensorflow="a warning in the log",
    gradlab="silent",
)
def test_two_tables_alike_are_two_tables(caplog: pytest.LogCaptureFixture) -> None:
    assert TableConfig(8, 4, name="t") != TableConfig(8, 4, name="t")
    assert TableConfig(8, 4) and caplog.records == []


@pytest.mark.parametrize(
    ("arguments", "error", "told"),
    [
        ({"table": 3}, ValueError, "table must be a TableConfig, got int"),
        ({"max_sequence_length": -1}, ValueError, "max_sequence_length"),
        ({"max_sequence_length": 1.0}, ValueError, "max_sequence_length"),
        ({"validate_weights_and_indices": 1}, ValueError, "must be True or False, got 1"),
        ({"output_shape": [-1]}, ValueError, "at least 0, got -1"),
        ({"output_shape": [2.5]}, TypeError, "integer"),
        ({"output_shape": "3"}, TypeError, "integers, got '3'"),
    ],
)
def test_a_feature_refuses(arguments: dict[str, Any], error: type[Exception], told: str) -> None:
    with pytest.raises(error, match=told):
        FeatureConfig(**{"table": TableConfig(8, 4)} | arguments)


def test_an_output_shape_takes_precedence_over_a_sequence() -> None:
    table = TableConfig(8, 4)
    assert (
        FeatureConfig(table, 3).is_sequence
        and not FeatureConfig(table, 3, output_shape=[2]).is_sequence
    )
    assert not FeatureConfig(table).is_sequence and FeatureConfig(table).output_shape is None
    assert "max_sequence_length=3" in repr(FeatureConfig(table, 3))


@pytest.mark.parametrize(
    ("given", "shape"),
    [(5, (5,)), ([], ()), ([None, 3], (None, 3)), (np.array([2, 3]), (2, 3)), ((True,), (1,))],
)
def test_shapes_are_read_as_tensorflow_reads_them(
    given: object, shape: tuple[int | None, ...]
) -> None:
    assert shape_of(given) == shape


@pytest.mark.parametrize(
    ("buckets", "error"), [(1, ValueError), ("2", TypeError), (None, TypeError)]
)
def test_quantization_needs_two_levels(buckets: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        QuantizationConfig(buckets, 0.0, 1.0)
    assert QuantizationConfig(2, 3.0, 1.0).lower == 3.0  # the order is not looked at here
