"""Numbers in cells."""

from gradlab.figures._numbers import written


def test_numbers_have_a_true_minus_and_only_an_exact_zero_is_short() -> None:
    assert [written(x) for x in (-1.234, 0.0, -0.0, 0.001, -0.001)] == ["−1.23", "0", "0", "0.00", "0.00"]
    assert written(-0.26, 1) == "−0.3"
