"""Shapes of what operations take and give, as TensorFlow's shape functions have them."""

import pytest
from google.protobuf import text_format
from hypothesis import given
from hypothesis import strategies as st

from gradlab.errors import InternalError, InvalidArgumentError
from gradlab.tpu import (
    TPUEmbeddingConfiguration,
    activation_shapes,
    all_parameter_shapes,
    shard_rows,
)
from gradlab.tpu.engine import shapes as of
from gradlab.tpu.engine.messages import FORMS, Form

TABLE = """table_descriptor { name: "a" vocabulary_size: 8 dimension: 4 num_features: 2
  optimization_parameters { adagrad {} } } """
WRITTEN = [f for f in FORMS if f.message != "user_defined_program"]
FEATURE = "feature_descriptor { input_shape: 3 input_shape: 5 } "


def config(text: str) -> TPUEmbeddingConfiguration:
    return text_format.Parse(text, TPUEmbeddingConfiguration())


@pytest.mark.parametrize(
    ("text", "shapes"),
    [
        (TABLE + "batch_size_per_tensor_core: 3", [(6, 4)]),
        (TABLE, [(0, 4)]),
        (TABLE + FEATURE + "batch_size_per_tensor_core: 9", [(3, 5, 4)]),
        (TABLE + FEATURE + "spmd_sharding { enabled: true num_cores_per_replica: 2 }", [(6, 5, 4)]),
        (TABLE + FEATURE + "spmd_sharding { num_cores_per_replica: 2 }", [(3, 5, 4)]),
        (
            TABLE
            + FEATURE
            + (
                "spmd_sharding { enabled: true num_cores_per_replica: 2 "
                "use_manual_partitioning: true }"
            ),
            [(3, 5, 4)],
        ),
        (
            TABLE
            + (
                "batch_size_per_tensor_core: 3 spmd_sharding { enabled: true "
                "num_cores_per_replica: 2 }"
            ),
            [(12, 4)],
        ),
        (TABLE + "feature_descriptor {}", [(4,)]),
        (TABLE + "feature_descriptor { input_shape: -1 }", [(None, 4)]),
        ("", []),
    ],
)
def test_activations(text: str, shapes: list[tuple[int, ...]]) -> None:
    assert activation_shapes(config(text)) == shapes


@pytest.mark.parametrize("text", [TABLE.replace("2", "-2") + "batch_size_per_tensor_core: 3"])
def test_a_size_below_minus_1_is_refused(text: str) -> None:
    with pytest.raises(InvalidArgumentError, match=r"output 0 would have shape \[-6, 4\]"):
        activation_shapes(config(text))


@pytest.mark.parametrize("table", [1, -1])
def test_a_feature_of_no_table_is_refused(table: int) -> None:
    with pytest.raises(ValueError, match=f"feature 'f' reads table {table}, but there are 1"):
        activation_shapes(config(TABLE + f'feature_descriptor {{ name: "f" table_id: {table} }}'))


def test_the_number_of_outputs_and_scalar_rates() -> None:
    of.check_output_count(config(TABLE), 1)
    of.check_output_count(config(TABLE + FEATURE * 3), 3)
    with pytest.raises(
        InvalidArgumentError, match="must be 3 outputs, one for each feature; got 1"
    ):
        of.check_output_count(config(TABLE + FEATURE * 3), 1)
    with pytest.raises(InvalidArgumentError, match="one for each table"):
        of.check_output_count(config(TABLE), 2)
    of.check_rate_shapes([(), []])
    with pytest.raises(
        InvalidArgumentError, match=r"learning rate 1 must be a scalar, got shape \(1,\)"
    ):
        of.check_rate_shapes([(), [1]])


@given(st.integers(1, 500), st.integers(1, 40))
def test_shards_share_all_rows_and_differ_by_one_at_most(rows: int, shards: int) -> None:
    held = []
    for k in range(shards):
        try:
            held.append(shard_rows(rows, shards, k))
        except InvalidArgumentError:
            held.append(0)
    assert sum(held) == rows and held == sorted(held, reverse=True) and held[0] - held[-1] <= 1


@pytest.mark.parametrize(
    ("rows", "shards", "shard", "why"),
    [
        (3, 5, 3, "3 rows over 5 shards leave shard 3 empty"),
        (3, 0, 0, "num_shards must be at least 1, got 0"),
        (3, 2, 2, "shard_id must be 0 to 1, got 2"),
        (3, 2, -1, "shard_id must be 0 to 1, got -1"),
    ],
)
def test_a_shard_that_is_not_there_or_empty_is_refused(
    rows: int, shards: int, shard: int, why: str
) -> None:
    with pytest.raises(InvalidArgumentError, match=why):
        shard_rows(rows, shards, shard)


