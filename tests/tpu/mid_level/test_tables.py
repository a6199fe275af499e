"""Names, optimizers and first values of tables."""

from typing import Any

import numpy as np
import pytest

from gradlab.tpu import (
    SGD,
    Adagrad,
    Adam,
    Constant,
    FeatureConfig,
    MDLAdagradLight,
    RowIdInitializer,
    TableConfig,
    TPUEmbeddingForServing,
)
from gradlab.tpu.mid_level.table_set import adopt_tables, initial_arrays


def adopted(*tables: Any, optimizer: Any = None, **more: Any) -> list[TableConfig]:
    return adopt_tables([(str(k), FeatureConfig(t)) for k, t in enumerate(tables)], optimizer, **more)


def test_tables_get_a_name_and_an_optimizer() -> None:
    first, second = TableConfig(8, 1, optimizer=Adam()), TableConfig(8, 1)
    assert adopted(first, second, first, optimizer=SGD()) == [first, second]
    assert (first.name, second.name) == ("table_0", "table_1")
    assert (first.optimizer, second.optimizer) == (Adam(), SGD())


@pytest.mark.parametrize(
    ("tables", "optimizer", "told"),
    [
        ([TableConfig(8, 1, name="a"), TableConfig(8, 1, name="a")], SGD(), "two tables have the name 'a'"),
        ([TableConfig(8, 1), TableConfig(8, 1, name="table_0")], SGD(), "two tables have the name 'table_0'"),
        ([TableConfig(8, 1, name="a")], None, "table 'a' needs an optimizer of gl.tpu, got None"),
        ([TableConfig(8, 1, name="a")], "sgd", "table 'a' needs an optimizer of gl.tpu, got 'sgd'"),
    ],
)
def test_what_is_refused_leaves_the_tables_as_they_were(tables: list[TableConfig], optimizer: Any, told: str) -> None:
    before = [(t.name, t.optimizer) for t in tables]
    with pytest.raises(ValueError, match=told):
        adopted(*tables, optimizer=optimizer)
    assert [(t.name, t.optimizer) for t in tables] == before


def test_no_optimizer_is_fine_where_nothing_is_trained() -> None:
    assert adopted(TableConfig(8, 1), needs_optimizer=False)[0].optimizer is None
    with pytest.raises(ValueError, match="feature '0' must be a FeatureConfig, got int"):
        adopt_tables([("0", 3)], SGD())


def test_every_table_has_numbers_of_its_own_which_the_seed_repeats() -> None:
    def made(seed: int) -> list[np.ndarray]:
        return [
            a[0] for a in initial_arrays(adopted(*(TableConfig(8, 2) for _ in range(2)), optimizer=SGD()), [8, 8], seed)
        ]

    (a, b), (same, _), (other, _) = made(0), made(0), made(1)
    assert (a == same).all() and not (a == b).any() and not (a == other).any()


def test_slots_come_after_the_table_and_begin_as_the_optimizer_says() -> None:
    table = TableConfig(3, 2, Constant(1.0), Adagrad(initial_accumulator_value=0.5))
    (arrays,) = initial_arrays(adopted(table), [3], 0)
    assert [x.tolist() for x in arrays] == [[[1.0] * 2] * 3, [[0.5] * 2] * 3]


def test_slots_that_begin_as_the_table_do_so() -> None:
    table = TableConfig(3, 1, RowIdInitializer(), MDLAdagradLight())
    (arrays,) = initial_arrays(adopted(table), [3], 0)
    assert (arrays[2] == arrays[0]).all()


def test_slots_may_be_made_by_a_function_of_ones_own() -> None:
    asked = []

    def make(parameters: Any, names: list[str], initializers: list[Any]) -> dict[str, Any]:
        asked.append((parameters.shape, names, [f((1, 1)).item() for f in initializers]))
        return {"velocities": np.full((3, 2), 4.0), "momenta": np.full((3, 2), 5.0)}

    table = TableConfig(3, 2, Constant(1.0), Adam(slot_variable_creation_fn=make))
    (arrays,) = initial_arrays(adopted(table), [3], 0)
    assert [x[0, 0] for x in arrays] == [1, 5, 4] and asked == [((3, 2), ["momenta", "velocities"], [0.0, 0.0])]
    none = TableConfig(3, 2, Constant(1.0), Adam(slot_variable_creation_fn=lambda *_: {}), name="t")
    with pytest.raises(ValueError, match="of table 't' made no 'momenta'"):
        TPUEmbeddingForServing(FeatureConfig(none)).build()
