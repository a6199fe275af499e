"""Numbers that are none of the kind a step of tables takes: refused by name, never cut to what
fits.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradlab as gl
from gradlab import tpu
from gradlab.errors import DTypeError, InvalidArgumentError
from gradlab.tpu import Feature, Ids, Plan, Table, Tag, create, ids_of, lookup, make_batch, update

FEATURE = Feature("f", 0, (2,))
PLAN = Plan((Table("t", 4, 1, gl.rules.Adagrad(), Tag(0)),), (FEATURE,))
ONES, COMPLEX = np.ones((4, 1)), np.ones((4, 1)) * 1j


def _updated(gradient: Any, rate: Any) -> Any:
    state = create(PLAN, [ONES])
    _, dedup = lookup(state, make_batch(PLAN, {"f": Ids([0, 1], [1, 2])}))
    return update(state, [gradient], [rate], dedup)


_BAD: list[tuple[Callable[[], Any], type[Exception], str]] = [
    (
        lambda: Table("t", 10.5, 4),
        InvalidArgumentError,
        "the rows of table 't' must be an integer .* got 10.5",
    ),
    (
        lambda: Table("t", 10, True),
        InvalidArgumentError,
        "the width of table 't' must be an integer .* got True",
    ),
    (
        lambda: Table("t", 10, 4, learning_rate=None),
        InvalidArgumentError,
        "rate of table 't' .* got None",
    ),
    (
        lambda: Table("t", 10, 4, learning_rate="0.1"),
        TypeError,
        "rate of table 't' must be numbers, got '0.1'",
    ),
    (
        lambda: Feature("f", 0, (2.5,)),
        InvalidArgumentError,
        "size of feature 'f' must be an integer .* got 2.5",
    ),
    (
        lambda: Plan(PLAN.tables, (Feature("f", 0.0, (2,)),)),
        InvalidArgumentError,
        "the table of feature 'f' .* got 0.0",
    ),
    (
        lambda: Plan(PLAN.tables, (FEATURE,), cores=1.5),
        InvalidArgumentError,
        "cores must be an integer .* got 1.5",
    ),
    (lambda: create(PLAN, [COMPLEX]), DTypeError, "table 't' must be real numbers, got complex128"),
    (
        lambda: create(PLAN, [ONES], [[COMPLEX]]),
        DTypeError,
        "a slot of table 't' must be real numbers",
    ),
    (
        lambda: make_batch(PLAN, {"f": Ids([0.5, 1.0], [1, 2])}),
        InvalidArgumentError,
        "the samples of feature 'f'",
    ),
    (
        lambda: make_batch(PLAN, {"f": Ids([0, 1], [1.0, 2.0])}),
        InvalidArgumentError,
        "the ids of feature 'f'",
    ),
    (
        lambda: make_batch(PLAN, {"f": Ids([0, 1], [1, 2], [1j, 1])}),
        DTypeError,
        "the weights of feature 'f'",
    ),
    (
        lambda: ids_of(FEATURE, [1, 2], [1j, 1]),
        DTypeError,
        "the weights of feature 'f' must be real numbers",
    ),
    (
        lambda: ids_of(FEATURE, [1, 2], ["a", "b"]),
        DTypeError,
        "the weights of feature 'f' must be real numbers",
    ),
    (
        lambda: ids_of(FEATURE, ([[0.5, 0], [1, 0]], [1, 2])),
        InvalidArgumentError,
        "feature 'f' are must be integers",
    ),
    (
        lambda: _updated(np.ones((2, 1)) * 1j, 0.1),
        DTypeError,
        "the gradient of feature 'f' must be real numbers",
    ),
    (
        lambda: _updated(np.ones((2, 1)), None),
        InvalidArgumentError,
        "learning rate 0 must be real numbers, got None",
    ),
    (
        lambda: _updated(np.ones((2, 1)), 0.1j),
        DTypeError,
        "learning rate 0 must be real numbers, got complex64",
    ),
]


@pytest.mark.parametrize(("call", "error", "said"), _BAD, ids=[said for *_, said in _BAD])
def test_what_is_refused(call: Callable[[], Any], error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        call()


def test_numbers_of_numpy_count_as_well() -> None:
    table = Table("t", np.int64(4), np.int32(1), learning_rate=np.float32(0.1))
    assert create(Plan((table,), (FEATURE,)), [ONES]).tables[0].shape == (4, 1)


def test_variables_of_a_loaded_table_are_real() -> None:
    embedding = tpu.experimental.embedding.TPUEmbedding(
        tpu.experimental.embedding.FeatureConfig(
            tpu.experimental.embedding.TableConfig(4, 1, name="t")
        ),
        tpu.experimental.embedding.SGD(0.1),
    )
    with pytest.raises(DTypeError, match="parameters of table 't' must be real numbers"):
        embedding.load({"t": {"parameters": COMPLEX}})
