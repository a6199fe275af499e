"""The limits of stacks by name, and the most that batches asked of a partition.

TensorFlow compiles a program for limits that it looks up by the name of a stack, and adapts them to
the statistics that batches leave behind. Here the limits are those that `set_limits` sets, 256 and
256 otherwise, and statistics are kept to be read: nothing adapts to them.
"""

from __future__ import annotations

from .partitions import Limits

_limits: dict[str, Limits] = {}
_statistics: dict[tuple[str, str], Limits] = {}


def set_limits(table_name: str, limits: Limits | None) -> None:
    """Set the limits by which operations split the batches of a stack; None is the default again.

    Not in TensorFlow, where they come from the compiler.

    >>> set_limits("t", Limits(max_ids=8))
    >>> limits_of("t")
    Limits(max_ids=8, max_unique_ids=256)
    >>> set_limits("t", None)
    """
    if limits is None:
        _limits.pop(table_name, None)
    else:
        _limits[table_name] = limits


def limits_of(table_name: str) -> Limits:
    """Return the limits of a stack.

    Not in TensorFlow.

    >>> limits_of("a stack without limits of its own")
    Limits(max_ids=256, max_unique_ids=256)
    """
    return _limits.get(table_name, Limits())


def store_statistics(program_key: str, table_name: str, seen: Limits) -> None:
    """Keep the most ids, and different ids, that a batch asked of a partition."""
    key = (program_key, table_name)
    before = _statistics.get(key, Limits(0, 0))
    _statistics[key] = Limits(
        max(before.max_ids, seen.max_ids), max(before.max_unique_ids, seen.max_unique_ids)
    )


def statistics_of(program_key: str, table_name: str) -> Limits:
    """Return the most ids, and different ids, that any batch asked of a partition.

    Not in TensorFlow.

    >>> statistics_of("no program", "t")
    Limits(max_ids=0, max_unique_ids=0)
    """
    return _statistics.get((program_key, table_name), Limits(0, 0))
