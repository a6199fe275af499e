"""What there is to say of a configuration before it is used."""

from typing import Any

import pytest
from google.protobuf import text_format
from hypothesis import given

from gradlab.tpu import TPUEmbeddingConfiguration, plan_of
from gradlab.tpu.config.describe import notes
from tests.tpu.config.messages import arguments, configurations

QUIET = """mode: TRAINING batch_size_per_tensor_core: 3 num_hosts: 1 num_tensor_cores: 1
  table_descriptor { name: "a" vocabulary_size: 8 dimension: 1 num_features: 2
    optimization_parameters { OPTIMIZER learning_rate { RATE } PARAMETERS } }"""


def config(optimizer: str = "adagrad {}", rate: str = "constant: 0.5", more: str = "") -> TPUEmbeddingConfiguration:
    text = QUIET.replace("OPTIMIZER", optimizer).replace("RATE", rate).replace("PARAMETERS", more)
    return text_format.Parse(text, TPUEmbeddingConfiguration())


def test_a_plain_configuration_has_no_notes() -> None:
    assert notes(config()) == []


@pytest.mark.parametrize(
    ("optimizer", "more", "text"),
    [
        ("stochastic_gradient_descent {}", "weight_decay_factor: 0.5", "does not behave as expected"),
        ("mdl_adagrad_light {}", "weight_decay_factor: 0.5", "does not work with MDL"),
        ("adagrad {}", "multiply_weight_decay_factor_by_learning_rate: true", "no effect without weight_decay_factor"),
        ("ftrl { lr_power: -0.5 }", "", "forgets the first weights"),
        ("ftrl { allow_zero_accumulator: true }", "", "allow_zero_accumulator is deprecated"),
        ("ftrl {}", "", "lr_power is 0"),
        ("adam { epsilon: 1 }", "", "corrects no bias"),
        ("adam {}", "", "divides 0 by 0"),
        ("adagrad_momentum { beta2: 1 }", "", "exponent is 0"),
        ("frequency_estimator { tau: 0.5 }", "", "this one is constant"),
        ("frequency_aware_adagrad {}", "", "no step_counter is set"),
        ("adagrad {}", "gradient_accumulation_status: DISABLED", "runs for every lookup"),
        (
            "adagrad {}",
            "gradient_accumulation_status: DISABLED gradient_clipping_limits { lower { value: -1 } }",
            "clipped one by one",
        ),
        ("adagrad {}", "hot_id_replication_configuration { status: ENABLED }", "hot-id replication is experimental"),
        ("adagrad {}", "hot_id_replication_configuration { status: MIGRATION_ONLY }", "hot-id replication"),
        ("adagrad {}", "low_dimensional_packing_status: ENABLED", "changes no number"),
        ("adagrad {}", "simulated_quantization { num_buckets: 4 }", "it is not enabled"),
        ("user_defined_program {}", "", "compiled programs are not run here"),
    ],
)
def test_what_does_not_do_what_it_seems_to(optimizer: str, more: str, text: str) -> None:
    found = notes(config(optimizer, more=more))
    assert {(n.kind, n.about) for n in found} == {("notice", "table a")}
    assert any(text in n.text for n in found)


def test_a_rate_of_0_is_told_and_a_dynamic_one_may_correct_bias() -> None:
    assert "the learning rate is 0" in [n.text for n in notes(config(rate="constant: 0"))]
    assert notes(config("adam { epsilon: 1 }", "dynamic {}")) == []
    assert notes(config("frequency_estimator { tau: 0.5 }", "dynamic {}")) == []


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ("mode: UNSPECIFIED", "mode must be"),
        ("num_hosts: 9", "none may be empty"),
        ("feature_descriptor { table_id: 3 input_shape: 1 }", "reads table 3"),
        ('table_descriptor { name: "a" vocabulary_size: 8 dimension: 1 }', "two tables have the name 'a'"),
        ("spmd_sharding { enabled: true }", "num_cores_per_replica must be at least 1"),
    ],
)
def test_what_no_plan_can_be_made_of_is_refused_here_too(change: str, text: str) -> None:
    message = text_format.Merge(change, config())
    assert any(n.kind == "refused" and text in n.text for n in notes(message))
    with pytest.raises(ValueError, match=text):
        plan_of(message)


