"""Precomputed pictures: every position of one control, recorded while the kernel is idle."""

from __future__ import annotations

import json
import logging
import struct
import threading
import time
import zlib
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from .._base.forks import renew_in_child
from .controls import key_of
from .description import Description
from .scheduling import IDLE_SECONDS, attention, drawing, in_background
from .state import FigureState

# Bytes of a frame before those of the next: deflate looks back over 32 kB, in which like pieces of
# neighbors stand.
PIECE = 4096  # as in web/frame_cache.js
MOST_BYTES = 2_000_000  # of packed pictures for one setting of the other controls
BATCH = 12

_log = logging.getLogger(__name__)

Entry = tuple[str, Description, bytes]


def pack(entries: Iterable[Entry]) -> bytes:
    """Pack (key, description, display list) triples: a JSON table of contents, then the lists, all deflated."""
    entries = list(entries)
    contents = json.dumps(
        [[key, len(frame), words.words()] for key, words, frame in entries]
    ).encode()
    contents += b" " * (-len(contents) % 4)
    frames = [frame for _, _, frame in entries]
    woven = b"".join(frame[at : at + PIECE] for at in _starts(frames) for frame in frames)
    return zlib.compress(struct.pack("<I", len(contents)) + contents + woven, 6)


def _starts(frames: Sequence[bytes | bytearray]) -> range:
    return range(0, max(map(len, frames), default=0), PIECE)


def unpack(data: bytes) -> list[tuple[str, dict[str, Any], bytes]]:
    """Give (key, words, display list) triples back.

    >>> unpack(pack([("3", Description("Three.", "3"), b"abcd")]))[0][2]
    b'abcd'
    """
    plain = zlib.decompress(data)
    (length,) = struct.unpack_from("<I", plain)
    contents, at = json.loads(plain[4 : 4 + length]), 4 + length
    frames = [bytearray(size) for _, size, _ in contents]
    for start in _starts(frames):
        for frame in frames:
            size = len(frame[start : start + PIECE])
            frame[start : start + PIECE] = plain[at : at + size]
            at += size
    return [
        (key, words, bytes(frame)) for (key, _, words), frame in zip(contents, frames, strict=True)
    ]


def stride(count: int, bytes_each: float, most: int) -> int:
    """The stride of positions at which the pictures of all of them fit: 1, 2, 4, ...

    >>> stride(1000, 1500.0, 2_000_000), stride(1000, 5000.0, 2_000_000)
    (1, 4)
    """
    step = 1
    while count / step * bytes_each > most:
        step *= 2
    return step


def outward(count: int, here: int, step: int = 1) -> list[int]:
    """Positions from 0 to count - 1, nearest to `here` first; of the far ones every `step`-th.

    >>> outward(5, 1), outward(9, 1, 4)
    ([1, 2, 0, 3, 4], [1, 0, 4, 8])
    """
    wanted = {*range(0, count, step), here} & set(range(count))
    return sorted(wanted, key=lambda position: (abs(position - here), -position))


class Preloader:
    """Records the positions of a figure's axis in the background and sends them to every open view.

    It works only while views are open, not while a cell runs, and steps aside whenever a reader
    asks the kernel for anything, of this figure or of another one; of all figures one at a time is
    at work.
    """

    _turn: threading.Lock  # of all figures

    def __init__(self, state: FigureState) -> None:
        self._state = state
        self._thread: object | None = None  # or the event loop, where there are no threads
        self._guard: threading.Lock
        renew_in_child(self, "_guard", threading.Lock)
        self._woken_again = False
        self._situation: Any = None
        self._sent: set[tuple[float, str]] = set()
        self._bytes = 0

    def wake(self, at_once: bool = False) -> None:
        """Something changed: look again, after a pause if the kernel is being asked, at what is worth recording."""
        if not at_once:
            attention.asked()
        if self._state.axis is None or not self._state.views or self._state.changing:
            return
        with self._guard:
            self._woken_again = True
            if self._thread is None:
                self._thread = in_background(self._turns())

    def begin_again(self) -> None:
        """A view opened: it has nothing yet."""
        self._situation = None
        self.wake()

    def _turns(self) -> Iterator[float]:
        """One batch in each turn, and the seconds until the next."""
        while True:
            if attention.busy:
                yield IDLE_SECONDS / 4
                continue
            self._woken_again = False
            with self._turn:
                more = self._try()
            with self._guard:
                if not (more or attention.busy or self._woken_again):
                    self._thread = None
                    return
            yield 0.0

    def _try(self) -> bool:
        try:
            return self._record_some()
        except Exception as error:  # what is made ahead is a help, never a need
            _log.warning("nothing more is made ahead: %s", error, exc_info=error)
            return False

    def _record_some(self) -> bool:
        """Record and send one batch; whether there was anything to do."""
        figure = self._state
        situation = (figure.edition, {k: v for k, v in figure.values.items() if k != figure.axis})
        if situation != self._situation:
            self._situation, self._bytes = situation, 0
            self._sent.clear()
        if self._bytes >= MOST_BYTES or figure.changing:
            return False
        for ratio in figure.views.ratios:
            # The event loop has others to serve.
            batch = BATCH if isinstance(self._thread, threading.Thread) else 1
            if states := self._missing(ratio)[:batch]:
                self._send(ratio, situation[0], list(self._recorded(ratio, states)))
                return True
        return False

    def _missing(self, ratio: float) -> list[tuple[str, dict[str, Any]]]:
        """The states still to be recorded, nearest first."""
        figure, axis = self._state, str(self._state.axis)
        control: Any = figure.controls[axis]
        values, options = dict(figure.values), control.values()
        step = (
            stride(len(options), self._bytes / len(self._sent), MOST_BYTES)
            if len(self._sent) >= BATCH
            else 1
        )
        places = outward(len(options), control.position(values[axis]), step)
        states = ({**values, axis: options[place]} for place in places)
        keyed = ((key_of(figure.controls, state), state) for state in states)
        return [(key, state) for key, state in keyed if (ratio, key) not in self._sent]

    def _recorded(
        self, ratio: float, states: Iterable[tuple[str, dict[str, Any]]]
    ) -> Iterator[Entry]:
        """Record states one by one, until somebody wants the figure."""
        figure = self._state
        for key, state in states:
            if attention.busy:
                return
            self._sent.add((ratio, key))
            with drawing:
                try:
                    description = figure.describe(state)
                    frame = figure.scene.frame(ratio, description.items)
                except Exception as error:  # it is said when the reader goes there
                    _log.debug("not recorded: %s", error, exc_info=error)
                    continue
            yield key, description, frame
            time.sleep(0)  # whoever waits for the figure comes first

    def _send(self, ratio: float, edition: int, entries: list[Entry]) -> None:
        """Send pictures; a browser that knows a later edition drops them."""
        if not entries:
            return
        packed = pack(entries)
        self._bytes += len(packed)
        if self._bytes > MOST_BYTES:  # and no more for this situation
            return
        colors = list(self._state.scene.colors.items())
        self._state.send(
            {"kind": "reel", "ratio": ratio, "edition": edition, "colors": colors}, [packed]
        )


renew_in_child(Preloader, "_turn", threading.Lock)
