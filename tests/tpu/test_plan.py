"""Tables, features and tags that fit together, and what they say of shapes."""

import dataclasses
import sys
from typing import Any, cast

import pytest

from gradlab.rules import Adam, Lion
from gradlab.tpu import Feature, Plan, Policy, Table, Tag

TABLES = (Table("a", 10, 4), Table("b", 5, 2))


def test_shapes_hold_all_cores_one_after_another() -> None:
    features = (Feature("x", 1, (3,)), Feature("y", 0, (3, 2)), Feature("z", 1, (3, 7), 7))
    plan = Plan(TABLES, features, cores=2)
    assert [plan.activation_shape(k) for k in range(3)] == [(6, 2), (6, 2, 4), (6, 7, 2)]
    assert (plan.features_of(1), plan.samples_of(1), plan.features_of(0), plan.samples_of(0)) == (
        (0, 2),
        24,
        (1,),
        6,
    )


def test_tags_are_counted_once() -> None:
    tables = (
        Table("a", 1, 1, learning_rate=Tag(1)),
        Table("b", 1, 1, learning_rate=Tag(0), step_counter=Tag(1)),
    )
    assert Plan(tables, ()).tag_count == 2
    assert Plan(TABLES, ()).tag_count == 0


def test_plans_are_values() -> None:
    """So that one compiled program serves all equal ones."""
    assert hash(Plan(TABLES, (Feature("x", 1, (3,)),))) == hash(
        Plan(TABLES, (Feature("x", 1, (3,)),))
    )


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Table("t", 0, 4), "the rows of table 't' must be an integer of at least 1, got 0"),
        (
            lambda: Table("t", 4, 0),
            "the width of table 't' must be an integer of at least 1, got 0",
        ),
        (
            lambda: Table("t", 2**31, 1),
            "table 't' can have at most 2147483647 rows, got 2147483648",
        ),
        (
            lambda: Table("t", 4, 1, combiner=cast(Any, "avg")),
            "combiner of table 't' must be .* 'sqrtn'; got 'avg'",
        ),
        (
            lambda: Table("t", 4, 1, Adam(lazy=False), accumulate=False),
            "table 't': a rule that moves every row",
        ),
        (lambda: Table("t", 4, 1, Lion(lazy=False), accumulate=False), "needs accumulate=True"),
        (
            lambda: Feature("x", 0, ()),
            r"shape of feature 'x' must have at least one size, .*; got \(\)",
        ),
        (
            lambda: Plan(TABLES, (Feature("x", 2, (3,)),)),
            "feature 'x' reads table 2, but there are 2",
        ),
        (
            lambda: Plan(TABLES, (Feature("x", -1, (3,)),)),
            "the table of feature 'x' must be an integer of at least 0",
        ),
        (lambda: Plan(TABLES, (), cores=0), "cores must be an integer of at least 1, got 0"),
        (
            lambda: Plan((Table("t", 1, 1, learning_rate=Tag(1)),), ()),
            r"without gaps; the tables use \[1\]",
        ),
    ],
)
def test_what_does_not_fit_is_refused(make: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()


def test_a_table_beyond_the_addresses_of_32_bits_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "maxsize", 2**31 - 1)
    assert Table("t", 2**23 - 1, 64).rows == 2**23 - 1
    with pytest.raises(
        ValueError,
        match=r"8388608 x 64 float32 takes 2147483648 bytes, .* 32 bits.* most 2147483647",
    ):
        Table("t", 2**23, 64)


def test_a_policy_is_no_word() -> None:
    with pytest.raises(TypeError, match=r"policy must be a gl\.tpu\.Policy, got str"):
        Plan(TABLES, (), policy=cast(Any, "drop"))


@pytest.mark.parametrize("name", [f.name for f in dataclasses.fields(Policy)])
def test_a_choice_that_is_none_is_refused(name: str) -> None:
    given: Any = {name: "perhaps"}
    with pytest.raises(
        ValueError, match=rf"{name} must be one of .*{getattr(Policy(), name)}.*; got 'perhaps'"
    ):
        Policy(**given)


def test_a_policy_is_a_value() -> None:
    assert Policy() == Policy() != Policy(out_of_range="drop")
    assert len({Policy(), Policy()}) == 1


@pytest.mark.parametrize("name", [f.name for f in dataclasses.fields(Policy)])
def test_every_choice_is_explained(name: str) -> None:
    assert f"{name}: " in (Policy.__doc__ or "")
