"""A configuration as text and as HTML."""

from html.parser import HTMLParser

import pytest
from google.protobuf import text_format
from hypothesis import given
from hypothesis import strategies as st

from gradlab.tpu import TPUEmbeddingConfiguration, describe
from gradlab.tpu.config.describe import Section

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
    assert {tag for tag, _ in cells.found} == {"div", "table", "caption", "thead", "tbody", "tr", "th", "td"}
    assert "table <user>" in cells.text, "a name is text, not a tag"


@pytest.mark.parametrize("text", ["", "feature_descriptor { table_id: 7 }", "num_hosts: -1", "sharding_strategy: MOD"])
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
