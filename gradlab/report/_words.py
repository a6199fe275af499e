"""Numbers and counts as sentences say them."""

from __future__ import annotations

from collections.abc import Sequence

from .._base.numbers import percent as rounded


def number(x: float) -> str:
    """A number for readers: three digits, and no exponent where none is needed.

    >>> number(0.12345), number(12345.6), number(float("inf"))
    ('0.123', '12 346', 'inf')
    """
    return f"{x:,.0f}".replace(",", " ") if 1000 <= abs(x) < 1e7 else f"{x:.3g}"


def percent(share: float) -> str:
    """A share in percent; what is not quite 0 or 1 does not look like it.

    >>> percent(0.1), percent(0.00001), percent(0.99999), percent(1.0), percent(0.0)
    ('10.0 %', 'under 0.1 %', 'over 99.9 %', '100 %', '0 %')
    """
    if share in (0.0, 1.0):
        return rounded(share)
    return "under 0.1 %" if share < 0.0005 else "over 99.9 %" if share > 0.9995 else rounded(share, 1)


def cosine(x: float) -> str:
    """A cosine, in which 0 has no sign.

    >>> cosine(0.256), cosine(-0.001)
    ('0.26', '0.00')
    """
    return f"{round(x, 2) + 0.0:.2f}"


def counted(count: int, noun: str) -> str:
    """So many of them.

    >>> counted(1, "step"), counted(12000, "entry")
    ('1 step', '12 000 entries')
    """
    plural = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{count:,} {noun if count == 1 else plural}".replace(",", " ")


def listed(names: Sequence[str], most: int = 3) -> str:
    """Names in a row; of many the first ones, and how many more there are.

    >>> listed(["a", "b"]), listed(["a", "b", "c", "d", "e"])
    ('a and b', 'a, b, c and 2 more')
    """
    shown, more = list(names[:most]), len(names) - most
    if more > 0:
        return f"{', '.join(shown)} and {more} more"
    return " and ".join([", ".join(shown[:-1]), shown[-1]]) if len(shown) > 1 else "".join(shown)


def steps(first: int, many: int) -> str:
    """A step, or the steps of a bucket that stands for several.

    >>> steps(4, 1), steps(4, 4)
    ('4', '4 to 7')
    """
    return f"{first}" if many == 1 else f"{first} to {first + many - 1}"
