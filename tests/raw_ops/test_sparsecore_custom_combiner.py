"""A combiner that is a function: with weights of ones it is the sum that SparseCores compute."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradlab import raw_ops
from gradlab.errors import InvalidArgumentError
from tests.differences import differs
from tests.raw_ops.sparsecore_formulas import CASES, draw_tables

ROWS, WIDTH, SAMPLES, VALENCY = 6, 3, 2, 2
# Sample 0 looks up rows 1 and 4, sample 1 row 4 in its second place.
BUFFERS: dict[str, Any] = {
    "row_pointers": [3] * 8,
    "sorted_sample_ids": [0, 0, 1],
    "sorted_token_ids": [1, 4, 4],
    "sorted_pos_ids": [0, 1, 1],
    "sorted_gains": [1.0, 1.0, 1.0],
}
PLAIN = {name: x for name, x in BUFFERS.items() if name != "sorted_pos_ids"}
DEVICE: dict[str, Any] = {"table_name": "t", "num_sparsecores_per_device": 1}
COMBINER = "XlaSparseDenseMatmulCustomCombinerOnTc"


def combine(valencies: Any, vectors: Any, weights: Any) -> Any:
    return (vectors * weights[:, :, None]).sum(1)


def of_vectors(valencies: Any, vectors: Any, weights: Any, gradients: Any) -> Any:
    return weights[:, :, None] * gradients[:, None, :]


def of_weights(valencies: Any, vectors: Any, weights: Any, gradients: Any) -> Any:
    return (vectors * gradients[:, None, :]).sum(2)


def look_up(table: np.ndarray, **changes: Any) -> Any:
    arguments: dict[str, Any] = {
        **BUFFERS,
        "embedding_table": table,
        "weights": np.ones(VALENCY),
        "input_size": SAMPLES,
        "max_valency": VALENCY,
        "num_weights": VALENCY,
        "combiner_computation": combine,
        "quantization_config_low": 0.0,
        "quantization_config_high": 0.0,
        "quantization_config_num_buckets": 0,
        **DEVICE,
    }
    return raw_ops.XlaSparseDenseMatmulCustomCombinerOnTcWithCsrInput(**{**arguments, **changes})


def table() -> np.ndarray:
    return draw_tables(np.random.default_rng(0), "Sgd", ROWS, WIDTH)["embedding_table"]


def test_rows_stand_at_their_places() -> None:
    w = table()

    found = look_up(w, weights=[2.0, 10.0])

    assert found.preserved_valencies.tolist() == [2, 1]
    assert np.array_equal(found.preserved_vectors, [[w[1], w[4]], [0 * w[0], w[4]]])
    assert found.activations == pytest.approx(np.array([2 * w[1] + 10 * w[4], 10 * w[4]]))


def test_places_are_read_where_the_lookups_stand() -> None:
    # The same lookups by two SparseCores, whose partitions begin at multiples of 8.
    where = [0, 8, 16]
    positions = np.zeros(24, np.int32)
    tokens = np.zeros(24, np.int32)
    gains = np.zeros(24)
    positions[where] = [0, 1, 1]
    tokens[where] = 1
    gains[where] = 1
    spread = {
        "row_pointers": [1, 9, *[16] * 6, 16, 17, *[24] * 6],
        "sorted_sample_ids": np.zeros(24, np.int32),
        "sorted_token_ids": tokens,
        "sorted_pos_ids": positions,
        "sorted_gains": gains,
    }

    found = look_up(table(), **spread, num_sparsecores_per_device=2)

    assert np.array_equal(found.preserved_vectors, look_up(table()).preserved_vectors)


def test_the_gradient_of_a_place_is_that_of_its_row() -> None:
    w = table()
    looked_up = look_up(w, weights=[2.0, 10.0])

    new, _ = raw_ops.XlaSparseDenseMatmulCustomCombinerOnTcGradWithSgdAndCsrInput(
        **BUFFERS,
        embedding_table=w,
        activation_gradients=np.ones((SAMPLES, WIDTH)),
        learning_rate=1.0,
        weights=[2.0, 10.0],
        preserved_valencies=looked_up.preserved_valencies,
        preserved_vectors=looked_up.preserved_vectors,
        preserved_weights=[2.0, 10.0],
        combiner_weights_learning_rate=0.0,
        max_valency=VALENCY,
        num_weights=VALENCY,
        combiner_table_vjp_computation=of_vectors,
        combiner_weights_vjp_computation=of_weights,
        **DEVICE,
    )

    assert (w - new)[:, 0] == pytest.approx([0, 2, 0, 0, 20, 0])


@pytest.mark.parametrize(("name", "attributes"), CASES)
def test_with_weights_of_one_it_is_a_sum(name: str, attributes: dict[str, float]) -> None:
    rng = np.random.default_rng(1)
    tables = draw_tables(rng, name, ROWS, WIDTH)
    gradients = rng.normal(size=(SAMPLES, WIDTH)).astype(np.float32)
    looked_up = look_up(tables["embedding_table"])
    common = {"activation_gradients": gradients, "learning_rate": 0.25, **attributes, **DEVICE}

    *found, weights = getattr(raw_ops, f"{COMBINER}GradWith{name}AndCsrInput")(
        **BUFFERS,
        **tables,
        **common,
        weights=np.ones(VALENCY),
        preserved_valencies=looked_up.preserved_valencies,
        preserved_vectors=looked_up.preserved_vectors,
        preserved_weights=np.ones(VALENCY),
        combiner_weights_learning_rate=0.5,
        max_valency=VALENCY,
        num_weights=VALENCY,
        combiner_table_vjp_computation=of_vectors,
        combiner_weights_vjp_computation=of_weights,
    )

    expected = getattr(raw_ops, f"XlaSparseDenseMatmulGradWith{name}AndCsrInput")(
        **PLAIN, **tables, **common, num_minibatches_per_physical_sparse_core=1
    )
    expected = [expected] if isinstance(expected, np.ndarray) else expected
    for a, b in zip(found, expected, strict=True):
        assert np.array_equal(a, b)
    moved = (looked_up.preserved_vectors * gradients[:, None, :]).sum((0, 2))
    np.testing.assert_allclose(weights, 1 - 0.5 * moved, rtol=1e-6)


def test_a_function_of_your_own_is_the_optimizer() -> None:
    looked_up = look_up(
        table(), weights=[], num_weights=0, combiner_computation=lambda v, x: x.sum(1)
    )

    found = getattr(raw_ops, f"{COMBINER}GradWithCsrInput")(
        **BUFFERS,
        weights=[],
        preserved_valencies=looked_up.preserved_valencies,
        preserved_vectors=looked_up.preserved_vectors,
        preserved_weights=[],
        activation_gradients=np.ones((SAMPLES, WIDTH)),
        tables=[table(), np.zeros((ROWS, WIDTH))],
        hyperparameters=[0.5],
        combiner_weights_learning_rate=0.5,
        max_valency=VALENCY,
        num_weights=0,
        combiner_table_vjp_computation=lambda v, x, g: np.broadcast_to(g[:, None, :], x.shape),
        combiner_weights_vjp_computation=None,
        optimizer_custom_computation=lambda g, w, total, rate: (w - rate * g, total + g),
        **DEVICE,
    )

    weights, total = found.updated_tables
    assert total[:, 0].tolist() == [0, 1, 0, 0, 2, 0]
    np.testing.assert_allclose(weights, table() - 0.5 * total, rtol=1e-6)
    assert found.updated_weights.shape == (0,)


@differs(
    "`XlaSparseDenseMatmulCustomCombinerOnTc...`: gains other than 1",
    tensorflow="what they do is not public",
    gradlab="InvalidArgumentError",
)
@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"sorted_gains": [1.0, 0.5, 1.0]}, "gains of lookups for a custom combiner must be 1"),
        ({"sorted_pos_ids": [0, 2, 1]}, "sorted_pos_ids must be 0 to 1, got 0 to 2"),
        ({"sorted_pos_ids": [0, 0, 1]}, "two lookups of a sample have one position"),
        ({"sorted_pos_ids": [0, 1]}, "sorted_pos_ids must be as long as"),
        ({"weights": [1.0]}, r"weights must have shape \(2,\)"),
        ({"combiner_computation": lambda v, x, w: x}, r"an array of shape \(2, 3\)"),
    ],
)
def test_what_does_not_fit_is_refused(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidArgumentError, match=words):
        look_up(table(), **changes)
