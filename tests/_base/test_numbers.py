"""Numbers as sentences say them."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradlab._base.numbers import (
    counted,
    decimals,
    listed,
    number,
    percent,
    percent_of_many,
    signed,
)


@pytest.mark.parametrize(
    ("share", "digits", "said"),
    [
        (0.0, 0, "0%"),
        (1.0, 1, "100.0%"),
        (0.256, 0, "26%"),
        (0.256, 1, "25.6%"),
        (-0.5, 0, "-50%"),
        (float("nan"), 0, "nan%"),
    ],
)
def test_a_share_in_percent(share: float, digits: int, said: str) -> None:
    assert percent(share, digits) == said


@pytest.mark.parametrize(
    ("share", "said"), [(0.0004, "under 0.1%"), (0.9996, "over 99.9%"), (0.0006, "0.1%")]
)
def test_a_share_that_is_not_quite_all_does_not_look_like_it(share: float, said: str) -> None:
    assert percent_of_many(share) == said


@pytest.mark.parametrize(
    ("x", "said"),
    [
        (999.4, "999"),
        (999.6, "1,000"),
        (99.96, "100"),
        (9.996, "10"),
        (0.0001, "0.0001"),
        (9_994_000, "9,994,000"),
    ],
)
def test_no_exponent_where_none_is_needed(x: float, said: str) -> None:
    assert number(x) == said
    assert number(-x) == f"-{said}"


@given(st.floats(1e-12, 1e12))
def test_a_number_reads_back_to_three_digits(x: float) -> None:
    assert math.isclose(float(number(x).replace(",", "")), x, rel_tol=5.001e-3)


def test_counts_and_names() -> None:
    assert counted(1, "worker") == "1 worker"
    assert counted(12_346, "entry") == "12,346 entries"
    assert listed([]) == ""
    assert listed(["a", "b", "c"]) == "a, b and c"
    assert signed("-1") == "−1"


def test_decimals_have_a_true_minus_and_only_an_exact_zero_is_short() -> None:
    assert [decimals(x) for x in (-1.234, 0.0, -0.0, 0.001, -0.001)] == [
        "−1.23",
        "0",
        "0",
        "0.00",
        "0.00",
    ]
    assert decimals(-0.26, 1) == "−0.3"
