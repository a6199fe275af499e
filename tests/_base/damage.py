"""Files as disks, networks and strangers leave them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np


def rewrite(path: Path, data: bytes) -> None:
    """Let a file hold these bytes; a new one, for ext4 waits 4 ms for the disk where a file is
    emptied and written.
    """
    path.unlink(missing_ok=True)
    path.write_bytes(data)


def damaged(data: bytes, tries: int, seed: int = 0) -> Iterator[bytes]:
    """Copies with one fault each: flipped bits, other bytes, a cut, a block of zeros, a block moved
    or doubled.
    """
    rng = np.random.default_rng(seed)
    for _ in range(tries):
        fault, n = _FAULTS[rng.integers(len(_FAULTS))], len(data)
        changed = fault(
            bytearray(data), int(rng.integers(n)), int(rng.integers(1, min(n, 512))), rng
        )
        if bytes(changed) != data:
            yield bytes(changed)


def _flipped(data: bytearray, at: int, _: int, rng: np.random.Generator) -> bytearray:
    data[at] ^= 1 << int(rng.integers(8))
    return data


def _overwritten(data: bytearray, at: int, size: int, rng: np.random.Generator) -> bytearray:
    size = min(size, len(data) - at, 8)
    data[at : at + size] = rng.bytes(size)
    return data


def _cut(data: bytearray, at: int, _: int, __: np.random.Generator) -> bytearray:
    return data[:at]


def _zeroed(data: bytearray, at: int, size: int, _: np.random.Generator) -> bytearray:
    size = min(size, len(data) - at)
    data[at : at + size] = bytes(size)
    return data


def _doubled(data: bytearray, at: int, size: int, _: np.random.Generator) -> bytearray:
    return data[:at] + data[at : at + size] + data[at:]


def _dropped(data: bytearray, at: int, size: int, _: np.random.Generator) -> bytearray:
    return data[:at] + data[at + size :]


_FAULTS = (_flipped, _flipped, _overwritten, _cut, _zeroed, _doubled, _dropped)
