"""Adagrad's places of epsilon and orders of arithmetic, step by step in float32."""

import numpy as np
import pytest

from gradlab import IndexedSlices
from gradlab.rules import dense_and_sparse
from gradlab.rules.adagrad import LIBRARIES, Adagrad

F = np.float32
W, G, LR = F([1.0, -2.0, 3.0]), F([0.3, -0.7, 1.1]), F(0.1)
UPDATES = {
    "TensorFlow 1": lambda acc: (G * LR) * (F(1) / np.sqrt(acc)),
    "Keras legacy": lambda acc: (G * LR) / (np.sqrt(acc) + F(1e-7)),
    "Keras 3": lambda acc: (G * LR) / np.sqrt(acc + F(1e-7)),
    "optax": lambda acc: (G * (F(1) / np.sqrt(acc + F(1e-7)))) * LR,
    "PyTorch": lambda acc: (G * LR) / (np.sqrt(acc) + F(1e-10)),
}


@pytest.mark.parametrize("library", LIBRARIES)
def test_two_steps_bit_for_bit(library: str) -> None:
    rule, w = LIBRARIES[library], W
    acc = np.full(3, rule.initial_accumulator_value, F)
    state = W, rule.init(W)
    for _ in range(2):
        acc = acc + G * G
        w = w - UPDATES[library](acc)
        state = rule(*state, G, LR)
        np.testing.assert_array_equal(state[0], w)
        np.testing.assert_array_equal(state[1][0], acc)


def test_only_optax_survives_an_accumulator_of_zero_without_epsilon() -> None:
    zero = np.zeros(2, F)
    for library, finite in (("Keras 3", False), ("optax", True)):
        rule = Adagrad(0.0, 0.0, LIBRARIES[library].epsilon_place, LIBRARIES[library].order)
        assert np.isfinite(rule(zero, rule.init(zero), zero, LR)[0]).all() == finite


@pytest.mark.parametrize(("field", "word"), [("epsilon_place", "above"), ("order", "sideways")])
def test_an_unknown_word_is_refused(field: str, word: str) -> None:
    with pytest.raises(ValueError, match=f"{field} must be one of .*; got '{word}'"):
        Adagrad(**{field: word})


def test_an_accumulator_that_is_not_updated_stays_the_divisor() -> None:
    rule, w = (
        Adagrad(initial_accumulator_value=4.0, epsilon_place="none", update_slots=False),
        np.array([[1.0], [1.0]]),
    )
    slots = rule.init(w)
    for _ in range(2):
        w, slots = dense_and_sparse.dense(rule, w, slots, np.array([[2.0], [0.0]]), 0.5)
    assert (w.tolist(), slots[0].tolist()) == ([[0.0], [1.0]], [[4.0], [4.0]])
    w, slots = dense_and_sparse.rows(
        rule, w, slots, IndexedSlices(np.array([[2.0]]), np.array([1]), (2, 1)), 0.5
    )
    assert (w.tolist(), slots[0].tolist()) == ([[0.0], [0.5]], [[4.0], [4.0]])
