"""Synchronous training in virtual time decides as the golden runs of SyncReplicasOptimizer do."""

from gradlab.workers import Speeds
from gradlab.workers.sync_rounds import sync_rounds

EVEN = Speeds(spread=0.0)


def events(*args: object, **kwargs: object) -> list[str]:
    return [moment.event for moment in sync_rounds(*args, **kwargs)][1:]  # type: ignore[arg-type]


def test_ties_go_to_the_lower_worker() -> None:
    assert events(2, 2, 0, EVEN, 3) == [
        "worker 1 pushes, accepted",
        "worker 2 pushes, accepted",
        "update 1, mean of 2",
    ]


def test_the_backup_worker_is_dropped_if_the_chief_takes_at_once_and_averaged_in_if_it_is_late() -> (
    None
):
    slow = Speeds(spread=0.0, slow={2: 1.2})
    assert "worker 3 pushes, dropped" in events(3, 2, 0, slow, 4)
    assert "update 1, mean of 3" in events(3, 2, 0, slow, 4, chief=50)


def test_a_dropped_worker_gets_a_token_and_the_new_step() -> None:
    run = sync_rounds(3, 2, 0, Speeds(spread=0.0, slow={2: 1.2}), 4)
    late = [turn for turn in run[-1].turns if turn.worker == 2]
    assert [turn.accepted for turn in late] == [False, None]
    assert late[1].local_step == 1


def test_with_tensorflows_start_tokens_one_worker_fills_the_first_round() -> None:
    run = sync_rounds(2, 2, 2, Speeds(spread=0.0, slow={1: 2.5}), 4)
    assert [m.event for m in run[1:]] == [
        "worker 1 pushes, accepted",
        "worker 1 pushes, accepted",
        "update 1, mean of 2",
        "worker 2 pushes, dropped",
    ]
    assert run[3].tokens == (1, 1)


def test_without_enough_tokens_it_ends() -> None:
    run = sync_rounds(2, 3, 0, EVEN, 10)
    assert len(run) == 3
    assert run[-1].waiting == (0, 1)


def test_moments_do_not_change_afterwards() -> None:
    run = sync_rounds(2, 2, 0, EVEN, 6)
    assert run[0].turns[0].ended == -1
    assert run[-1].turns[0].ended == 100
    assert run[3].updates == ((100, 2),)
