"""States in few bytes: what comes out is what went in, to a sixteenth of a pixel and a sixteenth of
a shade.
"""

from __future__ import annotations

from base64 import b64encode

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradlab.live.display_list import MARKS, TEXT, Writer, pack
from gradlab.live.packed import PARTS, Masks, Recorded, coordinates, operations, varints
from gradlab.live.packed import pack as packed
from tests.live.everything import everything
from tests.live.saved import numbers, states_of


def through(frames: list[bytes]) -> list[bytes]:
    masks = Masks()
    states = packed([Recorded([{}, str(k), {}], frame) for k, frame in enumerate(frames)], masks)
    data = {"layouts": [{"states": b64encode(states)}], "masks": b64encode(masks.packed())}
    return [frame for *_, frame in states_of(data)]


def alike(before: bytes, after: bytes) -> None:
    assert len(before) == len(after)
    for one, other in zip(operations(before), operations(after), strict=True):
        if one[0] == TEXT:
            assert one[:28] == other[:28]
            shades = (np.frombuffer(part[28:], np.uint8).astype(int) for part in (one, other))
            assert abs(np.subtract(*shades)).max(initial=0) <= 8
            continue
        words = np.frombuffer(one, "<u4")
        exact = np.ones(len(words), bool)
        for start, end in coordinates(words):
            exact[start:end] = False
        pixels = (np.frombuffer(part, "<f4")[~exact] for part in (one, other))
        np.testing.assert_allclose(*pixels, atol=0.5 / PARTS)
        assert (words[exact] == np.frombuffer(other, "<u4")[exact]).all()


@pytest.fixture(scope="module")
def frames() -> list[bytes]:
    live, found = everything(), []
    for limit in (0.1, 1.0, 1.05, 1.0, 10.0):
        live.set(limit=limit)
        found.append(live.frame(2.0))
    return found


def test_display_lists_come_back(frames: list[bytes]) -> None:
    for before, after in zip(frames, through(frames), strict=True):
        alike(before, after)


def test_what_was_there_before_costs_next_to_nothing(frames: list[bytes]) -> None:
    rows = [Recorded(None, frame) for frame in frames]
    once, twice = (len(packed(some, Masks())) for some in (rows, rows * 20))
    assert twice - once < 10 * 19 * len(frames)


def test_places_that_are_nowhere_stay_so_and_images_as_they_are() -> None:
    writer, mark = Writer(), pack(np.array([[0.0, 0.0], [1e9, 1.03]]), np.array([1, 2]))
    writer.marks(255, mark, np.array([[np.nan, 3.0]]))
    writer.image(
        (1.0, 0.0, 0.0, -1.0, 0.3, 7.0),
        0.5,
        np.arange(2 * 3 * 4, dtype=np.uint8).reshape(2, 3, 4) * 10,
    )
    writer.items([np.array([[np.nan, np.nan], [2.0, 3.5]])], [np.array([np.nan, 1 / 3])])
    frame = writer.finish()
    (after,) = through([frame])
    alike(frame, after)
    assert operations(frame)[0][0] == MARKS


@given(st.lists(st.integers(0, 2**33 - 1), max_size=30))
def test_numbers_come_back(some: list[int]) -> None:
    assert list(numbers(varints(np.array(some, np.int64)))) == some