@pytest.mark.parametrize(
    ("optimizer", "rate", "more", "text"),
    [
        ("", "constant: 1", "", "name no optimizer"),
        ("adagrad {}", "", "", "no learning rate is set"),
        ("adagrad {}", "dynamic { tag: 1 }", "", "learning rate tag 0 not found"),
        ("adagrad {}", "constant: 1", "clipping_limits { lower { value: 1 } upper {} }", "1.0 above 0.0"),
        ("adagrad {}", "constant: 1", "simulated_quantization { enabled: true }", "at least 2 buckets"),
        (
            "lion { use_non_lazy_lion: true }",
            "constant: 1",
            "gradient_accumulation_status: DISABLED",
            "accumulate=True",
        ),
    ],
)
def test_tables_that_are_refused(optimizer: str, rate: str, more: str, text: str) -> None:
    message = config(optimizer, rate, more)
    assert any(n.kind == "refused" and text in n.text for n in notes(message))
    with pytest.raises(ValueError, match=text):
        plan_of(message)


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ("num_hosts: 0", "num_hosts is not set; 1 is assumed"),
        ("num_tensor_cores: 0", "num_tensor_cores is not set; 1 is assumed"),
        ("mode: INFERENCE pipeline_execution_with_tensor_core: true", "effect in training only"),
        ("feature_descriptor { input_shape: 1 }", "batch_size_per_tensor_core has no effect"),
        ("feature_descriptor { input_shape: 1 }", "num_features has no effect"),
    ],
)
def test_what_is_assumed_or_without_effect(change: str, text: str) -> None:
    assert any(n.kind == "notice" and text in n.text for n in notes(text_format.Merge(change, config())))


def test_tables_without_readers_and_shared_tags() -> None:
    message = config(rate="dynamic {}")
    message.table_descriptor.append(message.table_descriptor[0])
    message.table_descriptor[1].name = ""
    assert "learning rate tag 0 is shared: one number for the tables a, table_1" in [n.text for n in notes(message)]
    message.feature_descriptor.add(input_shape=[1])
    assert ("table table_1", "no feature reads this table") in [(n.about, n.text) for n in notes(message)]
    message.ClearField("feature_descriptor")
    message.table_descriptor[1].num_features = 0
    assert any("has no output" in n.text for n in notes(message))


def test_fields_that_are_not_known_are_told_with_their_place() -> None:
    data = config().SerializeToString() + bytes.fromhex("4001a00601") + bytes.fromhex("0a04fa010161")
    told = [str(n) for n in notes(TPUEmbeddingConfiguration.FromString(data)) if "not known" in n.text]
    assert told == [
        "notice: configuration: fields 8, 100 are not known here; they are kept and have no effect",
        "notice: table_descriptor[1]: field 31 is not known here; it is kept and has no effect",
    ]


def test_the_inside_of_a_compiled_program_is_nobodys_business() -> None:
    message = config("user_defined_program { program {} }")
    program = message.table_descriptor[0].optimization_parameters.user_defined_program.program
    program.MergeFromString(bytes.fromhex("0801"))
    assert not any("not known" in n.text for n in notes(message))


def is_refused(message: TPUEmbeddingConfiguration) -> bool:
    try:
        plan_of(message)
    except ValueError:
        return True
    return False


@given(configurations())
def test_refused_is_what_no_plan_can_be_made_of(message: TPUEmbeddingConfiguration) -> None:
    assert is_refused(message) == any(n.kind == "refused" for n in notes(message))


@given(arguments(TPUEmbeddingConfiguration.DESCRIPTOR))
def test_whatever_a_message_holds_there_is_a_plan_or_a_value_error(fields: dict[str, Any]) -> None:
    message = TPUEmbeddingConfiguration(**fields)
    told = any(n.kind == "refused" for n in notes(message))
    assert is_refused(message) >= told, "what is refused is refused"
    compiled = any(
        t.optimization_parameters.WhichOneof("parameters") == "user_defined_program" for t in message.table_descriptor
    )
    assert is_refused(message) == told or compiled
