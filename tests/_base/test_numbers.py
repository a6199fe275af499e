"""Numbers as sentences say them."""

import pytest

from gradlab._base.numbers import percent


@pytest.mark.parametrize(
    ("share", "digits", "said"),
    [
        (0.0, 0, "0 %"),
        (1.0, 1, "100.0 %"),
        (0.256, 0, "26 %"),
        (0.256, 1, "25.6 %"),
        (-0.5, 0, "-50 %"),
        (float("nan"), 0, "nan %"),
    ],
)
def test_a_share_in_percent(share: float, digits: int, said: str) -> None:
    assert percent(share, digits) == said
