"""The house style of docstrings as reStructuredText, which autodoc reads.

A docstring is blocks between blank lines: sentences; indented lines, which are maths; `Args:` and its like with one
item to a line and the rest of it indented; `>>>` examples. Names in backticks are links where they are public.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from .api import public_names

Link = Callable[[str], str | None]

_HEADING = re.compile(r"(Args|Raises|Returns|Yields|Fields|Attributes|Source|Shapes|Slots|Controls):(?:\s+(.*))?$")
_ITEM = re.compile(r"([\w*][\w*, ]*): (.*)")
_SPECIAL = re.compile(r"([\\*|])|(_)(?!\w)")


def rst(lines: Sequence[str], link: Link = lambda name: None) -> list[str]:
    """Write the lines of a docstring as reStructuredText.

    >>> print(*rst(["Half of `x`.", "", "    y = x / 2", "", "Args:", "    x: a number,", "        any one."]), sep="|")
    Half of ``x``.||.. code-block:: text||   y = x / 2||:Args:|   - **x**: a number, any one.|
    """
    written: list[str] = []
    for block in _blocks(lines):
        written += [*_block(block, link), ""]
    return written


def _blocks(lines: Sequence[str]) -> Iterator[list[str]]:
    """Runs of lines without a blank one, and a heading with all that belongs to it."""
    for is_text, run in groupby(lines, key=lambda line: bool(line.strip())):
        if not is_text:
            continue
        block: list[str] = []
        for line in run:
            if block and (_HEADING.match(line) or (_HEADING.match(block[0]) and _ends(block, line))):
                yield block
                block = []
            block.append(line)
        yield block


def _ends(block: list[str], line: str) -> bool:
    """Whether a line is no longer part of a heading whose items are indented."""
    return not line.startswith(" ") and len(block) > 1 and block[1].startswith(" ")


def _block(block: list[str], link: Link) -> list[str]:
    if block[0].startswith(">>> "):
        return block
    if block[0].startswith(" "):
        indent = min(len(line) - len(line.lstrip()) for line in block)
        return [".. code-block:: text", "", *("   " + line[indent:] for line in block)]
    if heading := _HEADING.match(block[0]):
        return [f":{heading[1]}:", *_indented(_items(_dedented(heading[2], block[1:]), link))]
    if len(block) > 1 and any(line.startswith(" ") for line in block):
        return _items(block, link)
    return [_inline(" ".join(block), link)]


def _dedented(first: str | None, rest: list[str]) -> list[str]:
    """What stands behind a heading and below it."""
    if first:
        return [" ".join([first, *map(str.strip, rest)])]
    indent = min((len(line) - len(line.lstrip()) for line in rest), default=0)
    return [line[indent:] for line in rest]


def _items(lines: list[str], link: Link) -> list[str]:
    """A list of items whose lines but the first are indented; what is no item stays a sentence."""
    items: list[str] = []
    for line in lines:
        if line.startswith(" ") or (items and not _ITEM.match(line)):
            items[-1] += " " + line.strip()
        else:
            items.append(line)
    written = []
    for item in items:
        named = _ITEM.match(item)
        text = f"**{_inline(named[1], link)}**: {_inline(named[2], link)}" if named else _inline(item, link)
        written.append(f"- {text}" if named or len(items) > 1 else text)
    return written


def _indented(lines: list[str]) -> list[str]:
    return ["   " + line for line in lines]


def _inline(text: str, link: Link) -> str:
    """Text with its backticks as links or literals, and nothing else that means something in reStructuredText."""
    parts = re.split(r"`([^`]+)`", text)
    parts[::2] = [_SPECIAL.sub(r"\\\1\2", part) for part in parts[::2]]
    parts[1::2] = [_named(name, link) for name in parts[1::2]]
    return "".join(_spaced(parts))


def _spaced(parts: list[str]) -> Iterator[str]:
    """Inline markup ends at a space or at punctuation; an escaped space is one that is not shown."""
    for k, part in enumerate(parts):
        before, after = parts[k - 1] if k else "", parts[k + 1] if k + 1 < len(parts) else ""
        if k % 2:
            yield ("\\ " if before[-1:].isalnum() else "") + part + ("\\ " if after[:1].isalnum() else "")
        else:
            yield part


def _named(name: str, link: Link) -> str:
    target = link(name)
    return f":py:obj:`{name} <{target}>`" if target else f"``{name}``"


def linker(names: Mapping[str, Any], here: str) -> Link:
    """Find public names as somebody says them inside `here`: `gl.clip_by_norm`, `Adam`, `update`.

    >>> linker({"gradlab.rules.Adam": 0}, "gradlab.rules.Lion.step")("Adam")
    'gradlab.rules.Adam'
    """
    places = [here.rsplit(".", k)[0] for k in range(here.count(".") + 1)]

    def link(name: str) -> str | None:
        said = name.removesuffix("()").removeprefix("gl.").removeprefix("gradlab.")
        found = (f"{place}.{said}" for place in [here, *places])
        return next((full for full in found if full in names and full != here), None)

    return link


def _written(_app: Any, _what: str, name: str, _object: Any, _options: Any, lines: list[str]) -> None:
    lines[:] = rst(lines, linker(public_names(), name))


def setup(app: Any) -> dict[str, Any]:
    """Tell Sphinx."""
    app.connect("autodoc-process-docstring", _written)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
