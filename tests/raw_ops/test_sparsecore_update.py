"""Rows of a table updated by the optimizers of SparseCores."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradlab import raw_ops
from gradlab.errors import DTypeError, InvalidArgumentError
from tests.differences import differs
from tests.raw_ops.sparsecore_formulas import CASES, FORMULAS, draw_tables

# The arguments of these ops by the attributes of the ops with gradients.
NAMES = {"beta1": "beta_1", "beta2": "beta_2", "momenta": "momentum"}


def run(name: str, tables: dict[str, np.ndarray], **arguments: Any) -> dict[str, np.ndarray]:
    """The new tables by name."""
    given = {NAMES.get(n, n): x for n, x in {**tables, **arguments}.items()}
    found = getattr(raw_ops, f"XlaSparseCore{name}")(**given)
    if isinstance(found, np.ndarray):
        return {"embedding_table": found}
    by_name = {field.removeprefix("updated_"): x for field, x in found._asdict().items()}
    return {n: by_name[NAMES.get(n, n)] for n in tables}


def test_rows_that_are_named_take_a_step() -> None:
    # A loop, as a default run has only some of many parameters.
    for name, attributes in CASES:
        check_step(name, attributes)


def check_step(name: str, attributes: dict[str, float]) -> None:
    rng = np.random.default_rng(0)
    tables = draw_tables(rng, name, 6, 4)
    before = {n: x.copy() for n, x in tables.items()}
    rows = np.array([4, 1])
    gradient = rng.normal(size=(2, 4)).astype(np.float32)

    found = run(
        name,
        tables,
        indices=rows,
        gradient=gradient,
        learning_rate=0.25,
        feature_width=4,
        **attributes,
    )

    own = tuple(x[rows] for x in tables.values())
    expected = FORMULAS[name](own, gradient, 0.25, **attributes)
    for (n, old), new in zip(before.items(), expected, strict=True):
        message = f"{name} {attributes} {n}"
        # 2 ulp: powers and the order of products differ.
        np.testing.assert_allclose(found[n][rows], new, rtol=3e-7, atol=1e-7, err_msg=message)
        others = [0, 2, 3, 5]
        assert np.array_equal(found[n][others], old[others]), message
        assert np.array_equal(tables[n], old), message


def sgd(**changes: Any) -> np.ndarray:
    arguments: dict[str, Any] = {
        "indices": [1],
        "gradient": [[1.0, 1.0]],
        "learning_rate": 1.0,
        "embedding_table": np.zeros((3, 2), np.float32),
        "feature_width": 2,
    }
    return raw_ops.XlaSparseCoreSgd(**{**arguments, **changes})


def test_an_index_outside_the_table_changes_nothing() -> None:
    table = sgd(indices=[-1, 3, 2], gradient=[[1.0, 1.0]] * 3)

    assert table.tolist() == [[0, 0], [0, 0], [-1, -1]]


@differs(
    "`XlaSparseCore...`: an index that is there twice",
    tensorflow="one of its gradients counts, XLA doesn't say which",
    gradlab="the last one counts",
)
def test_of_equal_indices_the_last_counts() -> None:
    table = sgd(indices=[1, 1], gradient=[[1.0, 1.0], [5.0, 5.0]])

    assert table[1].tolist() == [-5, -5]


def test_only_columns_of_the_feature_are_updated() -> None:
    table = sgd(gradient=[[1.0]], feature_width=1)

    assert table[1].tolist() == [-1, 0]


@pytest.mark.parametrize(
    ("changes", "error", "words"),
    [
        ({"gradient": [[1.0]]}, InvalidArgumentError, r"gradient have shape \(indices, 2\)"),
        ({"indices": [[1]]}, InvalidArgumentError, "indices must be a vector"),
        ({"feature_width": 3, "gradient": [[1.0] * 3]}, InvalidArgumentError, "must be 1 to 2"),
        ({"learning_rate": [1.0]}, InvalidArgumentError, "learning_rate must be a scalar"),
        ({"embedding_table": [1.0, 2.0]}, InvalidArgumentError, "matrices of one shape"),
        ({"embedding_table": np.zeros((3, 2), int)}, DTypeError, "must be float32, got int64"),
    ],
)
def test_what_does_not_fit_is_refused(
    changes: dict[str, Any], error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        sgd(**changes)


def test_slots_of_another_shape_are_refused() -> None:
    with pytest.raises(InvalidArgumentError, match=r"got accumulator of shape \(2, 2\)"):
        raw_ops.XlaSparseCoreAdagrad(
            indices=[1],
            gradient=[[1.0, 1.0]],
            learning_rate=1.0,
            accumulator=np.ones((2, 2)),
            embedding_table=np.ones((3, 2)),
            feature_width=2,
        )
