"""Which accumulator divides, which quantity is limited, and that 0 limits nothing."""

import numpy as np
import pytest

from gradlab.rules import Adagrad, BoundedAdagrad
from tests.rules.recorded import F, steps

W, A, G = np.zeros(3), (np.full(3, 9.0),), np.array([4.0, -12.0, 0.5])


def test_without_limits_it_is_adagrad() -> None:
    rule, adagrad = BoundedAdagrad(update_accumulator_first=True), Adagrad(epsilon=0.0)
    for got, expected in zip(steps(rule, F(0.1)), steps(adagrad, F(0.1)), strict=True):
        np.testing.assert_allclose(got, expected, rtol=3e-7)


@pytest.mark.parametrize(("first", "w"), [(True, -2.0), (False, -10 / 3)])
def test_the_flag_chooses_the_old_or_the_new_accumulator(first: bool, w: float) -> None:
    new, (a,) = BoundedAdagrad(first)(np.zeros(1), (np.array([9.0]),), np.array([4.0]), 2.5)
    assert (new.tolist(), a.tolist()) == ([pytest.approx(w)], [25.0])


@pytest.mark.parametrize(
    ("bounded", "w", "a"),
    [
        ("update", [-1.0, 1.0, -1 / 3], [25.0, 153.0, 9.25]),
        ("scaled_gradient", [-2.0, 2.0, -1 / 3], [25.0, 153.0, 9.25]),
        ("gradient", [-2 / 3, 2 / 3, -1 / 3], [10.0, 10.0, 9.25]),
    ],
)
def test_the_choice_of_what_is_limited(bounded: str, w: list[float], a: list[float]) -> None:
    new, slots = BoundedAdagrad(max_var_update=1.0, bounded=bounded)(W, A, G, 2.0)
    np.testing.assert_allclose(new, w)
    assert slots[0].tolist() == a


def test_the_accumulator_stops_growing_and_the_rate_stops_falling() -> None:
    after = steps(BoundedAdagrad(True, max_accumulator=4.0), 1.0, np.zeros(1), np.full((4, 1), 2.0))
    assert [a.item() for _, a in after] == [4.0] * 4
    assert [w.item() for w, _ in after] == [-1.0, -2.0, -3.0, -4.0]


def test_an_unknown_quantity_is_refused() -> None:
    with pytest.raises(ValueError, match=r"bounded must be one of .*; got 'weight'"):
        BoundedAdagrad(bounded="weight")
