"""Names of tensors and files, made safe to display."""

from __future__ import annotations


def printable(name: str) -> str:
    """Return a name on one line that a terminal or a picture can show.

    Every white space becomes a space. Characters that would be obeyed rather than shown (control
    characters, marks of text direction, lone surrogates) become a replacement character.

    >>> printable("a\\tb"), printable("a\\x1b[2Jb"), printable("weiß $x_1$ 重み")
    ('a b', 'a\\ufffd[2Jb', 'weiß $x_1$ 重み')
    """
    return "".join(_printable_character(c) for c in name)


def _printable_character(c: str) -> str:
    if c.isprintable():
        return c
    return " " if c.isspace() else "\ufffd"
