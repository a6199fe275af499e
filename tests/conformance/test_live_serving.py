"""Served lookups beside TensorFlow's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradlab.tpu.experimental import embedding as ours
from tests.conformance.compare import Raised
from tests.conformance.runner import attempt
from tests.golden.tensorflow_values import tensorflow

pytestmark = pytest.mark.tensorflow


def theirs() -> Any:
    return tensorflow().tpu.experimental.embedding


@pytest.mark.parametrize("combiner", ["sum", "mean", "sqrtn"])
@pytest.mark.parametrize(
    "more", [{}, {"max_sequence_length": 2}, {"output_shape": [2, 2]}, {"output_shape": [4, 2]}]
)
@pytest.mark.parametrize("is_weighted", [False, True])
@pytest.mark.parametrize("kind", ["ragged", "sparse", "dense"])
def test_served_lookups_are_tensorflows(
    combiner: str, more: dict[str, Any], is_weighted: bool, kind: str
) -> None:
    rows, scales = [[0, 1, 1], [3], [], [4, 0]], [[0.5, 2.0, 1.0], [3.0], [], [0.25, 1.0]]
    values = np.random.default_rng(0).normal(size=(5, 3)).astype(np.float32)

    def served(lib: Any, ids: Any, weights: Any) -> Any:
        table = lib.TableConfig(5, 3, combiner=combiner, name="t")
        held = {table: values if lib is ours else tensorflow().Variable(values)}
        return lib.serving_embedding_lookup(
            {"f": ids},
            None if weights is None else {"f": weights},
            held,
            {"f": lib.FeatureConfig(table, **more)},
        )

    given = [written(x, kind) for x in (rows, scales)]
    mine = attempt(lambda: served(ours, given[0][0], given[1][0] if is_weighted else None))
    original = attempt(lambda: served(theirs(), given[0][1], given[1][1] if is_weighted else None))
    if isinstance(original, Raised):
        assert isinstance(mine, Raised) and isinstance(mine.error, type(original.error))
    else:
        np.testing.assert_allclose(mine["f"], original["f"].numpy(), rtol=1e-6, atol=1e-6)


def written(rows: list[list[Any]], kind: str) -> tuple[Any, Any]:
    """Ids or weights as both libraries take them."""
    if kind == "dense":
        flat = np.array([x for row in rows for x in row][:4])
        return flat, tensorflow().constant(flat)
    if kind == "ragged":
        return rows, tensorflow().ragged.constant(rows)
    where = np.array([[b, k] for b, row in enumerate(rows) for k in range(len(row))], np.int64)
    flat = np.array([x for row in rows for x in row])
    flat = flat.astype(np.float32) if flat.dtype.kind == "f" else flat
    return (where, flat, (4, 3)), tensorflow().SparseTensor(where, flat, (4, 3))


def test_tables_are_called_with_the_first_features_of_a_tuple() -> None:
    values = np.arange(8, dtype=np.float32).reshape(4, 2)

    def served(lib: Any, given: Any) -> Any:
        table = lib.TableConfig(
            4, 2, initializer=lambda shape, dtype=None: given(values), combiner="sum", name="t"
        )
        model = lib.TPUEmbeddingForServing(
            (lib.FeatureConfig(table), lib.FeatureConfig(table)), lib.SGD(0.1)
        )
        return model((given(np.array([3, 1])),))

    mine, original = served(ours, np.asarray), served(theirs(), tensorflow().constant)
    assert isinstance(mine, tuple) and len(mine) == len(original) == 1
    assert np.asarray(mine[0]).tolist() == original[0].numpy().tolist() == [[6, 7], [2, 3]]


@pytest.mark.parametrize(("ids", "weights"), [("sparse", "ragged"), ("ragged", "sparse")])
def test_weights_written_another_way_are_refused(ids: str, weights: str) -> None:
    rows, scales = [[0, 1, 1], [3], [], [4, 0]], [[0.5, 2.0, 1.0], [3.0], [], [0.25, 1.0]]
    told = "Weight for .* but it does not match type of the input which is"
    for k, lib in enumerate((ours, theirs())):
        table = lib.TableConfig(5, 3, name="t")
        given = written(rows, ids)[k], written(scales, weights)[k]
        with pytest.raises(ValueError, match=told):
            lib.serving_embedding_lookup(
                *({"f": x} for x in given),
                {table: np.ones((5, 3))},
                {"f": lib.FeatureConfig(table)},
            )
