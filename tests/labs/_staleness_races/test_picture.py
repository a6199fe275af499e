"""The picture of moves: who did what in which row, what is one piece, what is still to come, and
how old it all is.
"""

import numpy as np
import pytest

from gradlab.labs._staleness_races.picture import Event, OrderCount, Schedule, SequenceView

EVENTS = (
    Event(0, "read", "reads v0", False),
    Event(1, "read", "reads v0", False),
    Event(0, "passed", "0−0 ≤ 0", False),
    Event(0, "updated", "now v1", True),
    Event(1, "failed", "1−0 > 0", False),
    Event(1, "dropped", "is dropped", True),
)
RANGES = (
    OrderCount("neither", 1680, 0.5),
    OrderCount("check and update", 90, 0.25),
    OrderCount("read and note", 90, 0.0),
    OrderCount("both", 6, 0.0),
)
VERSIONS = ((0, "v0: 1"), (4, "v1: 0.9"))


def drawn(done: int) -> SequenceView:
    view = SequenceView(2, len(EVENTS))
    ages = np.array([0, 1]) if done == len(EVENTS) else np.array([-1, -1])
    view.draw(
        Schedule(
            EVENTS,
            done,
            VERSIONS,
            ages * 0 + (ages >= 0) - 1,
            ages,
            np.array([True, False]),
            0,
            RANGES,
            1,
        )
    )
    return view


def test_moves_are_marked_in_their_rows_once_they_happened() -> None:
    moves = drawn(3)._moves
    assert moves._marks["read"].get_xydata().tolist() == [[0.1, 1], [1.1, 2]]
    assert moves._marks["passed"].get_xydata().tolist() == [[0.1, 3]]
    assert moves._to_come.get_ydata().tolist() == [4, 5, 6]
    assert [words.get_text() for words in moves._words] == [event.words for event in EVENTS]
    assert moves._now.get_y() == pytest.approx(2.54)
    assert not drawn(0)._moves._now.get_visible()


def test_every_kind_has_a_marker_and_good_and_bad_ends_differ() -> None:
    marks = {kind: mark.get_marker() for kind, mark in drawn(6)._moves._marks.items()}
    assert marks["passed"] != marks["failed"] and marks["updated"] != marks["dropped"]


def test_moves_of_one_piece_share_a_frame() -> None:
    frames = drawn(6)._moves._pieces.get_path().vertices.reshape(-1, 5, 2)
    edges = [(frame[:, 1].min(), frame[:, 1].max()) for frame in frames]
    assert drawn(6)._moves._as_one.get_visible()
    assert np.array(edges) == pytest.approx(np.array([(2.58, 4.42), (4.58, 6.42)]))


def test_a_worker_is_at_work_from_its_read_to_its_update() -> None:
    rows = drawn(3)._moves._at_work.get_xydata()
    assert rows[:2].tolist() == [[0.1, 1], [0.1, 3]] and rows[3:5].tolist() == [[1.1, 2], [1.1, 3]]
    assert drawn(6)._moves._at_work.get_xydata()[:2].tolist() == [[0.1, 1], [0.1, 4]]


def test_versions_are_there_from_their_update_on() -> None:
    def shown(done: int) -> list[str]:
        return [words.get_text() for words in drawn(done)._moves._versions if words.get_visible()]

    assert (shown(3), shown(4)) == (["v0: 1"], ["v0: 1", "v1: 0.9"])


def test_ages_are_bars_and_what_was_recorded_is_a_mark() -> None:
    ages = drawn(6)._ages
    taken, lost = (part.get_path().get_extents() for part in (ages._taken, ages._lost))
    assert (taken.y1, lost.y1) == (0, 1) and taken.x1 < lost.x0
    assert ages._recorded.get_xydata().tolist() == [[0, 0], [1, 0]]
    assert np.isnan(drawn(5)._ages._taken.get_path().vertices).all()
    assert ages._limit.get_ydata() == [0.5, 0.5] and ages._called.get_text() == "limit 0"
    assert [words.get_text() for words in ages._verdicts] == ["accepted", "dropped"]
    assert [words.get_text() for words in drawn(5)._ages._verdicts] == ["", ""]
    assert (
        ages._noted.get_visible()
        and ages._noted.get_text() == "recorded 0"
        and ages._noted.get_position()[0] == 1
    )


def test_an_update_that_is_too_old_says_so() -> None:
    view = SequenceView(2, len(EVENTS))
    true, accepted = np.array([3, -1]), np.array([True, False])
    view.draw(Schedule(EVENTS, 4, VERSIONS, np.array([0, -1]), true, accepted, 0, RANGES, 1))
    (late,) = (words for words in view._moves._words if words.get_weight() == "bold")
    assert late.get_text() == "v1, 3 old"


def test_every_setting_has_its_share_and_the_chosen_one_is_black() -> None:
    orders = drawn(6)._orders
    widths = np.ptp(orders._shares.get_path().vertices.reshape(-1, 5, 2)[..., 0], axis=1)
    assert widths.tolist() == [0.5, 0, 0]
    chosen = orders._chosen.get_path().get_extents()
    assert (chosen.x1, chosen.y0) == pytest.approx((0.25, 1.05))
    assert [name.get_text() for name in orders._names[:2]] == [
        "neither: 50% of 1,680",
        "check and update: 25% of 90",
    ]
    assert orders._names[1].get_fontweight() == "bold"
