"""What TPUEmbeddingV2 refuses, and what it never reads."""

import pytest

from gradlab import rules
from gradlab.errors import EmbeddingWarning
from gradlab.tpu import Plan, Table
from gradlab.tpu.sparsecore import as_v2, unread_by_v2


def test_settings_that_are_not_read_are_told_and_taken_away() -> None:
    table = Table(
        "t", 9, 1, gradient_limits=(-1.0, 1.0), weight_limits=(0.0, None), accumulate=False
    )
    plan = Plan((table, Table("u", 9, 1)), ())
    with pytest.warns(EmbeddingWarning) as warned:
        seen = as_v2(plan)
    assert seen.tables == (Table("t", 9, 1), Table("u", 9, 1))
    assert unread_by_v2(plan) == (
        "gradient_limits=(-1.0, 1.0) of table 't'",
        "weight_limits=(0.0, None) of table 't'",
        "accumulate=False of table 't'",
    )
    assert [str(w.message) for w in warned] == [
        f"TPUEmbeddingV2 does not read {x}" for x in unread_by_v2(plan)
    ]


def test_rules_become_lazy() -> None:
    with pytest.warns(EmbeddingWarning, match="does not read lazy=False of Adam of table 't'"):
        seen = as_v2(Plan((Table("t", 9, 1, rules.Adam(lazy=False)),), ()))
    assert seen.tables[0].rule == rules.Adam(lazy=True)


def test_weight_decay_is_refused() -> None:
    with pytest.raises(
        NotImplementedError, match=r"table 't': TPUEmbeddingV2 has no weight decay, got 0\.5"
    ):
        as_v2(Plan((Table("t", 9, 1, weight_decay=0.5),), ()))


def test_rules_that_it_does_not_have_are_refused() -> None:
    with pytest.raises(
        ValueError, match=r"table 't': TPUEmbeddingV2 has StochasticGradientDescent.*; got Lion"
    ):
        as_v2(Plan((Table("t", 9, 1, rules.Lion()),), ()))
