"""Names at the ends of lines, apart and in their order."""

import numpy as np

from gradlab.labs.compare_picture import LOOKS, spaced
from gradlab.live.drawing.style import BLUE, ORANGE


def test_names_are_apart_in_their_order_and_on_the_axis() -> None:
    places = np.array([0.0, 0.01, 0.5, 0.98, 0.99, 1.0])
    found = spaced(places, 0.1)
    assert (np.diff(found) >= 0.1 - 1e-9).all() and found[0] >= 0.05 and found[-1] <= 0.95
    assert found[2] == 0.5  # has room where it is
    many = spaced(np.full(30, 0.3), 0.1)
    assert (np.diff(many) > 0).all() and many[0] >= 0 and many[-1] <= 1
    assert spaced(np.array([]), 0.1).size == 0


def test_the_run_that_others_are_compared_with_is_before_and_the_next_one_after() -> None:
    assert [look.color for look in LOOKS[:2]] == [ORANGE, BLUE]
    assert (
        len({(look.color, str(look.dash)) for look in LOOKS})
        == len({look.marker for look in LOOKS})
        == len(LOOKS)
    )
