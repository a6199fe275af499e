"""From a configuration to a plan: what it means, and what is refused by name."""

from typing import Any

import pytest
from google.protobuf import text_format

import gradlab as gl
from gradlab.tpu import Feature, Plan, Policy, Table, Tag, TPUEmbeddingConfiguration, parse, plan_of
from gradlab.tpu.engine.parse import config_of, tags_of

TABLE = """table_descriptor { name: "%s" vocabulary_size: 8 dimension: 4 num_features: 2
  optimization_parameters { adagrad {} learning_rate { %s } } }"""
ONE = "mode: TRAINING batch_size_per_tensor_core: 3 " + TABLE % ("a", "constant: 0.5")


def config(text: str = ONE) -> TPUEmbeddingConfiguration:
    return text_format.Parse(text, TPUEmbeddingConfiguration())


def tagged(*tags: int) -> str:
    return "mode: TRAINING batch_size_per_tensor_core: 3 " + " ".join(
        TABLE % (f"t{k}", f"dynamic {{ tag: {tag} }}") for k, tag in enumerate(tags)
    )


def test_bytes_text_and_messages_are_read() -> None:
    message = config()
    data = message.SerializeToString()
    assert (
        parse(data)
        == parse(bytearray(data))
        == parse(memoryview(data))
        == parse(message)
        == message
    )
    assert parse(message) is not message, "it is a copy"
    assert parse("") == TPUEmbeddingConfiguration()


@pytest.mark.parametrize("given", [None, 5, [b""], gl.tpu.OptimizationParameters()])
def test_something_else_is_a_type_error(given: Any) -> None:
    with pytest.raises(TypeError, match=r"must be (bytes or )?a TPUEmbeddingConfiguration, got"):
        parse(given)


def test_bytes_that_are_no_message_are_a_value_error() -> None:
    with pytest.raises(ValueError, match=r"not a TPUEmbeddingConfiguration: byte 0"):
        plan_of(bytes.fromhex("0a05616263"))


def test_what_is_not_known_stays() -> None:
    data = bytes.fromhex("10024a01614001fa3e0178")
    assert parse(data).SerializeToString() == data


def test_without_feature_descriptors_each_table_is_a_feature() -> None:
    plan = plan_of(
        config(
            ONE + "num_tensor_cores: 2 table_descriptor { vocabulary_size: 5 dimension: 1 "
            "optimization_parameters { adam {} learning_rate { constant: 0.25 } } }"
        )
    )
    assert [(f.name, f.table, f.shape) for f in plan.features] == [
        ("a", 0, (6,)),
        ("table_1", 1, (0,)),
    ]
    assert [(t.name, t.rows, t.width, t.learning_rate, t.combiner) for t in plan.tables] == [
        ("a", 8, 4, 0.5, "sum"),
        ("table_1", 5, 1, 0.25, "sum"),
    ]
    assert plan.cores == 2 and plan.activation_shape(0) == (12, 4) and not plan.pipelined


def test_with_feature_descriptors_each_is_a_feature() -> None:
    text = (
        ONE
        + (TABLE % ("b", "constant: 1"))
        + (
            "feature_descriptor { table_id: 1 input_shape: 3 input_shape: 5 } "
            'feature_descriptor { name: "f" table_id: 1 input_shape: 2 } feature_descriptor { input_shape: 4 }'
        )
    )
    found = [(f.name, f.table, f.shape) for f in plan_of(config(text)).features]
    assert found == [("feature_0", 1, (3, 5)), ("f", 1, (2,)), ("feature_2", 0, (4,))]


@pytest.mark.parametrize(
    ("mode", "pipelined"), [("TRAINING", True), ("INFERENCE", False), ("BACKWARD_PASS_ONLY", False)]
)
def test_only_training_is_pipelined(mode: str, pipelined: bool) -> None:
    text = ONE.replace("TRAINING", mode) + "pipeline_execution_with_tensor_core: true"
    assert plan_of(config(text)).pipelined is pipelined


def test_policy_and_combiners_come_from_outside() -> None:
    two = config(ONE + TABLE % ("b", "constant: 1"))
    assert plan_of(two, Policy(out_of_range="wrap")).policy.out_of_range == "wrap"
    for combiners in (["mean", "sqrtn"], {"a": "mean", "b": "sqrtn"}):
        assert [t.combiner for t in plan_of(two, combiners=combiners).tables] == ["mean", "sqrtn"]  # type: ignore[arg-type]
    assert [t.combiner for t in plan_of(two, combiners={"b": "mean"}).tables] == ["sum", "mean"]
    assert [t.combiner for t in plan_of(two, combiners=[]).tables] == ["sum", "sum"]
    with pytest.raises(ValueError, match="one for each of the 2 tables, got 1"):
        plan_of(two, combiners=["mean"])
    with pytest.raises(ValueError, match="no table 'c' to combine; there are a, b"):
        plan_of(two, combiners={"c": "mean"})


def test_a_rule_of_ones_own_stands_in_for_a_compiled_program() -> None:
    text = ONE.replace("adagrad {}", "user_defined_program { program {} }")
    with pytest.raises(
        ValueError,
        match=r"table 'a': a user-defined program comes compiled.*plan_of\(config, rules=",
    ):
        plan_of(config(text))
    rule = gl.rules.UserDefined()
    assert plan_of(config(text), rules={"a": rule}).tables[0].rule is rule
    with pytest.raises(ValueError, match="no table 'b' for a rule; there are a"):
        plan_of(config(text), rules={"b": rule})


