"""The life of a worker as the pieces that it asks for."""

from typing import Any

import pytest

from gradlab.workers import CHECK, JOIN, LEAVE, READ, RECORD, UPDATE, Bowl, Crash, Experiment, Speeds
from gradlab.workers.worker import worker


def life(count: int = 1, crashes: tuple[Crash, ...] = (), **settings: Any) -> list[tuple[int, tuple[int, ...]]]:
    e = Experiment(Bowl(), workers=2, speeds=Speeds(gap=5, crashes=crashes), **settings)
    return [tuple(piece) for piece in worker(e, 1, [100, 7][:count])]  # type: ignore[misc]


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, [(0, (READ, RECORD)), (100, (CHECK, UPDATE))]),
        ({"atomic": False}, [(0, (READ, RECORD)), (100, (CHECK,)), (5, (UPDATE,))]),
        ({"step_first": False}, [(0, (READ,)), (5, (RECORD,)), (95, (CHECK, UPDATE))]),
        ({"atomic": False, "step_first": False}, [(0, (READ,)), (5, (RECORD,)), (95, (CHECK,)), (5, (UPDATE,))]),
    ],
)
def test_the_pieces_of_one_gradient(settings: dict[str, Any], expected: Any) -> None:
    assert life(**settings) == expected


def test_it_goes_on_until_its_ticks_are_used_up() -> None:
    assert life(2) == [(0, (READ, RECORD)), (100, (CHECK, UPDATE)), (0, (READ, RECORD)), (7, (CHECK, UPDATE))]


def test_a_crash_comes_half_way_through_and_loses_the_gradient() -> None:
    back = life(2, (Crash(1, 0, after=30),))
    assert back == [(0, (READ, RECORD)), (50, (LEAVE,)), (30, (JOIN,)), (0, (READ, RECORD)), (7, (CHECK, UPDATE))]
    assert life(2, (Crash(1, 0),)) == [(0, (READ, RECORD)), (50, (LEAVE,))]
    assert life(1, (Crash(0, 0),)) == life(1), "somebody else's crash"


def test_it_can_begin_with_a_later_gradient() -> None:
    e = Experiment(Bowl(), workers=2)
    assert [piece.ticks for piece in worker(e, 0, [100, 7, 9], first=2)] == [0, 9]


def test_what_it_does_late_is_never_later_than_the_gradient() -> None:
    e = Experiment(Bowl(), step_first=False, speeds=Speeds(gap=50))
    assert [piece.ticks for piece in worker(e, 0, [20])] == [0, 20, 0]
