"""The binary form of what moving artists draw: little-endian 32-bit words, read in `web/list.js` and by `decode`.

Every operation starts with two words, its code and its length in words, so a reader can skip what
it does not know. Coordinates are device pixels from the top left corner; colors are bytes r, g, b,
a; path codes are matplotlib's.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

CLIP, STYLE, PATH, MARKS, STAMPS, IMAGE, TEXT, ITEMS = range(1, 9)
NO_COLOR = 0
# Beyond this a coordinate is far outside any canvas; more would not fit into 32 bits.
FAR = 2.0**23


def color(rgba: Sequence[float] | None, alpha: float | None = None) -> int:
    """Pack a color with parts from 0 to 1 into one word; `None` isn't a color.

    >>> hex(color((1.0, 0.0, 0.0, 0.5)))
    '0x800000ff'
    """
    if rgba is None:
        return NO_COLOR
    last = rgba[3] if alpha is None and len(rgba) > 3 else (1.0 if alpha is None else alpha)
    r, g, b, a = (int(255 * float(part) + 0.5) for part in (*rgba[:3], last))
    return r | g << 8 | b << 16 | a << 24 if a else NO_COLOR


class Writer:
    """Collects operations; `finish` gives the bytes."""

    def __init__(self) -> None:
        self._chunks: list[bytes] = []

    def finish(self) -> bytes:
        return b"".join(self._chunks)

    @property
    def length(self) -> int:
        """Length of what is collected, for `since`."""
        return len(self._chunks)

    def since(self, start: int) -> tuple[bytes, ...]:
        """Return what was collected after a length."""
        return tuple(self._chunks[start:])

    def extend(self, operations: Iterable[bytes]) -> None:
        """Collect what `since` gave once more."""
        self._chunks += operations

    def clip(
        self, rectangle: tuple[float, float, float, float] | None, path: tuple[bytes, int] | None
    ) -> None:
        """Limit what follows to a rectangle (left, top, right, bottom) and to a packed path."""
        body = struct.pack("<I4f", rectangle is not None, *(rectangle or (0, 0, 0, 0)))
        self._add(CLIP, body + _counted(path))

    def style(
        self, edge: int, width: float, cap: int, join: int, dashes: tuple[float, Sequence[float]]
    ) -> None:
        """Set the pen: color, width in pixels, index of the cap and the join, dash offset and lengths."""
        offset, lengths = dashes
        self._add(
            STYLE,
            struct.pack(
                f"<IfIIfI{len(lengths)}f", edge, width, cap, join, offset, len(lengths), *lengths
            ),
        )

    def path(self, face: int, path: tuple[bytes, int]) -> None:
        """Fill, then stroke, one path."""
        self._add(PATH, struct.pack("<I", face) + _counted(path))

    def marks(self, face: int, path: tuple[bytes, int], positions: np.ndarray) -> None:
        """Fill and stroke one path at each of the positions (n, 2)."""
        body = struct.pack("<I", face) + _counted(path) + struct.pack("<I", len(positions))
        self._add(MARKS, body + positions.astype("<f4").tobytes())

    def stamps(
        self,
        path: tuple[bytes, int],
        matrices: np.ndarray,
        faces: np.ndarray,
        edges: np.ndarray,
        widths: np.ndarray,
    ) -> None:
        """Draw one path under several matrices (n, 6: a b c d e f), each with its own colors and pen width."""
        items = np.empty((len(matrices), 9), "<u4")
        items[:, :6] = matrices.astype("<f4").view("<u4")
        items[:, 6], items[:, 7] = faces, edges
        items[:, 8] = widths.astype("<f4").view("<u4")
        self._add(STAMPS, _counted(path) + struct.pack("<I", len(items)) + items.tobytes())

    def image(self, matrix: Sequence[float], alpha: float, pixels: np.ndarray) -> None:
        """Place pixels (h, w, 4 bytes); the matrix takes pixel corners to the canvas."""
        height, width = pixels.shape[:2]
        body = struct.pack("<7fII", *matrix, alpha, width, height)
        self._add(IMAGE, body + np.ascontiguousarray(pixels, np.uint8).tobytes())

    def text(self, face: int, left: int, top: int, mask: np.ndarray) -> None:
        """Let a color through a mask of coverage (h, w bytes), its corner at a whole pixel."""
        height, width = mask.shape
        self._add(
            TEXT,
            struct.pack("<IiiII", face, left, top, width, height)
            + mask.tobytes()
            + bytes(-mask.size % 4),
        )

    def items(self, places: Sequence[np.ndarray], columns: Sequence[np.ndarray]) -> None:
        """Say where in each panel (n, 2) what can be pointed at lies, NaN for nowhere, and its numbers (n,)."""
        count = next((len(numbers) for numbers in (*places, *columns)), 0)
        body = struct.pack("<II", len(places), count) + b"".join(_floats(place) for place in places)
        self._add(
            ITEMS,
            body
            + struct.pack("<I", len(columns))
            + b"".join(_floats(column) for column in columns),
        )

    def _add(self, code: int, body: bytes) -> None:
        self._chunks += (struct.pack("<II", code, len(body) // 4 + 2), body)


def pack(vertices: np.ndarray, codes: np.ndarray) -> tuple[bytes, int]:
    """Pack a cleaned path (codes given, one per vertex) as bytes and the number of its vertices."""
    count = len(codes)
    near = vertices.clip(-FAR, FAR).astype("<f4")
    return codes.astype(np.uint8).tobytes() + bytes(-count % 4) + near.tobytes(), count


def decode(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield (code, body) for each operation.

    >>> writer = Writer()
    >>> writer.style(color((0.0, 0.0, 0.0)), 1.5, 0, 1, (0.0, ()))
    >>> [(code, len(body)) for code, body in decode(writer.finish())]
    [(2, 24)]
    """
    start = 0
    while start < len(data):
        code, words = struct.unpack_from("<II", data, start)
        yield code, data[start + 8 : start + 4 * words]
        start += 4 * words


def unpack(body: bytes, start: int = 0) -> tuple[np.ndarray, np.ndarray, int]:
    """Read one counted path: its vertices (n, 2), its codes (n,) and where it ends."""
    (count,) = struct.unpack_from("<I", body, start)
    codes = np.frombuffer(body, np.uint8, count, start + 4)
    first = start + 4 + count + -count % 4
    return np.frombuffer(body, "<f4", 2 * count, first).reshape(-1, 2), codes, first + 8 * count


def unpack_items(body: bytes) -> tuple[np.ndarray, np.ndarray]:
    """Read the places (panels, n, 2) and the columns (columns, n) of items.

    >>> writer = Writer()
    >>> writer.items([[(1, 2), (3, 4)]], [[5, 6]])
    >>> places, columns = unpack_items(next(decode(writer.finish()))[1])
    >>> places.tolist(), columns.tolist()
    ([[[1.0, 2.0], [3.0, 4.0]]], [[5.0, 6.0]])
    """
    panels, count = struct.unpack_from("<II", body)
    places = np.frombuffer(body, "<f4", 2 * panels * count, 8).reshape(panels, count, 2)
    (columns,) = struct.unpack_from("<I", body, end := 8 + 8 * panels * count)
    return places, np.frombuffer(body, "<f4", columns * count, end + 4).reshape(columns, count)


def _floats(numbers: np.ndarray) -> bytes:
    with np.errstate(over="ignore"):  # what is too large for 32 bits becomes infinite
        return np.asarray(numbers, float).astype("<f4").tobytes()


def _counted(path: tuple[bytes, int] | None) -> bytes:
    data, count = path or (b"", 0)
    return struct.pack("<I", count) + data
