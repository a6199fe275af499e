"""Numbers as readers see them: the one place that says how, for labs, reports, figures and
explanations.

As in the United States: 12,346 and 10%. Where a sign stands alone it is a true minus.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

_LARGEST, _SMALLEST = 1e7, 1e-4  # beyond these with an exponent


def number(x: float, digits: int = 3) -> str:
    """A number of at least so many significant digits, and without an exponent where none is
    needed.

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


MOST_DIGITS = 6  # of a number that is written out


def in_full(x: float) -> str:
    """A number that readers may type: with all its digits, up to six, where `number` would round
    it.

    >>> in_full(25.3), in_full(1.026), in_full(98765.0), in_full(1 / 3)
    ('25.3', '1.026', '98,765', '0.333333')
    """
    short = number(x)
    return short if float(short.replace(",", "")) == x else f"{x:,.{MOST_DIGITS}g}"


def percent(share: float, digits: int = 0) -> str:
    """A share in percent.

    >>> percent(0.256), percent(0.256, 1), percent(12.5)
    ('26%', '25.6%', '1,250%')
    """
    return f"{100 * share:,.{digits}f}%"


def percent_of_many(share: float) -> str:
    """A share in percent; what is not quite 0 or 1 does not look like it.

    >>> percent_of_many(0.1), percent_of_many(0.00001), percent_of_many(0.99999), percent_of_many(1.0)
    ('10.0%', 'under 0.1%', 'over 99.9%', '100%')
    """
    if share in (0.0, 1.0):
        return percent(share)
    return "under 0.1%" if share < 0.0005 else "over 99.9%" if share > 0.9995 else percent(share, 1)


def whole_percent(share: float) -> str:
    """A share in whole percent; what is not quite 0 or 1 does not look like it.

    >>> whole_percent(0.123), whole_percent(0.003), whole_percent(0.9967), whole_percent(1.0)
    ('12%', '0.3%', '99.7%', '100%')
    """
    whole = percent(share)
    return percent_of_many(share) if whole in ("0%", "100%") else whole


def percent_within(share: float, low: float, high: float, digits: int = 1) -> str:
    """A share in percent, with its bounds where it is an estimate and they show.

    >>> percent_within(0.035, 0.0341, 0.0359), percent_within(0.035, 0.035, 0.035), percent_within(0.5, 0.496, 0.503, 0)
    ('3.5% (3.4% to 3.6%)', '3.5%', '50%')
    """
    said, least, most = (percent(x, digits) for x in (share, low, high))
    return said if least == most else f"{said} ({least} to {most})"


def percent_of_many_within(share: float, low: float, high: float) -> str:
    """`percent_of_many`, with its bounds where it is an estimate and they show.

    >>> percent_of_many_within(0.0, 0.0, 0.002), percent_of_many_within(0.1, 0.1, 0.1)
    ('0% (0% to 0.2%)', '10.0%')
    """
    said, least, most = (percent_of_many(x) for x in (share, low, high))
    return said if least == most else f"{said} ({least} to {most})"


def times_as(ratio: float, quality: str, at_least: bool = False) -> str:
    """Write a ratio, or the least that it can be, in words, to two digits; above a million no digit
    is given.

    >>> times_as(1.86, "high"), times_as(6813.0, "high"), times_as(3e9, "fast"), times_as(1.03, "fast")
    ('1.9 times as high', '6,800 times as high', 'over a million times as fast', 'about as fast')
    >>> times_as(3e4, "high", at_least=True)
    'over 30,000 times as high'
    """
    rounded = float(f"{ratio:.1e}")
    if rounded == 1:
        return f"about as {quality}"
    words = "over a million" if ratio > 1e6 else "over " * at_least + number(rounded, 2)
    return f"{words} times as {quality}"


def often(count: int) -> str:
    """Write how often something is done.

    >>> often(1), often(2), often(1200)
    ('once', 'twice', '1,200 times')
    """
    return {1: "once", 2: "twice"}.get(count, f"{count:,} times")


def counted(count: int, noun: str) -> str:
    """So many of them.

    >>> counted(1, "step"), counted(12000, "entry"), counted(0, "worker")
    ('1 step', '12,000 entries', '0 workers')
    """
    plural = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{count:,} {noun if count == 1 else plural}"


def amount(value: float, noun: str, digits: int = 2) -> str:
    """So much of it; what reads as 1 is one.

    >>> amount(0.997, "update"), amount(1.5, "update"), amount(0.0, "update")
    ('1 update', '1.5 updates', '0 updates')
    """
    words = number(value, digits)
    return counted(1, noun) if words == "1" else f"{words} {counted(2, noun).partition(' ')[2]}"


def are(count: int) -> str:
    """The verb of so many: "is" or "are"."""
    return "is" if count == 1 else "are"


def were(count: int) -> str:
    """The verb of so many: "was" or "were"."""
    return "was" if count == 1 else "were"


def listed(names: Sequence[str], most: int = 3) -> str:
    """Names in a row; of many the first ones, and how many more there are.

    >>> listed(["a", "b"]), listed(["a", "b", "c", "d", "e"]), listed(["a"])
    ('a and b', 'a, b, c and 2 more', 'a')
    """
    shown, more = list(names[:most]), len(names) - most
    if more > 0:
        return f"{', '.join(shown)} and {more:,} more"
    return " and ".join([", ".join(shown[:-1]), shown[-1]]) if len(shown) > 1 else "".join(shown)


def decimals(value: float, digits: int = 2) -> str:
    """Write a number with so many digits after the point, and a true minus; a 0 without any is
    exactly 0.

    >>> decimals(-0.5), decimals(0.0), decimals(0.001), decimals(0.26, 1)
    ('−0.50', '0', '0.00', '0.3')
    """
    words = f"{value:.{digits}f}" if value else "0"
    return signed(words) if float(words) else words.lstrip("-")


def signed(words: str) -> str:
    """With a true minus for each hyphen that stands for one.

    >>> signed("-0.5")
    '−0.5'
    """
    return words.replace("-", "−")