def test_tags_are_numbers_of_learning_rates() -> None:
    plan = plan_of(config(tagged(1, 0, 1)))
    assert [t.learning_rate for t in plan.tables] == [Tag(1), Tag(0), Tag(1)]
    assert plan.tag_count == 2
    assert tags_of(config(tagged(1, 0, 1))) == {0: [1], 1: [0, 2]}


@pytest.mark.parametrize(
    ("tags", "missing"), [((1,), 0), ((0, 2), 1), ((0, 3, 3, 1), 2), ((-1, 0), 1)]
)
def test_tags_with_gaps_are_refused_by_name(tags: tuple[int, ...], missing: int) -> None:
    with pytest.raises(
        ValueError, match=rf"learning rate tag {missing} not found.*the tables use .*\(t0"
    ):
        plan_of(config(tagged(*tags)))


def test_a_step_counter_is_a_tag_as_well() -> None:
    text = tagged(0) + (TABLE % ("f", "constant: 1")).replace(
        "adagrad {}", "frequency_aware_adagrad { max_lr_multiplier: 2 step_counter { tag: 1 } }"
    )
    plan = plan_of(config(text))
    assert plan.tables[1].step_counter == Tag(1) and plan.tag_count == 2
    with pytest.raises(ValueError, match=r"tag 1 not found.*0 \(t0\), 2 \(f\)"):
        plan_of(config(text.replace("step_counter { tag: 1 }", "step_counter { tag: 2 }")))


def test_cores_of_replicas() -> None:
    spmd = "spmd_sharding { enabled: true num_cores_per_replica: 2 }"
    assert plan_of(config(ONE + spmd + "num_tensor_cores: 4")).cores == 4


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        (
            "mode: TRAINING",
            "",
            "mode must be TRAINING, INFERENCE or BACKWARD_PASS_ONLY, got UNSPECIFIED",
        ),
        ("vocabulary_size: 8", "", r"table 'a' has 0 rows for 1 host, .*set vocabulary_size to 1"),
        ("dimension: 4", "", "the width of table 'a' must be an integer of at least 1, got 0"),
        (
            "dimension: 4",
            "dimension: -4",
            "the width of table 'a' must be an integer of at least 1, got -4",
        ),
        (
            "mode:",
            "num_hosts: 9 mode:",
            r"table 'a' has 8 rows for 9 hosts, and none may be empty; set .* to 9",
        ),
        ("adagrad {}", "", r"table 'a': the parameters name no optimizer; set one of"),
        ("constant: 0.5", "", r"table 'a': no learning rate is set; set learning_rate.constant"),
        (
            "mode:",
            "feature_descriptor { table_id: 1 input_shape: 2 } mode:",
            "feature 0 reads table 1, but",
        ),
        (
            "mode:",
            "feature_descriptor { table_id: -1 input_shape: 2 } mode:",
            "feature 0 reads table -1",
        ),
        (
            "mode:",
            'feature_descriptor { name: "f" } mode:',
            r"input_shape of feature 'f' must have axes.*got \[\]",
        ),
        (
            "mode:",
            "feature_descriptor { input_shape: 0 } mode:",
            r"input_shape of feature 'feature_0'.*got \[0\]",
        ),
        (
            "mode:",
            2 * 'feature_descriptor { name: "f" input_shape: 1 } ' + "mode:",
            "two features have the name 'f'",
        ),
        ("mode:", TABLE % ("a", "constant: 1") + " mode:", "two tables have the name 'a'"),
        ("mode:", "num_tensor_cores: -1 mode:", "num_tensor_cores must be at least 1, got -1"),
        ("mode:", "num_hosts: -1 mode:", "num_hosts must be at least 1, got -1"),
        (
            "mode:",
            "spmd_sharding { enabled: true } mode:",
            "num_cores_per_replica must be at least 1, got 0",
        ),
        (
            "mode:",
            "num_tensor_cores: 3 spmd_sharding { enabled: true num_cores_per_replica: 2 } mode:",
            "3 tensor cores cannot be replicas of 2 cores each",
        ),
        (
            "batch_size_per_tensor_core: 3",
            "batch_size_per_tensor_core: -3",
            "output of table 'a' would have -6 rows",
        ),
    ],
)
def test_what_cannot_be_run_is_refused_by_name(old: str, new: str, why: str) -> None:
    assert old in ONE
    with pytest.raises(ValueError, match=why):
        plan_of(config(ONE.replace(old, new, 1)))


def test_a_mode_that_is_not_known_is_refused() -> None:
    with pytest.raises(ValueError, match=r"mode must be .*, got 9"):
        plan_of(bytes([16, 9]))


def test_a_plan_comes_back_from_its_configuration() -> None:
    rule = gl.rules.Momentum(0.5)
    plan = Plan(
        (
            Table("a", 8, 4, rule, 0.5, "mean"),
            Table("b", 9, 2, learning_rate=Tag(0), combiner="sum"),
        ),
        (Feature("f", 1, (3, 5)), Feature("g", 0, (3,))),
        cores=2,
        pipelined=True,
        policy=Policy(out_of_range="drop"),
    )
    written = config_of(plan, num_hosts=2).SerializeToString()
    assert plan_of(written, plan.policy, ["mean", "sum"]) == plan


def test_a_plan_that_no_engine_could_have_is_not_written() -> None:
    plan = Plan((Table("a", 8, 4),), (Feature("f", 0, (3,)),))
    with pytest.raises(ValueError, match=r"mode must be .*, got 'train'"):
        config_of(plan, "train")
    with pytest.raises(ValueError, match="8 rows for 9 hosts"):
        config_of(plan, num_hosts=9)
