"""Schedule-free Adam: the mean of iterates, and the warmup."""

import numpy as np

from gradlab.rules import ScheduleFreeAdam


def test_the_mean_is_that_of_all_iterates() -> None:
    rule = ScheduleFreeAdam(beta1=0.75)
    w = np.array([1.0, -2.0])
    slots = rule.init(w)
    shared = rule.start()
    iterates = []

    for g in np.array([[4.0, 0.5], [-1.0, 2.0], [0.0, 1.0]]):
        w, slots = rule.at(shared)(w, slots, g, 0.1)
        shared = rule.advance(shared)
        iterates.append(slots[0])

    mean = np.mean(iterates, axis=0)
    np.testing.assert_allclose(w, 0.25 * iterates[-1] + 0.75 * mean, rtol=1e-12)


def test_warmup_makes_first_steps_short() -> None:
    w = np.array([1.0])
    long, short = (
        rule.at(rule.start())(w, rule.init(w), np.array([4.0]), 0.5)[0]
        for rule in (ScheduleFreeAdam(), ScheduleFreeAdam(warmup_steps=4.0))
    )

    np.testing.assert_allclose(w - short, (w - long) / 4)
