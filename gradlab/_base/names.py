"""Names that somebody else chose, of tensors or files, as readers see them."""

from __future__ import annotations


def printable(name: str) -> str:
    """A name on one line: every space as one, and a mark for what a terminal or a picture would
    obey, not show.

    Control characters, those that turn the direction of a text, and halves of characters are of
    that kind.

    >>> printable("a\\tb"), printable("a\\x1b[2Jb"), printable("weiß $x_1$ 重み")
    ('a b', 'a\\ufffd[2Jb', 'weiß $x_1$ 重み')
    """
    return "".join(c if c.isprintable() else " " if c.isspace() else "\ufffd" for c in name)
