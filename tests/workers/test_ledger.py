"""Steps, clocks and decisions, against models of ten lines that know one policy each."""

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradlab.errors import DeadlockError
from gradlab.workers import Ledger

WORKERS = 4
who = st.integers(0, WORKERS - 1)
callers = st.lists(who, max_size=60)


def begin(ledger: Ledger, k: int) -> None:
    ledger.read(k)
    ledger.record(k)


def hand_in(ledger: Ledger, k: int) -> bool:
    fresh = ledger.check(k)
    ledger.update(k)
    return fresh


def drop_model(calls: list[tuple[int, bool]], limit: int) -> Iterator[bool]:
    """Spec: a gradient is accepted if and only if step - step noted <= limit; a drop moves nothing."""
    step, noted = 0, [0] * WORKERS
    for k, reads in calls:
        if reads:
            noted[k] = step
        else:
            fresh = step - noted[k] <= limit
            step += fresh
            yield fresh


@given(st.lists(st.tuples(who, st.booleans()), max_size=60), st.integers(-1, 4))
def test_drop(calls: list[tuple[int, bool]], limit: int) -> None:
    ledger = Ledger(WORKERS, "drop", limit, 1)
    found = []
    for k, reads in calls:
        assert ledger.may_read(k), "no worker ever waits"
        if reads:
            begin(ledger, k)
        else:
            found.append(hand_in(ledger, k))
    assert found == list(drop_model(calls, limit))
    assert (ledger.step, ledger.dropped) == (sum(found), len(found) - sum(found))
    assert [r.accepted for r in ledger.rounds] == [r.moved for r in ledger.rounds] == found
    assert all(r.checked - r.recorded <= limit for r in ledger.rounds if r.accepted)


def wait_model(calls: list[int], limit: int) -> Iterator[bool]:
    """A worker more than `limit` gradients ahead of the slowest waits."""
    handed_in = [0] * WORKERS
    for k in calls:
        may = handed_in[k] - min(handed_in) <= limit
        handed_in[k] += may
        yield may


@given(callers, st.integers(0, 3))
def test_wait(calls: list[int], limit: int) -> None:
    ledger = Ledger(WORKERS, "wait", limit, 1)
    found = []
    for k in calls:
        found.append(ledger.may_read(k))
        if found[-1]:
            begin(ledger, k)
            assert hand_in(ledger, k)
        assert max(ledger.clock) - min(ledger.clock) <= limit + 1
    assert found == list(wait_model(calls, limit))
    assert (ledger.step, ledger.dropped) == (sum(found), 0)


def backup_model(calls: list[int], aggregate: int) -> Iterator[str]:
    """The first `aggregate` gradients of a step make the next; a worker that has read a step waits
    for the next.
    """
    step, present, seen, busy = 0, 0, [-1] * WORKERS, [False] * WORKERS
    for k in calls:
        if busy[k]:
            fresh, busy[k] = seen[k] == step, False
            present += fresh
            if present == aggregate:
                step, present = step + 1, 0
            yield "taken" if fresh else "dropped"
        elif seen[k] < step:
            seen[k], busy[k] = step, True
            yield "reads"
        else:
            yield "waits"


@given(callers, st.integers(1, WORKERS))
def test_backup(calls: list[int], aggregate: int) -> None:
    ledger = Ledger(WORKERS, "backup", 99, aggregate)
    found, busy = [], set()
    for k in calls:
        if k in busy:
            busy.remove(k)
            found.append("taken" if hand_in(ledger, k) else "dropped")
        elif ledger.may_read(k):
            begin(ledger, k)
            busy.add(k)
            found.append("reads")
        else:
            found.append("waits")
    assert found == list(backup_model(calls, aggregate))
    assert (
        found.count("taken") == aggregate * ledger.step + ledger.gathered
        and ledger.gathered < aggregate
    )
    applied = [r.applied_to for r in ledger.rounds if r.accepted]
    assert all(applied.count(step) == aggregate for step in range(ledger.step)), (
        "each mean is of `aggregate` gradients"
    )


@pytest.mark.parametrize("policy", ["apply", "damp", "compensate"])
@given(calls=st.lists(st.tuples(who, st.booleans()), max_size=30))
def test_the_others_accept_all(policy: str, calls: list[tuple[int, bool]]) -> None:
    ledger = Ledger(WORKERS, policy, 0, 3)
    for k, reads in calls:
        assert ledger.may_read(k)
        if reads:
            begin(ledger, k)
        else:
            assert hand_in(ledger, k)
    assert ledger.step == len(ledger.rounds) and ledger.dropped == 0


def test_two_may_pass_before_either_updates() -> None:
    ledger = Ledger(2, "drop", 0, 1)
    begin(ledger, 0)
    begin(ledger, 1)
    assert ledger.check(0) and ledger.check(1)
    assert ledger.update(0) and ledger.update(1)
    assert [(r.checked, r.applied_to) for r in ledger.rounds] == [(0, 0), (0, 1)]


def test_a_step_noted_late_hides_an_update() -> None:
    ledger = Ledger(2, "drop", 0, 1)
    ledger.read(1)
    begin(ledger, 0)
    hand_in(ledger, 0)
    ledger.record(1)
    assert hand_in(ledger, 1)
    assert (ledger.rounds[1].read, ledger.rounds[1].recorded) == (0, 1)


def test_workers_do_not_wait_for_a_dead_one_which_catches_up_when_it_returns() -> None:
    ledger = Ledger(2, "wait", 0, 1)
    begin(ledger, 0)
    hand_in(ledger, 0)
    assert not ledger.may_read(0)
    ledger.leave(1)
    for _ in range(5):
        assert ledger.may_read(0)
        begin(ledger, 0)
        hand_in(ledger, 0)
    ledger.join(1)
    assert ledger.clock == [6, 6] and ledger.may_read(0) and ledger.may_read(1)


def test_with_backups_a_worker_that_returns_may_read_its_last_step_again() -> None:
    ledger = Ledger(2, "backup", 0, 2)
    begin(ledger, 0)
    assert not ledger.may_read(0)
    ledger.leave(0)
    ledger.join(0)
    assert ledger.may_read(0)


def test_a_copy_changes_independently() -> None:
    ledger = Ledger(2, "drop", 0, 1)
    begin(ledger, 0)
    other = ledger.copy()
    hand_in(ledger, 0)
    ledger.leave(1)
    assert (other.step, other.rounds, other.clock, other.alive) == (0, [], [0, 0], {0, 1})


def test_a_deadlock_names_the_waiting_workers() -> None:
    ledger = Ledger(3, "backup", 0, 3)
    for k in (0, 1):
        begin(ledger, k)
        hand_in(ledger, k)
    ledger.leave(2)
    with pytest.raises(
        DeadlockError, match=r"waiting are 0, 1, alive are \[0, 1\]; 2 of 3 gradients of step 0 are"
    ):
        raise ledger.deadlock_error([1, 0])
