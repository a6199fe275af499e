"""Limits by name, and statistics that are kept."""

from gradlab.tpu.sparsecore import Limits, limits_of, set_limits, statistics_of
from gradlab.tpu.sparsecore.feedback import store_statistics


def test_limits_are_by_name() -> None:
    set_limits("a", Limits(3, 2))

    assert limits_of("a") == Limits(3, 2)
    assert limits_of("b") == Limits()

    set_limits("a", None)
    assert limits_of("a") == Limits()


def test_statistics_are_the_most_of_all_batches() -> None:
    store_statistics("a program", "t", Limits(3, 2))
    store_statistics("a program", "t", Limits(1, 5))

    assert statistics_of("a program", "t") == Limits(3, 5)
    assert statistics_of("another program", "t") == Limits(0, 0)
