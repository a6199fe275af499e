"""A configuration as text and as HTML."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import Any

import pytest
from google.protobuf import text_format
from hypothesis import given
from hypothesis import strategies as st

from gradlab.tpu import TPUEmbeddingConfiguration, describe, plan_of
from gradlab.tpu.engine.describe import Section, notes
from tests.tpu.engine.messages import arguments, configurations

CONFIG = """mode: TRAINING num_hosts: 3 num_tensor_cores: 1
  table_descriptor { name: "<user>" vocabulary_size: 8 dimension: 4
    optimization_parameters { adam { beta1: 0.9 } learning_rate { dynamic { tag: 0 } }
      clipping_limits { lower { value: 0 } } } }
  table_descriptor { vocabulary_size: 9 dimension: 2
    optimization_parameters { adagrad {} learning_rate { constant: 0.25 } } }
  feature_descriptor { name: "f" table_id: 1 input_shape: 3 input_shape: 5 }"""


def config() -> TPUEmbeddingConfiguration:
    return text_format.Parse(CONFIG, TPUEmbeddingConfiguration())


def rows(title: str) -> list[tuple[str, ...]]:
    return [row for s in describe(config()).sections if s.title == title for row in s.rows]


def test_tables_with_rows_of_each_host() -> None:
    assert rows("Tables") == [
        ("table <user>", "8 x 4", "3 to 2", "adam", "tag 0"),
        ("table table_1", "9 x 2", "3", "adagrad", "0.25"),
    ]


def test_features_with_what_they_read() -> None:
    assert rows("Features") == [("f", "table table_1", "3 x 5", "3 x 5 x 2")]


def test_every_field_of_an_optimizer_set_or_not() -> None:
    found = {row[1]: row[2:] for row in rows("Optimizers") if row[0] == "table <user>"}
    assert found["adam.beta1"] == ("0.9", "set")
    assert found["adam.epsilon"] == ("0", "default")
    assert found["learning_rate.dynamic.tag"] == ("0", "default")
    assert found["clipping_limits.lower"] == ("0", "set"), "a limit of 0 is a limit"
    assert found["clipping_limits.upper"] == ("-", "default")
    assert found["gradient_accumulation_status"] == ("UNSPECIFIED, which means ENABLED", "default")
    assert "learning_rate.constant" not in found and "adagrad" not in found
    assert ("table table_1", "adagrad", "no fields", "set") in rows("Optimizers")
    assert ("table table_1", "learning_rate.constant", "0.25", "set") in rows("Optimizers")


def test_a_constant_rate_of_0_is_set() -> None:
    message = config()
    message.table_descriptor[1].optimization_parameters.learning_rate.constant = 0.0
    found = [row for s in describe(message).sections for row in s.rows]
    assert ("table table_1", "learning_rate.constant", "0", "set") in found


def test_text_stands_in_columns() -> None:
    lines = str(Section("T", ("a", "bcd"), (("long", "x"), ("s", "y")))).splitlines()
    assert lines == ["T", "  a     bcd", "  long  x", "  s     y"]


def test_notes_come_with_it() -> None:
    told = describe(config())
    assert ("notice", "table <user>", "no feature reads this table") in told.notes
    assert "no feature reads this table" in str(told) and repr(told) == str(told)


class Cells(HTMLParser):
    """Which tags there are, with their scope; entities are read back."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, str | None]] = []
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs).get("scope")))

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def test_html_has_captions_and_headers_and_no_other_tags() -> None:
    cells = Cells()
    cells.feed(describe(config())._repr_html_())
    tables = sum(tag == "table" for tag, _ in cells.found)
    assert tables == sum(tag == "caption" for tag, _ in cells.found) == 5
    assert {scope for tag, scope in cells.found if tag == "th"} == {"row", "col"}
    assert {tag for tag, _ in cells.found} == {
        "div",
        "table",
        "caption",
        "thead",
        "tbody",
        "tr",
        "th",
        "td",
    }
    assert "table <user>" in cells.text, "a name is text, not a tag"


@pytest.mark.parametrize(
    "text", ["", "feature_descriptor { table_id: 7 }", "num_hosts: -1", "sharding_strategy: MOD"]
)
def test_whatever_is_wrong_is_described_all_the_same(text: str) -> None:
    message = text_format.Merge(text, config())
    assert "Tables" in str(describe(message))


def test_bytes_that_are_no_configuration_are_refused() -> None:
    with pytest.raises(ValueError, match="byte 0"):
        describe(b"\x0a\x05abc")


@given(st.binary(max_size=60))
def test_any_message_can_be_described(data: bytes) -> None:
    try:
        message = TPUEmbeddingConfiguration.FromString(data)
    except Exception:
        return
    assert describe(message)._repr_html_()


QUIET = """mode: TRAINING batch_size_per_tensor_core: 3 num_hosts: 1 num_tensor_cores: 1
  table_descriptor { name: "a" vocabulary_size: 8 dimension: 1 num_features: 2
    optimization_parameters { OPTIMIZER learning_rate { RATE } PARAMETERS } }"""


def quiet(
    optimizer: str = "adagrad {}", rate: str = "constant: 0.5", more: str = ""
) -> TPUEmbeddingConfiguration:
    text = QUIET.replace("OPTIMIZER", optimizer).replace("RATE", rate).replace("PARAMETERS", more)
    return text_format.Parse(text, TPUEmbeddingConfiguration())


def test_a_plain_configuration_has_no_notes() -> None:
    assert notes(quiet()) == []


