"""Ctrl-C at every instant of every call, and again at every instant of what follows: nothing is lost or doubled."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gradlab as gl
from tests.train.accumulators.interrupts import Accounts, interrupted, take

SPARSE = pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])


def tried(sparse: bool, how: str, instants: list[int]) -> tuple[str, bool]:
    """Two gradients, a take that is interrupted, two more gradients and a take; what is lost."""
    accounts = Accounts(sparse, 8)
    accounts.apply()
    accounts.apply()
    call = accounts.apply if how == "apply" else take(accounts, 2, how)
    got, all_came = interrupted(call, instants)
    if got is not None:
        accounts.count(got)
    accounts.apply()
    accounts.apply()
    accounts.count(accounts.acc.take_grad(2, timeout=5))
    return accounts.lost(), all_came


@SPARSE
@pytest.mark.parametrize("how", ["take", "try", "apply"])
def test_ctrl_c_at_any_instant(sparse: bool, how: str) -> None:
    came = True
    for instant in range(1000):
        lost, came = tried(sparse, how, [instant])
        assert not lost, f"at instant {instant}: {lost}"
        if not came:
            assert instant > 10
            return
    raise AssertionError("it never ends")


@SPARSE
@given(how=st.sampled_from(["take", "try", "apply"]), instants=st.lists(st.integers(0, 40), min_size=2, max_size=4))
def test_ctrl_c_again_and_again(sparse: bool, how: str, instants: list[int]) -> None:
    lost, _ = tried(sparse, how, instants)
    assert not lost


@SPARSE
def test_an_interrupted_apply_serves_who_waits_or_leaves_it_for_the_next_call(sparse: bool) -> None:
    for instant in range(1000):
        accounts = Accounts(sparse, 4)
        accounts.apply()
        taker = accounts.acc.request(2)
        _, came = interrupted(accounts.apply, [instant])
        if accounts.acc.num_accumulated() == 1:  # it was not counted
            accounts.apply()
        accounts.count(taker.result(timeout=0))
        assert not accounts.lost(), instant
        assert accounts.acc.why_waiting() == []
        if not came:
            return


def test_what_was_taken_for_nobody_goes_back_as_it_was() -> None:
    """The mean, the count and the step are those of a take that never was."""
    returned = 0
    for instant in range(200):
        acc = gl.ConditionalAccumulator("float32")
        for x in (0.1, 0.2, 0.4):
            acc.apply_grad(np.float32([x]))
        before = acc.peek()
        taken, came = interrupted(lambda acc=acc: acc.take_grad(3, timeout=5), [instant])
        if taken is None:
            returned += 1
            after = acc.peek()
            assert (after.step, after.count) == (before.step, before.count) == (0, 3)
            assert after.sum.tobytes() == before.sum.tobytes()
            assert acc.take_grad(3).tobytes() == before.value.tobytes()
        if not came:
            break
    assert returned > 20


@SPARSE
def test_gradients_that_go_back_come_before_those_that_came_since(sparse: bool) -> None:
    accounts = Accounts(sparse, 4)
    acc = accounts.acc
    accounts.apply()
    kernel = acc.accumulator_ref
    taker = kernel._taker(1)
    taker.claimed = False
    kernel._machine.request(taker)
    assert (taker.done, acc.global_step, acc.num_accumulated()) == (True, 1, 0)
    accounts.apply()
    taker.left = True
    assert (acc.num_accumulated(), acc.global_step) == (2, 0)
    assert accounts.dense(acc.take_grad(2)).tolist() == [1, 1, 0, 0]


def test_gradients_that_do_not_fit_those_that_came_since_wait_for_their_turn() -> None:
    acc = gl.ConditionalAccumulator("float32")
    acc.apply_grad([1.0, 2.0])
    kernel = acc.accumulator_ref
    taker = kernel._taker(1)
    taker.claimed = False
    kernel._machine.request(taker)
    acc.apply_grad([5.0], 1)
    taker.left = True
    assert acc.take_grad(1).tolist() == [5]
    assert acc.take_grad(1).tolist() == [1, 2]
