"""Dense accumulators: what is kept, the arithmetic, whose arrays they are."""

import numpy as np
import pytest

import gradlab as gl


def test_five_gradients_make_the_mean_of_five_although_two_were_asked_for() -> None:
    acc = gl.ConditionalAccumulator("float32", shape=(1,))
    for k in range(5):
        assert acc.apply_grad([float(k)]).count == k + 1
    assert acc.take_grad(2).tolist() == [2.0]
    assert (acc.num_accumulated(), acc.global_step) == (0, 1)


@pytest.mark.parametrize(
    ("step", "kept", "comparison"), [(1, False, "1 < 2"), (2, True, "2 >= 2"), (9, True, "9 >= 2")]
)
def test_a_gradient_is_kept_iff_its_step_is_not_below(step: int, kept: bool, comparison: str) -> None:
    acc = gl.ConditionalAccumulator("float32", shape=(1,))
    acc.set_global_step(2)
    receipt = acc.apply_grad([1.0], local_step=step)
    assert (receipt.kept, bool(receipt), receipt.comparison, receipt.count) == (kept, kept, comparison, int(kept))
    assert acc.global_step == 2


def test_the_callers_array_may_change_afterwards_and_what_was_taken_does_not() -> None:
    acc = gl.ConditionalAccumulator("float32", reduction_type="SUM")
    g = np.ones(3, np.float32)
    acc.apply_grad(g)
    g[:] = 7
    taken = acc.take_grad(1)
    acc.apply_grad(g, 1)
    acc.apply_grad(g, 1)
    assert taken.tolist() == [1, 1, 1]
    assert acc.take_grad(2).tolist() == [14, 14, 14]
    assert g.tolist() == [7, 7, 7]