@pytest.mark.parametrize(
    ("optimizer", "more", "text"),
    [
        (
            "stochastic_gradient_descent {}",
            "weight_decay_factor: 0.5",
            "does not behave as expected",
        ),
        ("mdl_adagrad_light {}", "weight_decay_factor: 0.5", "does not work with MDL"),
        (
            "adagrad {}",
            "multiply_weight_decay_factor_by_learning_rate: true",
            "no effect without weight_decay_factor",
        ),
        ("ftrl { lr_power: -0.5 }", "", "a row keeps 1 - sqrt(a0 / a1) of them"),
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
            (
                "gradient_accumulation_status: DISABLED gradient_clipping_limits "
                "{ lower { value: -1 } }"
            ),
            "clipped one by one",
        ),
        (
            "adagrad {}",
            "hot_id_replication_configuration { status: ENABLED }",
            "hot-id replication is experimental",
        ),
        (
            "adagrad {}",
            "hot_id_replication_configuration { status: MIGRATION_ONLY }",
            "hot-id replication",
        ),
        ("adagrad {}", "low_dimensional_packing_status: ENABLED", "changes no number"),
        ("adagrad {}", "simulated_quantization { num_buckets: 4 }", "it is not enabled"),
        ("user_defined_program {}", "", "compiled programs are not run here"),
    ],
)
def test_what_does_not_do_what_it_seems_to(optimizer: str, more: str, text: str) -> None:
    found = notes(quiet(optimizer, more=more))
    assert {(n.kind, n.about) for n in found} == {("notice", "table a")}
    assert any(text in n.text for n in found)


def test_a_rate_of_0_is_told_and_a_dynamic_one_may_correct_bias() -> None:
    assert "the learning rate is 0" in [n.text for n in notes(quiet(rate="constant: 0"))]
    assert notes(quiet("adam { epsilon: 1 }", "dynamic {}")) == []
    assert notes(quiet("frequency_estimator { tau: 0.5 }", "dynamic {}")) == []


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ("mode: UNSPECIFIED", "mode must be"),
        ("num_hosts: 9", "none may be empty"),
        ("feature_descriptor { table_id: 3 input_shape: 1 }", "reads table 3"),
        (
            'table_descriptor { name: "a" vocabulary_size: 8 dimension: 1 }',
            "two tables have the name 'a'",
        ),
        ("spmd_sharding { enabled: true }", "num_cores_per_replica must be at least 1"),
    ],
)
def test_what_no_plan_can_be_made_of_is_refused_here_too(change: str, text: str) -> None:
    message = text_format.Merge(change, quiet())
    assert any(n.kind == "refused" and text in n.text for n in notes(message))
    with pytest.raises(ValueError, match=text):
        plan_of(message)


@pytest.mark.parametrize(
    ("optimizer", "rate", "more", "text"),
    [
        ("", "constant: 1", "", "name no optimizer"),
        ("adagrad {}", "", "", "no learning rate is set"),
        ("adagrad {}", "dynamic { tag: 1 }", "", "learning rate tag 0 not found"),
        (
            "adagrad {}",
            "constant: 1",
            "clipping_limits { lower { value: 1 } upper {} }",
            "1.0 above 0.0",
        ),
        (
            "adagrad {}",
            "constant: 1",
            "simulated_quantization { enabled: true }",
            "at least 2 buckets",
        ),
        (
            "lion { use_non_lazy_lion: true }",
            "constant: 1",
            "gradient_accumulation_status: DISABLED",
            "accumulate=True",
        ),
    ],
)
def test_tables_that_are_refused(optimizer: str, rate: str, more: str, text: str) -> None:
    message = quiet(optimizer, rate, more)
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
    assert any(
        n.kind == "notice" and text in n.text for n in notes(text_format.Merge(change, quiet()))
    )


def test_tables_without_readers_and_shared_tags() -> None:
    message = quiet(rate="dynamic {}")
    message.table_descriptor.append(message.table_descriptor[0])
    message.table_descriptor[1].name = ""
    assert "learning rate tag 0 is shared: one number for the tables a, table_1" in [
        n.text for n in notes(message)
    ]
    message.feature_descriptor.add(input_shape=[1])
    assert ("table table_1", "no feature reads this table") in [
        (n.about, n.text) for n in notes(message)
    ]
    message.ClearField("feature_descriptor")
    message.table_descriptor[1].num_features = 0
    assert any("has no output" in n.text for n in notes(message))


def test_fields_that_are_not_known_are_told_with_their_place() -> None:
    data = quiet().SerializeToString() + bytes.fromhex("4001a00601") + bytes.fromhex("0a04fa010161")
    told = [
        str(n) for n in notes(TPUEmbeddingConfiguration.FromString(data)) if "not known" in n.text
    ]
    assert told == [
        "notice: configuration: fields 8, 100 are not known here; they are kept and have no effect",
        "notice: table_descriptor[1]: field 31 is not known here; it is kept and has no effect",
    ]


def test_the_inside_of_a_compiled_program_is_nobodys_business() -> None:
    message = quiet("user_defined_program { program {} }")
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


@pytest.mark.exhaustive
@given(arguments(TPUEmbeddingConfiguration.DESCRIPTOR))
def test_whatever_a_message_holds_there_is_a_plan_or_a_value_error(fields: dict[str, Any]) -> None:
    message = TPUEmbeddingConfiguration(**fields)
    told = any(n.kind == "refused" for n in notes(message))
    assert is_refused(message) >= told, "what is refused is refused"
    compiled = any(
        t.optimization_parameters.WhichOneof("parameters") == "user_defined_program"
        for t in message.table_descriptor
    )
    assert is_refused(message) == told or compiled
