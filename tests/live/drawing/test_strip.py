"""The strip of a table's rows: the one that is followed is filled, those looked up are marked and
counted.
"""

import numpy as np
import pytest

from gradlab.live.drawing.strip import Strip, on_chip
from gradlab.live.drawing.style import BLACK, QUIET, new_figure


@pytest.fixture
def strip() -> Strip:
    found = Strip(new_figure(4, 1).add_subplot(), 6, 3)
    found.arrange(narrow=False)
    return found


def boxes(patch) -> list[float]:  # type: ignore[no-untyped-def]
    """The left sides of its rectangles."""
    vertices = patch.get_path().vertices
    return [] if np.isnan(vertices).any() else vertices.reshape(-1, 5, 2)[:, 0, 0].round(2).tolist()


def test_every_row_is_in_one_state(strip: Strip) -> None:
    strip.draw(2, np.array([2, 3]))
    assert boxes(strip._chosen) == [2.05] and boxes(strip._touched) == [3.05]
    assert boxes(strip._rest) == [0.05, 1.05, 4.05, 5.05]
    assert strip._count.get_text() == "2 of 6 looked up"
    assert [words.on for words in strip._numbers] == [None, None, BLACK, None, None, None]
    assert [words.get_weight() for words in strip._numbers[2:5]] == ["bold", "bold", "normal"]


def test_devices_stand_below_their_rows_on_either_page(strip: Strip) -> None:
    for narrow, (lines, xs) in {False: (1, [1, 3, 5]), True: (2, [1, 3, 2])}.items():
        strip.arrange(narrow)
        x, y = strip.places()
        assert len(set(y.tolist())) == lines and x.max() < 6 / lines
        assert [words.get_position()[0] for words in strip._devices] == xs
    strip.arrange(narrow=False)
    assert strip.axes.axison, "what is off cannot be pointed at"


def test_a_word_on_a_chip_says_what_it_stands_on(strip: Strip) -> None:
    words = strip._count
    on_chip(words, True, QUIET)
    assert (words.get_color(), words.on) == ("white", BLACK)
    on_chip(words, False, QUIET)
    assert (words.get_color(), words.get_weight(), words.on) == (QUIET, "normal", None)
