"""What is in a saved page, read by other code than the browser's."""

from __future__ import annotations

import json
import re
import struct
import zlib
from base64 import b64decode
from collections.abc import Iterator
from typing import Any

import numpy as np

from gradlab.live.display_list import IMAGE, TEXT
from gradlab.live.packed import NOWHERE, PARTS, coordinates

Mask = tuple[int, int, np.ndarray]


def data_of(html: str) -> dict[str, Any]:
    """The data in a page."""
    return json.loads(
        re.search(r'<script type="application/json">(.*?)</script>', html, re.DOTALL)[1]
    )


def states_of(
    data: dict[str, Any], narrow: int = 0
) -> list[tuple[dict[str, Any], str, dict[str, Any], bytes]]:
    """The states of a layout, each with its display list."""
    rows, stream = opened(b64decode(data["layouts"][narrow]["states"]))
    masks, read, known = list(masks_of(b64decode(data["masks"]))), numbers(stream), []
    before: list[Any] = []
    found = []
    for row in rows:
        before = [
            operation(read, before[k] if k < len(before) else None, known)
            for k in range(next(read))
        ]
        found.append((*row, b"".join(written(*one, masks) for one in before)))
    return found


def opened(packed: bytes) -> tuple[Any, bytes]:
    plain = zlib.decompress(packed)
    (size,) = struct.unpack_from("<I", plain)
    return json.loads(plain[4 : 4 + size]), plain[4 + size :]


def masks_of(packed: bytes) -> Iterator[Mask]:
    sizes, shades = opened(packed)
    for width, height in zip(sizes[::2], sizes[1::2], strict=True):
        size = width * -(-height // 2)
        two = np.frombuffer(shades[:size], np.uint8).reshape(width, -1)
        rows = np.stack([two >> 4, two & 15], axis=2).reshape(width, -1)[:, :height]
        yield width, height, 17 * rows.T
        shades = shades[size:]


def numbers(stream: bytes) -> Iterator[int]:
    number = shift = 0
    for byte in stream:
        number |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            yield number
            number = shift = 0


def operation(read: Iterator[int], before: Any, known: list[Any]) -> Any:
    what = next(read)
    if what != 1:
        return known[what - 2] if what else before
    code, count, alike = next(read), next(read), next(read)
    words = [n // 2 if n % 2 == 0 else -(n + 1) // 2 for n in (next(read) for _ in range(count))]
    known.append((code, [w + b for w, b in zip(words, before[1], strict=True)] if alike else words))
    return known[-1]


def written(code: int, words: list[int], masks: list[Mask]) -> bytes:
    if code == TEXT:
        width, height, rows = masks[words[3]]
        body = (
            struct.pack("<5I", *(word % 2**32 for word in words[:3]), width, height)
            + rows.tobytes()
        )
        body += bytes(-rows.size % 4)
    elif code == IMAGE:
        body = struct.pack("<9I", *(word % 2**32 for word in words[:9])) + bytes(words[9:])
    else:
        whole = np.array([code, len(words) + 2, *words], np.int64)
        body = bytearray((whole % 2**32).astype("<u4")[2:].tobytes())
        for start, end in coordinates(whole):
            parts = whole[start:end]
            pixels = np.where(parts == NOWHERE, np.nan, parts / PARTS).astype("<f4")
            body[4 * start - 8 : 4 * end - 8] = pixels.tobytes()
    return struct.pack("<II", code, len(body) // 4 + 2) + bytes(body)
