"""What a verdict says; what it is reached from is in test_drop_stale.py."""

import pytest

from gradlab.train.staleness_check import Verdict


@pytest.mark.parametrize(
    ("verdict", "staleness", "comparison"),
    [
        (Verdict(True, 2, 3, 1), 1, "1 <= 1"),
        (Verdict(False, 0, 3, 1), 3, "3 > 1"),
        (Verdict(True, 9, 3, -6), -6, "-6 <= -6"),
    ],
)
def test_staleness_and_comparison(verdict: Verdict, staleness: int, comparison: str) -> None:
    assert (verdict.staleness, verdict.comparison) == (staleness, comparison)
