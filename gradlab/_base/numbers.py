"""Numbers as text: the one place that formats them for labs, reports and figures.

In American style, 12,346 and 10%; a minus that stands alone is a true one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

# Outside these limits numbers are written with an exponent.
_LARGEST = 1e7
_SMALLEST = 1e-4


def number(x: float, digits: int = 3) -> str:
    """Write a number with `digits` significant digits, or all those before the decimal point.

    >>> number(0.12345), number(999.6), number(12345.6), number(0.5), number(-3.0)
    ('0.123', '1,000', '12,346', '0.5', '-3')
    >>> number(1e-7), number(2.5e9), number(float("inf")), number(float("nan"))
    ('1e-07', '2.5e+09', 'inf', 'nan')
    """
    rounded = float(f"{x:.{digits - 1}e}") if math.isfinite(x) else x
    if rounded == 0 or not _SMALLEST <= abs(rounded) < _LARGEST:
        return f"{x:.{digits}g}"
    if abs(rounded) >= 10.0 ** (digits - 1):
        return f"{x:,.0f}"
    return f"{rounded:.{digits}g}"


MOST_DIGITS = 6  # of a number that a reader may type


def in_full(x: float) -> str:
    """Write a number that readers may type, with up to six digits where `number` would round it.

    >>> in_full(25.3), in_full(1.026), in_full(98765.0), in_full(1 / 3)
    ('25.3', '1.026', '98,765', '0.333333')
    """
    short = number(x)
    return short if float(short.replace(",", "")) == x else f"{x:,.{MOST_DIGITS}g}"


def percent(share: float, digits: int = 0) -> str:
    """Write a share in percent.

    >>> percent(0.256), percent(0.256, 1), percent(12.5)
    ('26%', '25.6%', '1,250%')
    """
    return f"{100 * share:,.{digits}f}%"


def percent_of_many(share: float) -> str:
    """Write a share in percent so that only exactly 0 and 1 look like 0% and 100%.

    >>> percent_of_many(0.1), percent_of_many(0.00001), percent_of_many(0.99999), percent_of_many(1.0)
    ('10.0%', 'under 0.1%', 'over 99.9%', '100%')
    """
    if share in (0.0, 1.0):
        return percent(share)
    if share < 0.0005:
        return "under 0.1%"
    if share > 0.9995:
        return "over 99.9%"
    return percent(share, 1)


def whole_percent(share: float) -> str:
    """Write a share in whole percent, with a digit more where it would look like 0 or 1.

    >>> whole_percent(0.123), whole_percent(0.003), whole_percent(0.9967), whole_percent(1.0)
    ('12%', '0.3%', '99.7%', '100%')
    """
    words = percent(share)
    return percent_of_many(share) if words in ("0%", "100%") else words


def percent_within(share: float, low: float, high: float, digits: int = 1) -> str:
    """Write an estimated share in percent, with its bounds if they differ in the digits shown.

    >>> percent_within(0.035, 0.0341, 0.0359), percent_within(0.035, 0.035, 0.035), percent_within(0.5, 0.496, 0.503, 0)
    ('3.5% (3.4% to 3.6%)', '3.5%', '50%')
    """
    least = percent(low, digits)
    most = percent(high, digits)
    words = percent(share, digits)
    return words if least == most else f"{words} ({least} to {most})"


def percent_of_many_within(share: float, low: float, high: float) -> str:
    """Write an estimated share as `percent_of_many` does, with its bounds if they differ.

    >>> percent_of_many_within(0.0, 0.0, 0.002), percent_of_many_within(0.1, 0.1, 0.1)
    ('0% (0% to 0.2%)', '10.0%')
    """
    least = percent_of_many(low)
    most = percent_of_many(high)
    words = percent_of_many(share)
    return words if least == most else f"{words} ({least} to {most})"


def times_as(ratio: float, quality: str, at_least: bool = False) -> str:
    """Write a ratio in words, to two digits, or without digits above a million.

    With `at_least` the ratio is a lower bound.

    >>> times_as(1.86, "high"), times_as(6813.0, "high"), times_as(3e9, "fast"), times_as(1.03, "fast")
    ('1.9 times as high', '6,800 times as high', 'over a million times as fast', 'about as fast')
    >>> times_as(3e4, "high", at_least=True)
    'over 30,000 times as high'
    """
    rounded = float(f"{ratio:.1e}")
    if rounded == 1:
        return f"about as {quality}"
    words = number(rounded, 2)
    if ratio > 1e6:
        words = "over a million"
    elif at_least:
        words = f"over {words}"
    return f"{words} times as {quality}"


def often(count: int) -> str:
    """Write how often something is done.

    >>> often(1), often(2), often(1200)
    ('once', 'twice', '1,200 times')
    """
    return {1: "once", 2: "twice"}.get(count, f"{count:,} times")


def counted(count: int, noun: str) -> str:
    """Write a count with its noun, in the plural unless it is 1.

    >>> counted(1, "step"), counted(12000, "entry"), counted(0, "worker")
    ('1 step', '12,000 entries', '0 workers')
    """
    return f"{count:,} {noun if count == 1 else _plural(noun)}"


def _plural(noun: str) -> str:
    return f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"


def amount(value: float, noun: str, digits: int = 2) -> str:
    """Write an amount with its noun, in the plural unless the amount rounds to 1.

    >>> amount(0.997, "update"), amount(1.5, "update"), amount(0.0, "update")
    ('1 update', '1.5 updates', '0 updates')
    """
    words = number(value, digits)
    return f"{words} {noun if words == '1' else _plural(noun)}"


def are(count: int) -> str:
    """Return "is" for 1, else "are"."""
    return "is" if count == 1 else "are"


def were(count: int) -> str:
    """Return "was" for 1, else "were"."""
    return "was" if count == 1 else "were"


def listed(names: Sequence[str], most: int = 3) -> str:
    """Write a list of names; of more than `most` the first ones and how many more there are.

    >>> listed(["a", "b"]), listed(["a", "b", "c", "d", "e"]), listed(["a"])
    ('a and b', 'a, b, c and 2 more', 'a')
    """
    if len(names) > most:
        return f"{', '.join(names[:most])} and {len(names) - most:,} more"
    if len(names) > 1:
        return f"{', '.join(names[:-1])} and {names[-1]}"
    return "".join(names)


def decimals(value: float, digits: int = 2) -> str:
    """Write a number with `digits` digits after the point and a true minus; exactly 0 is "0".

    >>> decimals(-0.5), decimals(0.0), decimals(0.001), decimals(0.26, 1)
    ('−0.50', '0', '0.00', '0.3')
    """
    words = f"{value:.{digits}f}" if value else "0"
    return signed(words) if float(words) else words.lstrip("-")


def signed(words: str) -> str:
    """Return the words with a true minus in place of each hyphen.

    >>> signed("-0.5")
    '−0.5'
    """
    return words.replace("-", "−")
