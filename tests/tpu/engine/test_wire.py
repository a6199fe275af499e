"""Bytes: those of a message come back, all others are refused where they go wrong."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradlab.tpu.engine.proto import TPUEmbeddingConfiguration
from gradlab.tpu.engine.wire import read


def config() -> TPUEmbeddingConfiguration:
    made = TPUEmbeddingConfiguration(mode="TRAINING", num_hosts=2)
    for name in ("a", "b"):
        t = made.table_descriptor.add(name=name, vocabulary_size=300, dimension=4)
        t.optimization_parameters.adam.beta1 = 0.5
        t.optimization_parameters.clipping_limits.lower.value = -1
        t.optimization_parameters.learning_rate.dynamic.tag = 1
    made.feature_descriptor.add(name="f", table_id=1, input_shape=[3, 400])
    return made


GOOD = config().SerializeToString()


@pytest.mark.parametrize(
    ("hexes", "why"),
    [
        (
            "0a0561",
            r"byte 0, in the message itself: table_descriptor\[0\] needs 5 bytes, and there are 1",
        ),
        ("0a0012020a", r"byte 2, in the message itself: mode needs 2 bytes, and there are 1"),
        (
            "0a040a0261620a030a0561",
            r"byte 8, in table_descriptor\[1\]: name needs 5 bytes, and there are 1",
        ),
        ("0a040a02ff62", r"byte 4, in table_descriptor\[0\]\.name: a text that is not UTF-8"),
        ("10", r"byte 1, in the message itself: mode breaks off"),
        ("1080", r"byte 1, in the message itself: mode breaks off"),
        (
            "10" + "ff" * 11,
            r"byte 1, in the message itself: mode is a number of more than 10 bytes",
        ),
        ("ff", r"byte 0, in the message itself: the key of a field breaks off"),
        (
            "8a808080808000",
            r"byte 0, in the message itself: the key of a field is a number of more than 5 bytes",
        ),
        ("0001", r"byte 0, in the message itself: there is no field 0"),
        ("f6", r"byte 0, in the message itself: the key of a field breaks off"),
        ("16", r"byte 0, in the message itself: mode is of kind 6, which does not exist"),
        ("a70600", r"byte 0, in the message itself: field 100 is of kind 7, which does not exist"),
        ("a306", r"byte 2, in field 100: group 100 does not end"),
        ("a306ac06", r"byte 2, in field 100: the end of a group 101 that did not begin"),
        ("a406", r"byte 0, in the message itself: the end of a group 100 that did not begin"),
        (
            "52031a0180",
            r"byte 4, in feature_descriptor\[0\]\.input_shape\[0\]: a number breaks off",
        ),
        ("a506000000", r"byte 0, in the message itself: field 100 needs 4 bytes, and there are 3"),
        ("a10600", r"byte 0, in the message itself: field 100 needs 8 bytes, and there are 1"),
        ("a306" * 300, r"messages within messages, more than 100"),
    ],
)
def test_a_fault_is_named_with_its_place(hexes: str, why: str) -> None:
    with pytest.raises(ValueError, match=f"^not a TPUEmbeddingConfiguration: .*{why}"):
        read(TPUEmbeddingConfiguration, bytes.fromhex(hexes))


@pytest.mark.parametrize("hexes", ["4001", "a306a406", "f8070a", "a506000000ff", "a306f80701a406"])
def test_fields_that_are_not_known_are_read_over(hexes: str) -> None:
    data = bytes.fromhex(hexes)
    assert read(TPUEmbeddingConfiguration, data).SerializeToString() == data


def check(data: bytes) -> None:
    try:
        found = read(TPUEmbeddingConfiguration, data)
    except ValueError as error:
        told = str(error)
        assert "byte " in told, "the walk finds what protobuf refuses"
        return
    once = found.SerializeToString()
    again = read(TPUEmbeddingConfiguration, once)
    assert again.SerializeToString() == once


@given(st.binary(max_size=60))
def test_any_bytes_are_a_message_or_a_value_error(data: bytes) -> None:
    check(data)


@given(
    st.lists(st.tuples(st.integers(0, len(GOOD) - 1), st.integers(0, 255)), max_size=4),
    st.integers(0, len(GOOD)),
)
def test_a_message_with_other_bytes_in_it_too(changes: list[tuple[int, int]], length: int) -> None:
    data = bytearray(GOOD)
    for at, byte in changes:
        data[at] = byte
    check(bytes(data[:length]))
    check(bytes(data))


@pytest.mark.parametrize("length", range(len(GOOD)))
def test_a_message_cut_short_is_refused_or_a_shorter_message(length: int) -> None:
    check(GOOD[:length])
