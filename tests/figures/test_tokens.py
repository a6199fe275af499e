"""The picture of tokens: bars with local steps, updates with their numbers, boxes for gradients and tokens."""

import numpy as np

from gradlab.figures.tokens import Rounds, TokensView

ROUNDS = Rounds(
    workers=2, now=150, worker=np.array([0, 1, 0]), began=np.array([0, 0, 110]), ended=np.array([100, 140, 150]),
    local_step=np.array([0, 0, 1]), pushed=np.array([True, True, False]), accepted=np.array([True, False, False]),
    waits=np.array([[0, 100, 110]]), updates=np.array([[110, 1]]), count=1, aggregate=3, tokens=(1, 1),
    handed_in=np.array([1, 1]), accepted_of=np.array([1, 0]),
)  # fmt: skip


def drawn(**changes: object) -> TokensView:
    view = TokensView()
    view.draw(ROUNDS._replace(**changes))
    return view


def test_bars_are_accepted_dropped_or_in_hand() -> None:
    view = drawn()
    assert [artist.get_path().vertices[:, 0].max() for artist in view._bars] == [100, 140, 150]
    assert [t.get_text() for t in view._steps if t.get_visible()] == ["0", "0", "1"]
    assert view._waits.get_xdata()[:2].tolist() == [100, 110]


def test_updates_stand_with_the_number_of_their_gradients() -> None:
    view = drawn()
    assert view._updates.get_xdata()[:2].tolist() == [110, 110]
    assert [t.get_text() for t in view._means if t.get_visible()] == ["1"]


def test_boxes_count_gradients_and_hold_tokens() -> None:
    view = drawn()
    assert len(view._there.get_path().vertices) == 5
    assert len(view._asked.get_path().vertices) == 5 * (3 + 2)
    assert [t.get_text() for t in view._tokens if t.get_visible()] == ["1", "1"]
    assert drawn(tokens=())._words[1].get_text() == "no token"
    assert drawn(tokens=(1,) * 12)._rest.get_text() == "…"


def test_the_window_follows_the_time() -> None:
    view = drawn(now=2000, ended=np.array([100, 140, 2000]))
    assert view._times[0].get_text() == "1100"
    assert view._bars[0].get_path().vertices[:, 0].max() < 0