@pytest.mark.parametrize("form", WRITTEN, ids=lambda f: f.message)
@pytest.mark.parametrize(
    ("status", "hidden"), [("DISABLED", 0), ("UNSPECIFIED", 1), ("ENABLED", 1)]
)
def test_all_parameters_with_the_hidden_slot(form: Form, status: str, hidden: int) -> None:
    text = TABLE.replace(
        "adagrad {}", f"{form.message} {{}} gradient_accumulation_status: {status}"
    )
    found = all_parameter_shapes(config(text), 3, 2)
    count = 1 + len(form.slots) + hidden
    assert found == [[(2, 4)]] * count + [[(0, 0)]] * (8 - count)
    assert len(of.parameter_shapes(config(text), 0)) == count - hidden


def program(takes: int, gives: int, status: str = "ENABLED") -> TPUEmbeddingConfiguration:
    made = config(TABLE.replace("adagrad {}", f"gradient_accumulation_status: {status}"))
    shape = made.table_descriptor[
        0
    ].optimization_parameters.user_defined_program.program.host_program_shape
    shape.SetInParent()
    for _ in range(takes):
        shape.parameters.add()
    for _ in range(gives):
        shape.result.tuple_shapes.add()
    return made


@pytest.mark.parametrize(
    ("takes", "gives", "slots"), [(2, 1, 0), (3, 1, 0), (3, 2, 1), (4, 2, 1), (2, 0, 0), (9, 7, 6)]
)
def test_the_slots_of_a_compiled_program_are_counted(takes: int, gives: int, slots: int) -> None:
    found = all_parameter_shapes(program(takes, gives, "DISABLED"))
    assert found == [[(8, 4)]] * (1 + slots) + [[(0, 0)]] * (7 - slots)
    assert all_parameter_shapes(program(takes, gives))[1 + slots] == [(8, 4)]


@pytest.mark.parametrize(("takes", "gives"), [(0, 0), (1, 0), (4, 1), (2, 2)])
def test_a_program_takes_its_results_and_one_or_two_numbers_more(takes: int, gives: int) -> None:
    with pytest.raises(InvalidArgumentError, match=f"this one takes {takes} and gives {gives}"):
        all_parameter_shapes(program(takes, gives))


def test_there_are_seven_slots_at_most() -> None:
    assert all_parameter_shapes(program(9, 8, "DISABLED"))[7] == [(8, 4)]
    with pytest.raises(
        InvalidArgumentError, match="8 slots, its hidden one counted; there can be 7"
    ):
        all_parameter_shapes(program(9, 8))


def test_all_parameters_need_an_optimizer() -> None:
    with pytest.raises(ValueError, match="name no optimizer"):
        all_parameter_shapes(config(TABLE.replace("adagrad {}", "")))


def test_a_table_is_named_once() -> None:
    two = config(TABLE + TABLE.replace('"a"', '"b"'))
    assert of.table_number(two, table_name="b") == of.table_number(two, table_id=1) == 1
    for given_id, name in ((-1, ""), (0, "a"), (-2, "")):
        with pytest.raises(InvalidArgumentError, match="either table_id or table_name"):
            of.table_number(two, given_id, name)
    with pytest.raises(InvalidArgumentError, match="no table 'c'; there are a, b"):
        of.table_number(two, table_name="c")
    with pytest.raises(InvalidArgumentError, match="no table 2; the configuration has 2"):
        of.table_number(two, table_id=2)


def test_what_is_loaded_is_of_one_shape() -> None:
    of.check_loaded([(8, 4), (None, 4), [8, 4]])
    with pytest.raises(InvalidArgumentError, match=r"2 axes, got shape \(8,\)"):
        of.check_loaded([(8,), (8,)])
    with pytest.raises(InvalidArgumentError, match=r"one shape, got \(8, 4\) and \(8, 5\)"):
        of.check_loaded([(8, 4), (8, 5)])


def test_all_that_is_loaded_is_of_the_shapes_that_are_retrieved() -> None:
    one = config(TABLE)
    full, none = [(8, 4)], [(0, 0)]
    of.check_all_loaded(one, [full, full, full, *[none] * 5])
    of.check_all_loaded(one, [[(3, 4)]] * 3 + [none] * 5, 3, 0)
    with pytest.raises(
        InvalidArgumentError, match=r"auxiliary2 of table 0 must have shape \(8, 4\), got \(0, 0\)"
    ):
        of.check_all_loaded(one, [full, full, none, *[none] * 5])
    with pytest.raises(
        InvalidArgumentError, match=r"parameters of table 0 must have shape \(8, 4\), got \(7, 4\)"
    ):
        of.check_all_loaded(one, [[(7, 4)]] * 3 + [none] * 5)
    with pytest.raises(InternalError, match="parameters must have 1 tables, got 2"):
        of.check_all_loaded(one, [full * 2] * 3 + [none * 2] * 5)
