"""Nested features: in which order they come, and what does not fit them."""

from collections import OrderedDict, namedtuple

import pytest

from gradlab.tpu.experimental.embedding.structure import leaves, leaves_like, packed_like

Pair = namedtuple("Pair", "first second")
NESTED = OrderedDict(z=[1, (2, 3)], a=Pair(4, {"k": 5}))


def test_dicts_come_by_their_sorted_keys() -> None:
    assert leaves(NESTED) == [
        ("a/first", 4),
        ("a/second/k", 5),
        ("z/0", 1),
        ("z/1/0", 2),
        ("z/1/1", 3),
    ]
    assert leaves(7) == [("", 7)]


def test_packing_undoes_flattening_with_all_containers_kept() -> None:
    packed = packed_like(NESTED, [leaf for _, leaf in leaves(NESTED)])
    assert packed == NESTED and type(packed) is OrderedDict and list(packed) == ["z", "a"]
    assert type(packed["a"]) is Pair and type(packed["z"][1]) is tuple


def test_what_stands_at_an_end_may_be_nested() -> None:
    assert leaves_like({"a": 0, "b": 0}, {"b": [[1], []], "a": ([0], [1])}, "features") == [
        ([0], [1]),
        [[1], []],
    ]


@pytest.mark.parametrize(
    ("given", "error", "told"),
    [
        ([1, 2], TypeError, "features must be a dict like the features, got list"),
        (
            {"a": [1]},
            ValueError,
            r"features must have the entries \['a', 'b'\] like the features, got \['a'\]",
        ),
        (
            {"a": (1,), "b": 2},
            TypeError,
            "features at 'a' must be a list like the features, got tuple",
        ),
        ({"a": [1, 2], "b": 2}, ValueError, "features at 'a' must have"),
    ],
)
def test_another_structure_is_refused_with_its_place(
    given: object, error: type[Exception], told: str
) -> None:
    with pytest.raises(error, match=told):
        leaves_like({"a": [0], "b": 0}, given, "features")
