"""The states of a saved page in few bytes: each display list as its differences from the one before.

A display list is words, most of them coordinates. Here coordinates are in sixteenths of a device
pixel, too small to see, and what stays from state to state is one small number for each operation.
Texts are pictures of coverage: each is kept once, in 16 shades, column by column, so that equal
letters are equal bytes. Then all of it is deflated.

Bytes per state of some labs, axis beside one menu, words included; before that, equal blocks of
lists were kept once:

    lab             blocks  this
    adagrad            395   185
    clipping         3,353 1,760
    clip_arrows      1,422   490
    optimizers       1,384   560
    staleness          506   260
    word_rates       2,113 1,130
    tpu_embedding    3,422 1,820
"""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .display_list import CLIP, IMAGE, ITEMS, MARKS, PATH, TEXT

PARTS = 16  # of a pixel, in which coordinates are told
NOWHERE = -(2**31)  # a coordinate that is not a number
HEAD = 11  # words of an image before its pixels

# What an operation is: as in the state before, a new one, one of the earlier ones.
SAME, NEW, EARLIER = range(3)


@dataclass(frozen=True)
class Recorded:
    """One state: what it says of itself, in plain values, and its display list."""

    row: Any
    frame: bytes


class Masks:
    """Coverage of texts, each once, for all layouts of a page."""

    def __init__(self) -> None:
        self._numbers: dict[tuple[int, int, bytes], int] = {}

    def number(self, width: int, height: int, coverage: bytes) -> int:
        """Give the number of a text."""
        return self._numbers.setdefault((width, height, coverage), len(self._numbers))

    def packed(self) -> bytes:
        """Give all of them: their sizes, then two rows of a column in each byte."""
        sizes = [size for *box, _ in self._numbers for size in box]
        return _packed(sizes, [_shaded(*mask) for mask in self._numbers])


def pack(states: Iterable[Recorded], masks: Masks) -> bytes:
    """Pack the states of one layout: their rows, and one stream of numbers for all display lists."""
    states = list(states)
    writer = _Writer(masks)
    for state in states:
        writer.add(state.frame)
    return _packed([state.row for state in states], [varints(writer.numbers())])


class _Writer:
    """Writes display lists as numbers, most of them small."""

    def __init__(self, masks: Masks) -> None:
        self._masks, self._known, self._before = masks, dict[bytes, int](), list[bytes]()
        self._words: dict[bytes, np.ndarray] = {}
        self._parts: list[np.ndarray] = []

    def numbers(self) -> np.ndarray:
        """Give all numbers so far, none below 0."""
        return np.concatenate([np.zeros(0, np.int64), *self._parts])

    def add(self, frame: bytes) -> None:
        """Add the display list of the next state."""
        now = operations(frame)
        self._put(len(now))
        for place, operation in enumerate(now):
            before = self._before[place] if place < len(self._before) else b""
            if operation == before:
                self._put(SAME)
            elif (earlier := self._known.get(operation)) is not None:
                self._put(EARLIER + earlier)
            else:
                self._new(operation, before)
        self._before = now

    def _new(self, operation: bytes, before: bytes) -> None:
        self._known[operation] = len(self._known)
        words, code = self._told(operation), operation[0]
        self._words[operation] = words
        alike = before[:1] == operation[:1] and len(self._words[before]) == len(words)
        away = words[2:] - self._words[before][2:] if alike else words[2:]
        folded = (away + 2**31) % 2**32 - 2**31  # words wrap, as they do where they are read
        self._put(NEW, code, len(words) - 2, int(alike))
        self._parts.append(folded << 1 ^ folded >> 63)

    def _told(self, operation: bytes) -> np.ndarray:
        """An operation as whole numbers: coordinates in parts of a pixel, a text's coverage as its
        number.
        """
        if operation[0] == TEXT:
            *head, width, height = struct.unpack_from("<5I2I", operation)
            number = self._masks.number(width, height, operation[28 : 28 + width * height])
            return np.array([*head, number], np.int64)
        words = np.frombuffer(operation, "<u4").astype(np.int64)
        if operation[0] == IMAGE:  # a pixel is four numbers
            return np.concatenate(
                [words[:HEAD], np.frombuffer(operation, np.uint8, offset=4 * HEAD)]
            )
        for start, end in coordinates(words):
            pixels = np.frombuffer(operation, "<f4", end - start, 4 * start).astype(float)
            parts = np.rint(np.where(np.isfinite(pixels), pixels * PARTS, NOWHERE))
            words[start:end] = parts.clip(NOWHERE, 2**31 - 1).astype(np.int64)
        return words

    def _put(self, *numbers: int) -> None:
        self._parts.append(np.array(numbers, np.int64))


def operations(frame: bytes) -> list[bytes]:
    """Cut a display list into its operations."""
    start, found = 0, []
    while start < len(frame):
        end = start + 4 * struct.unpack_from("<I", frame, start + 4)[0]
        found.append(frame[start:end])
        start = end
    return found


def coordinates(words: Sequence[int] | np.ndarray) -> list[tuple[int, int]]:
    """Say which words of an operation are coordinates, as ranges."""

    def path(at: int) -> tuple[int, int]:
        count = int(words[at])
        first = at + 1 + -(-count // 4)
        return first, first + 2 * count

    code = words[0]
    if code == CLIP:
        return [(3, 7), path(7)]
    if code == PATH:
        return [path(3)]
    if code == MARKS:
        first, end = path(3)
        return [(first, end), (end + 1, end + 1 + 2 * int(words[end]))]
    if code == ITEMS:
        return [(4, 4 + 2 * int(words[2] * words[3]))]
    return []


def varints(numbers: np.ndarray) -> bytes:
    """Write whole numbers from 0, seven bits to a byte, the lowest first; bit 7 says that more follow.

    >>> varints(np.array([5, 300])).hex()
    '05ac02'
    """
    columns = [numbers >> shift & 127 for shift in range(0, 35, 7)]
    more = [numbers >> shift != 0 for shift in range(7, 42, 7)]
    written = np.stack(
        [column | going << 7 for column, going in zip(columns, more, strict=True)], 1
    ).astype(np.uint8)
    there = np.stack([np.ones(len(numbers), bool), *more[:-1]], 1)
    return bytes(written[there].tobytes())


def _shaded(width: int, height: int, coverage: bytes) -> bytes:
    """A text's coverage in 16 shades, column by column, the upper of two rows in the higher bits."""
    shades = (
        np.frombuffer(coverage, np.uint8).reshape(height, width).T.astype(np.uint16) + 8
    ) // 17
    shades = np.pad(shades, ((0, 0), (0, height % 2)))
    return (shades[:, ::2] << 4 | shades[:, 1::2]).astype(np.uint8).tobytes()


def _packed(contents: Any, parts: Sequence[bytes]) -> bytes:
    """Deflate a table of contents and bytes after it, as `web/packed.js` reads them."""
    table = json.dumps(contents, separators=(",", ":")).encode()
    table += b" " * (-len(table) % 4)
    return zlib.compress(struct.pack("<I", len(table)) + table + b"".join(parts), 6)
