"""Numbers beside controls look like those in sentences and pictures."""

from typing import Any

import pytest

from gradlab._base.numbers import in_full, signed

pytestmark = pytest.mark.browser


def test_large_numbers_have_commas_and_negative_ones_a_true_minus(page: Any) -> None:
    values = [0.25, 3, 999, 1000, 12346, 1234.5, 1000000, -3, -12346, 1e22]
    seen = page.evaluate("(values) => values.map((value) => module.plain(String(value)))", values)
    assert seen[:-1] == [signed(in_full(value)) for value in values[:-1]]
    assert seen[-1] == "1e+22"
